/**
 * Solicited-node groups per link (DESIGN D10): joined while an address that maps to them is answered on the link, left a second
 * after the last one stopped, so that a switch that snoops does not cut the old leader off while the new one takes over.
 */
import type { Ip } from "../net/ip.ts";
import type { AnnouncerEffect } from "./ports.ts";

/** DESIGN D8. */
export const LEAVE_DELAY_MS = 1_000;

/** Link index → groups. */
export type GroupsByLink = ReadonlyMap<number, ReadonlySet<Ip>>;

export class Groups {
  readonly #joined = new Map<number, Set<Ip>>();
  /** Those of the joined that nobody wants any more, with the time to leave. */
  readonly #leaving = new Map<number, Map<Ip, number>>();

  /** Joins what is missing and marks what is wanted no longer. A link that is gone has taken its memberships with it. */
  want(wanted: GroupsByLink, isKnownLink: (linkIndex: number) => boolean, nowMs: number): AnnouncerEffect[] {
    const effects: AnnouncerEffect[] = [];
    for (const [linkIndex, groups] of wanted) {
      const joined = entryOf(this.#joined, linkIndex, () => new Set<Ip>());
      for (const group of groups) {
        this.#leaving.get(linkIndex)?.delete(group);
        if (joined.has(group)) continue;
        joined.add(group);
        effects.push({ kind: "join-group", linkIndex, group });
      }
    }
    for (const [linkIndex, joined] of this.#joined) {
      const leaving = entryOf(this.#leaving, linkIndex, () => new Map<Ip, number>());
      const isKnown = isKnownLink(linkIndex);
      for (const group of joined) {
        if (wanted.get(linkIndex)?.has(group) === true) continue;
        if (!isKnown) leaving.set(group, nowMs);
        else if (!leaving.has(group)) leaving.set(group, nowMs + LEAVE_DELAY_MS);
      }
    }
    return effects;
  }

  /** Leaves whose time has come. */
  leave(nowMs: number): AnnouncerEffect[] {
    const effects: AnnouncerEffect[] = [];
    for (const [linkIndex, leaving] of this.#leaving) {
      const joined = this.#joined.get(linkIndex);
      for (const [group, leaveAtMs] of leaving) {
        if (leaveAtMs > nowMs) continue;
        leaving.delete(group);
        joined?.delete(group);
        effects.push({ kind: "leave-group", linkIndex, group });
      }
      if (leaving.size === 0) this.#leaving.delete(linkIndex);
      if (joined?.size === 0) this.#joined.delete(linkIndex);
    }
    return effects;
  }

  nextDeadlineMs(): number | undefined {
    let nextMs = Number.POSITIVE_INFINITY;
    for (const leaving of this.#leaving.values()) {
      for (const leaveAtMs of leaving.values()) nextMs = Math.min(nextMs, leaveAtMs);
    }
    return nextMs === Number.POSITIVE_INFINITY ? undefined : nextMs;
  }
}

function entryOf<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
