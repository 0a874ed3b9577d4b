/** Invariant 18: what happens on the wire is the same whether the API server is there or not, until an object changes. */
import { expect } from "chai";
import type { Speaker } from "../../speaker/speaker.ts";
import type { SpeakerPorts } from "../../speaker/speaker-ports.ts";
import { speakerTenant, type Variant } from "./speaker-tenant.ts";
import { World } from "./world.ts";
import { planOf } from "./world-plan.ts";

const SETTLED_MS = 20_000;
const NEWS_INTERVAL_MS = 3_000;

/**
 * A node dies and comes back, and another one stands still for a moment. With an API server each node is told again and again of a
 * namespace that concerns no address; without it nobody is told anything, but for the process that starts and reads its cache.
 */
function framesOf(hasApi: boolean, variant?: Variant): readonly string[] {
  const world = new World(planOf({ nodes: 4, services: 6, closeLookMs: 50 }), speakerTenant(variant));
  const frames: string[] = [];
  world.witnesses.push({
    sent: (atMs, machine, card, frame) => {
      frames.push(`${atMs.toFixed(3)} ${machine.name} ${card.name} ${JSON.stringify(frame)}`);
    },
  });
  for (const machine of world.machines) world.start(machine);
  const tell = (round: number): void => {
    if (!hasApi) return;
    const namespaces = new Map([["elsewhere", { name: "elsewhere", labels: { round: String(round) } }]]);
    for (const machine of world.machines) machine.applySnapshot({ ...world.snapshot, namespaces });
    world.at(world.clock.nowMs() + NEWS_INTERVAL_MS, () => tell(round + 1));
  };
  world.at(SETTLED_MS, () => tell(1));
  const [first, second] = world.machines;
  world.at(30_000, () => first?.kill());
  world.at(40_000, () => first !== undefined && world.start(first));
  world.at(62_000, () => second?.stand({ durationMs: 2_000, keepsQueues: true, isGapVisible: true }));
  world.run(90_000);
  return frames;
}

/** As a speaker would do that holds its leadership by a lease of the API server. */
function lapses(speaker: Speaker, { clock }: SpeakerPorts): void {
  let toldMs = clock.nowMs();
  const applySnapshot = speaker.applySnapshot.bind(speaker);
  speaker.applySnapshot = (...given) => {
    toldMs = clock.nowMs();
    speaker.setStepDown(false);
    applySnapshot(...given);
  };
  const look = (): void => {
    if (clock.nowMs() - toldMs > 15_000) speaker.setStepDown(speaker.gossip?.self.name === "n1");
    clock.schedule(1_000, look);
  };
  clock.schedule(1_000, look);
}

describe("simulation: API independence (invariant 18)", () => {
  it("the same frames leave at the same times with the API server away, through a crash, a return and a standstill", () => {
    const frames = framesOf(false);
    expect(frames.length).to.be.greaterThan(100);
    expect(framesOf(true)).to.deep.equal(frames);
  }).timeout(120_000);

  it("catches a speaker that leaves its addresses to others when the API server has said nothing for a while", () => {
    expect(framesOf(true, { speaker: lapses })).to.not.deep.equal(framesOf(false, { speaker: lapses }));
  }).timeout(120_000);
});
