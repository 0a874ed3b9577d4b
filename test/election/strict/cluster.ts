/** Several nodes' leases on one clock, with a network that loses, delays and cuts. */
import { SeededRandom } from "../../../src/base/random.ts";
import type { LeaseMessage } from "../../../src/election/strict/lease-messages.ts";
import { StrictLeases } from "../../../src/election/strict/strict-leases.ts";
import { type Ip, parseIp } from "../../../src/net/ip.ts";

export const ADDRESS = parseIp("192.0.2.1") as Ip;

interface Letter {
  readonly atMs: number;
  readonly order: number;
  readonly from: string;
  readonly to: string;
  readonly message: LeaseMessage;
}

export class LeaseCluster {
  readonly nodes = new Map<string, StrictLeases>();
  readonly random: SeededRandom;
  /** `a>b`: what a sends does not reach b. */
  readonly cuts = new Set<string>();
  /** Of every message. */
  delayMs: (from: string, to: string) => number = () => 1;
  /** How much faster than the world's a node's clock runs. */
  readonly ratesPpm = new Map<string, number>();
  nowMs = 0;
  #letters: Letter[] = [];
  #order = 0;

  constructor(names: readonly string[], seed = 1) {
    this.random = new SeededRandom(seed);
    for (const name of names) this.start(name, names);
  }

  /** Anew, and with nothing remembered. */
  start(name: string, expected: readonly string[]): void {
    const nowMs = this.clockOf(name);
    const leases = new StrictLeases({ self: name, random: this.random, nowMs });
    this.nodes.set(name, leases);
    leases.expect(expected, name, nowMs);
  }

  stop(name: string): void {
    this.nodes.delete(name);
  }

  clockOf(name: string): number {
    return 1_000 + this.nowMs * (1 + (this.ratesPpm.get(name) ?? 0) / 1e6);
  }

  node(name: string): StrictLeases {
    const found = this.nodes.get(name);
    if (found === undefined) throw new Error(`no node ${name}`);
    return found;
  }

  expect(name: string, expected: readonly string[]): void {
    this.node(name).expect(expected, name, this.clockOf(name));
  }

  want(name: string, ip = ADDRESS): void {
    this.node(name).want(ip, this.clockOf(name));
  }

  release(name: string, ip = ADDRESS): void {
    this.node(name).release(ip, this.clockOf(name));
  }

  holders(ip = ADDRESS): readonly string[] {
    return [...this.nodes].flatMap(([name, leases]) => (this.clockOf(name) < leases.untilMs(ip) ? [name] : []));
  }

  /** `each`: called every millisecond. */
  run(durationMs: number, each: () => void = () => {}): void {
    for (const endMs = this.nowMs + durationMs; this.nowMs < endMs; this.nowMs++) {
      this.#deliver();
      for (const [name, leases] of this.nodes) leases.tick(this.clockOf(name));
      for (const name of this.nodes.keys()) this.#post(name);
      each();
    }
  }

  #deliver(): void {
    const due = this.#letters.filter(({ atMs }) => atMs <= this.nowMs);
    this.#letters = this.#letters.filter(({ atMs }) => atMs > this.nowMs);
    for (const { from, to, message } of due.toSorted((a, b) => a.atMs - b.atMs || a.order - b.order)) {
      this.nodes.get(to)?.hear(message, from, this.clockOf(to));
      this.#post(to);
    }
  }

  #post(from: string): void {
    for (const outgoing of this.nodes.get(from)?.takeOutgoing() ?? []) {
      const to = "node" in outgoing ? outgoing.node : outgoing.voter;
      const delayMs = this.delayMs(from, to);
      if (this.cuts.has(`${from}>${to}`) || delayMs === Number.POSITIVE_INFINITY) continue;
      this.#letters.push({ atMs: this.nowMs + delayMs, order: this.#order++, from, to, message: outgoing.message });
    }
  }
}
