/** Invariant 21: what is sent without being asked for stays within its budgets, however much happens at once. */

import type { Endpoint } from "../../src/gossip/message.ts";
import type { Ip } from "../../src/net/ip.ts";
import { isUnsolicited, type NeighbourFrame } from "./frames.ts";
import type { Machine } from "./machine.ts";
import type { NetworkCard } from "./network-card.ts";
import type { Findings, Witness } from "./witness.ts";

/** A link's bucket (DESIGN D11): 500 frames a second, 100 at once. */
const WINDOW_MS = 100;
const FRAMES_PER_WINDOW = 100 + 50;
/** A series of bursts of one address: five, of at most two frames, 1.1 s apart; begun anew it may follow at once, a few times. */
const ADDRESS_WINDOW_MS = 1_000;
const FRAMES_PER_ADDRESS = 12;
/** Three watchers ping ten times a second (D7); beside them memberlist's probes, one a second, now and then two. */
const PING_WINDOW_MS = 1_000;
const WATCHERS = 3;
const PINGS_PER_WATCHER = 12;
const PING_TYPE = 0;

export interface RateRules {
  readonly machines: readonly Machine[];
  /** Whoever does not answer is pinged through others, too; whoever is new by everybody. */
  readonly isSettled: () => boolean;
}

interface Pings {
  readonly sinceMs: number;
  /** When the window began: in one in which the cluster settles, watchers change. */
  readonly wasSettled: boolean;
  readonly bySender: Map<string, number>;
}

export class RateChecker implements Witness {
  readonly #rules: RateRules;
  readonly #findings: Findings;
  readonly #frames = new Map<string, number[]>();
  /** By target: when the window began, and pings in it by sender. */
  readonly #pings = new Map<Ip, Pings>();

  constructor(rules: RateRules, findings: Findings) {
    this.#rules = rules;
    this.#findings = findings;
  }

  sent(atMs: number, machine: Machine, card: NetworkCard, frame: NeighbourFrame): void {
    if (!isUnsolicited(frame)) return;
    const ofLink = this.#add(card.name, atMs, WINDOW_MS);
    const ofAddress = this.#add(`${card.name} ${frame.senderIp} ${frame.targetIp}`, atMs, ADDRESS_WINDOW_MS);
    this.#findings.count("21 unsolicited frame");
    if (ofLink > FRAMES_PER_WINDOW) {
      this.#findings.violated(21, atMs, `${machine.name} sends ${ofLink} frames unasked on ${card.name} within 100 ms`);
    }
    if (ofAddress > FRAMES_PER_ADDRESS) {
      this.#findings.violated(21, atMs, `${machine.name} sends ${ofAddress} frames for ${frame.targetIp} in a second`);
    }
  }

  datagram(atMs: number, from: string, to: Endpoint, bytes: Uint8Array): void {
    if (bytes[0] !== PING_TYPE) return;
    const known = this.#pings.get(to.ip);
    if (known === undefined || atMs - known.sinceMs >= PING_WINDOW_MS) {
      const isSettled = this.#rules.isSettled();
      if (known?.wasSettled === true && isSettled) this.#judgePings(atMs, to.ip, known.bySender);
      this.#pings.set(to.ip, { sinceMs: atMs, wasSettled: isSettled, bySender: new Map([[from, 1]]) });
    } else known.bySender.set(from, (known.bySender.get(from) ?? 0) + 1);
  }

  #judgePings(atMs: number, ip: Ip, bySender: ReadonlyMap<string, number>): void {
    const watchers = [...bySender].filter(([, pings]) => pings > 2);
    if (watchers.length > 0) this.#findings.count("21 watched leader");
    const hasty = watchers.filter(([, pings]) => pings > PINGS_PER_WATCHER);
    if (watchers.length <= WATCHERS && hasty.length === 0) return;
    const text = watchers.map(([name, pings]) => `${name} ${pings} times`).join(", ");
    this.#findings.violated(21, atMs, `${ip} is pinged within a second by ${text}`);
  }

  #add(key: string, atMs: number, windowMs: number): number {
    const kept = (this.#frames.get(key) ?? []).filter((sentMs) => sentMs > atMs - windowMs);
    kept.push(atMs);
    this.#frames.set(key, kept);
    return kept.length;
  }
}
