/**
 * Solicited-node groups per link (DESIGN D10): joined while an address that maps to them is answered on the link, left a second
 * after the last one stopped, so that a switch that snoops does not cut the old leader off while the new one takes over.
 */
import type { Ip } from "../net/ip.ts";
import type { AnnouncerEffect } from "./ports.ts";

/** DESIGN D8. */
export const LEAVE_DELAY_MS = 1_000;

export class Groups {
  /** Link index → joined group → addresses that want it. */
  readonly #joined = new Map<number, Map<Ip, Set<Ip>>>();
  /** Link index → joined groups that nobody wants any more, with the time to leave: in order, because all wait equally long. */
  readonly #leaving = new Map<number, Map<Ip, number>>();

  /** The address, which maps to `group`, is answered on the links `now` instead of `before`. */
  move(ip: Ip, group: Ip, before: readonly number[], now: readonly number[], nowMs: number): AnnouncerEffect[] {
    const effects: AnnouncerEffect[] = [];
    for (const linkIndex of now) {
      if (before.includes(linkIndex)) continue;
      const joined = entryOf(this.#joined, linkIndex, () => new Map<Ip, Set<Ip>>());
      if (!joined.has(group)) effects.push({ kind: "join-group", linkIndex, group });
      entryOf(joined, group, () => new Set<Ip>()).add(ip);
      this.#leaving.get(linkIndex)?.delete(group);
    }
    for (const linkIndex of before) {
      if (now.includes(linkIndex)) continue;
      const holders = this.#joined.get(linkIndex)?.get(group);
      if (holders?.delete(ip) !== true || holders.size > 0) continue;
      entryOf(this.#leaving, linkIndex, () => new Map<Ip, number>()).set(group, nowMs + LEAVE_DELAY_MS);
    }
    return effects;
  }

  /** Leaves whose time has come, and at once those of links that are gone: a link takes its memberships with it. */
  leave(isKnownLink: (linkIndex: number) => boolean, nowMs: number): AnnouncerEffect[] {
    const effects: AnnouncerEffect[] = [];
    for (const [linkIndex, leaving] of this.#leaving) {
      const isKnown = isKnownLink(linkIndex);
      const joined = this.#joined.get(linkIndex);
      for (const [group, leaveAtMs] of leaving) {
        if (isKnown && leaveAtMs > nowMs) break;
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
    let nextMs: number | undefined;
    for (const leaving of this.#leaving.values()) {
      for (const leaveAtMs of leaving.values()) {
        if (nextMs === undefined || leaveAtMs < nextMs) nextMs = leaveAtMs;
        break;
      }
    }
    return nextMs;
  }
}

function entryOf<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
