/** Members that would lead what is led here, and say so (DESIGN D9): what the winner of a contest knows of those who lost it. */
import type { Ip } from "../net/ip.ts";
import type { Claimant } from "./contest.ts";
import { QUESTION_INTERVAL_MS } from "./handover.ts";

/** Whoever lost asks once a second: so many questions may be lost before the contest is taken for over. */
const RIVAL_MS = 3.5 * QUESTION_INTERVAL_MS;

interface Rival {
  readonly claimant: Claimant;
  readonly untilMs: number;
}

export class Rivals {
  readonly #byIp = new Map<Ip, Map<string, Rival>>();

  /** `claimant` asks for the address and says with what it would lead it. */
  hear(ip: Ip, claimant: Claimant, nowMs: number): void {
    const known = this.#byIp.get(ip) ?? new Map<string, Rival>();
    this.#byIp.set(ip, known.set(claimant.node, { claimant, untilMs: nowMs + RIVAL_MS }));
  }

  of(ip: Ip): readonly Claimant[] {
    return [...(this.#byIp.get(ip)?.values() ?? [])].map(({ claimant }) => claimant);
  }

  /** It is not led here any more. */
  forget(ip: Ip): void {
    this.#byIp.delete(ip);
  }

  /** Whoever asks no more has given in, or has gone. */
  expire(nowMs: number): void {
    for (const [ip, rivals] of this.#byIp) {
      for (const [node, { untilMs }] of rivals) if (untilMs <= nowMs) rivals.delete(node);
      if (rivals.size === 0) this.#byIp.delete(ip);
    }
  }

  nextDeadlineMs(): number | undefined {
    let nextMs: number | undefined;
    for (const rivals of this.#byIp.values()) {
      for (const { untilMs } of rivals.values()) if (nextMs === undefined || untilMs < nextMs) nextMs = untilMs;
    }
    return nextMs;
  }
}
