/** Part of invariant 10: without a change of inputs, and without a new fault of who took over, nothing goes back within 10 s. */
import type { Ip } from "../../src/net/ip.ts";
import type { Machine } from "./machine.ts";
import type { Answerer, Findings, Witness } from "./witness.ts";

const RETURN_MS = 10_000;

interface Stay {
  readonly node: string;
  readonly fromMs: number;
}

export class MoveChecker implements Witness {
  readonly #findings: Findings;
  readonly #lastInputMs: () => number;
  /** Address → who answered alone, and who before. */
  readonly #stays = new Map<Ip, readonly Stay[]>();
  /** Node → when it was last struck. */
  readonly #struckMs = new Map<string, number>();

  /** `lastInputMs`: when some node was told of other objects last. */
  constructor(lastInputMs: () => number, findings: Findings) {
    this.#lastInputMs = lastInputMs;
    this.#findings = findings;
  }

  lifecycle(atMs: number, machine: Machine, what: string): void {
    if (what !== "started") this.#struckMs.set(machine.name, atMs);
  }

  answered(atMs: number, ip: Ip, answerers: readonly Answerer[]): void {
    const [node, ...others] = new Set(answerers.map((answerer) => answerer.node));
    if (node === undefined || others.length > 0) return;
    const [last, before] = this.#stays.get(ip) ?? [];
    if (last?.node === node) return;
    this.#stays.set(ip, [{ node, fromMs: atMs }, ...(last === undefined ? [] : [last])]);
    if (last === undefined) return;
    this.#findings.count("10 moved");
    if (before?.node !== node || atMs - last.fromMs >= RETURN_MS) return;
    const isForced = this.#lastInputMs() >= last.fromMs || (this.#struckMs.get(last.node) ?? -1) >= last.fromMs;
    if (isForced) return;
    this.#findings.violated(
      10,
      atMs,
      `${ip} goes from ${node} to ${last.node} and back within ${(atMs - last.fromMs).toFixed(0)} ms`,
    );
  }
}
