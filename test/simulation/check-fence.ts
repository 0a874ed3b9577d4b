/** Invariant 7: who stood still is mute until somebody has told it that it lives, or 300 ms alone; nothing that waited is answered. */
import type { Endpoint } from "../../src/gossip/message.ts";
import type { NeighbourFrame } from "./frames.ts";
import type { Machine } from "./machine.ts";
import type { NetworkCard } from "./network-card.ts";
import { carriesAck } from "./user-messages.ts";
import type { Findings, Witness } from "./witness.ts";

/** Gaps that a node must notice. */
const GAP_MS = 250;
/** A beat each 100 ms: a gap of the process may be seen as shorter by one, and longer by its own clock's rate. */
const SURE_GAP_MS = GAP_MS + 101;
const ALONE_MS = 299;

interface Gap {
  readonly endMs: number;
  isAnswered: boolean;
}

export class FenceChecker implements Witness {
  readonly #machines: readonly Machine[];
  readonly #findings: Findings;
  readonly #gaps = new Map<string, Gap>();

  constructor(machines: readonly Machine[], findings: Findings) {
    this.#machines = machines;
    this.#findings = findings;
  }

  /** Called when it begins to stand; a gap that its clock does not show is none to it. */
  stood(machine: Machine, atMs: number, durationMs: number, isGapVisible: boolean): void {
    if (durationMs < SURE_GAP_MS || !isGapVisible) return;
    this.#gaps.set(machine.name, { endMs: atMs + durationMs, isAnswered: false });
  }

  lifecycle(_atMs: number, machine: Machine, what: string): void {
    if (what === "started" || what === "killed") this.#gaps.delete(machine.name);
  }

  datagram(atMs: number, _from: string, to: Endpoint, bytes: Uint8Array): void {
    if (this.#gaps.size === 0) return;
    const machine = this.#machines.find(({ ip }) => ip === to.ip);
    const gap = machine === undefined ? undefined : this.#gaps.get(machine.name);
    // What was sent before the end waits in its socket.
    if (gap === undefined || gap.isAnswered || atMs < gap.endMs || !carriesAck(bytes)) return;
    gap.isAnswered = true;
  }

  sent(atMs: number, machine: Machine, card: NetworkCard, frame: NeighbourFrame): void {
    const gap = this.#gaps.get(machine.name);
    if (gap === undefined || atMs < gap.endMs) return;
    this.#findings.count("7 frame after a gap");
    this.#gaps.delete(machine.name);
    if (gap.isAnswered || atMs - gap.endMs >= ALONE_MS) return;
    this.#findings.violated(
      7,
      atMs,
      `${card.name} sends ${frame.form} for ${frame.senderIp} ${(atMs - gap.endMs).toFixed(1)} ms after a gap, and nobody has answered it`,
    );
  }
}
