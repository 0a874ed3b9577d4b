/** F17: the gossip key is exchanged while everything runs, and reaches the nodes one after the other. */
import type { KeyFiles } from "../../src/gossip/key-rotation.ts";
import { type Fault, instant } from "./fault.ts";

/** Of one cluster, the first in use at its start. */
export const WORLD_KEYS: readonly [Uint8Array, ...Uint8Array[]] = [
  new Uint8Array(16).fill(1),
  new Uint8Array(32).fill(2),
  new Uint8Array(24).fill(3),
];
export const FIRST_KEYS: KeyFiles = { current: WORLD_KEYS[0] };
/** Kubelets bring a changed Secret to every node within this. */
const LONGEST_LAG_MS = 60_000;
/** The exchange begins within this. */
const LONGEST_WAIT_MS = 20_000;

export const keyRotationFault: Fault = {
  name: "F17 key rotation",
  inject: (context) => {
    const { world, random, findings } = context;
    const pace = world.plan.keyPace ?? 1;
    const [old] = WORLD_KEYS;
    const current = WORLD_KEYS[1 + random.below(WORLD_KEYS.length - 1)] ?? old;
    // Whoever exchanges a key may or may not keep the one before it in its file.
    const files: KeyFiles = random.below(2) === 0 ? { current, previous: old } : { current };
    const latestMs = Math.min(context.untilMs, context.fromMs + LONGEST_WAIT_MS / pace);
    const beginMs = instant({ ...context, untilMs: latestMs });
    for (const machine of world.machines) {
      world.at(beginMs + (random.float() * LONGEST_LAG_MS) / pace, () => {
        findings.count(
          files.previous === undefined ? "fault key exchanged" : "fault key exchanged, with the one before",
        );
        world.disturb(`${machine.name} reads another key`, "planned");
        machine.changeKeys(files);
      });
    }
  },
};
