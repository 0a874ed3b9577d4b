/**
 * Solicited-node groups per link (DESIGN D10): joined while an address that maps to them is answered on the link, left a second
 * after the last one stopped, so that a switch that snoops does not cut the old leader off while the new one takes over.
 */
import type { Ip } from "../net/ip.ts";
import type { AnnouncerEffect } from "./ports.ts";

/** DESIGN D8. */
export const LEAVE_DELAY_MS = 1_000;

interface Membership {
  readonly linkIndex: number;
  readonly group: Ip;
}

export class Groups {
  /** By link and group, as `keyOf` names them. */
  readonly #joined = new Map<string, Membership>();
  /** Those of the joined that nobody wants any more, with the time to leave. */
  readonly #leaveAtMs = new Map<string, number>();

  /** Joins what is missing and marks what is wanted no longer. A link that is gone has taken its memberships with it. */
  want(wanted: readonly Membership[], isKnownLink: (linkIndex: number) => boolean, nowMs: number): AnnouncerEffect[] {
    const effects: AnnouncerEffect[] = [];
    const keys = new Set<string>();
    for (const membership of wanted) {
      const key = keyOf(membership);
      keys.add(key);
      this.#leaveAtMs.delete(key);
      if (this.#joined.has(key)) continue;
      this.#joined.set(key, membership);
      effects.push({ kind: "join-group", ...membership });
    }
    for (const [key, { linkIndex }] of this.#joined) {
      if (keys.has(key)) continue;
      if (!isKnownLink(linkIndex)) this.#leaveAtMs.set(key, nowMs);
      else if (!this.#leaveAtMs.has(key)) this.#leaveAtMs.set(key, nowMs + LEAVE_DELAY_MS);
    }
    return effects;
  }

  /** Leaves whose time has come. */
  leave(nowMs: number): AnnouncerEffect[] {
    const effects: AnnouncerEffect[] = [];
    for (const [key, leaveAtMs] of this.#leaveAtMs) {
      const membership = this.#joined.get(key);
      if (leaveAtMs > nowMs || membership === undefined) continue;
      this.#leaveAtMs.delete(key);
      this.#joined.delete(key);
      effects.push({ kind: "leave-group", ...membership });
    }
    return effects;
  }

  nextDeadlineMs(): number | undefined {
    let nextMs = Number.POSITIVE_INFINITY;
    for (const leaveAtMs of this.#leaveAtMs.values()) nextMs = Math.min(nextMs, leaveAtMs);
    return nextMs === Number.POSITIVE_INFINITY ? undefined : nextMs;
  }
}

function keyOf({ linkIndex, group }: Membership): string {
  return `${linkIndex} ${group}`;
}
