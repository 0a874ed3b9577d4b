/**
 * Which addresses' packets must wake us, per link (DESIGN D10). The shell makes a filter anew as a whole, so what comes is told at
 * once, before its first frame, and what goes is told a little later, together: until then its packets are dropped here instead.
 */
import type { Ip } from "../net/ip.ts";
import type { AnnouncerEffect } from "./ports.ts";

/** At most one filter is made per link and so long because of addresses that go. */
export const PRUNE_DELAY_MS = 50;

interface LinkFilter {
  /** What the shell knows, or is to be told at once. */
  readonly told: Set<Ip>;
  /** Among them, and the shell does not know. */
  come: Ip[];
  /** Among them, not wanted any more, but the shell does not know. */
  readonly gone: Set<Ip>;
  /** When the shell is to be told; undefined while it knows everything. */
  dueMs: number | undefined;
}

export class Filters {
  /** A link that is not listed has no addresses. */
  readonly #links = new Map<number, LinkFilter>();

  /** The address is heard on the links `now` instead of `before`. */
  move(ip: Ip, before: readonly number[], now: readonly number[], nowMs: number): void {
    for (const linkIndex of now) if (!before.includes(linkIndex)) this.#add(linkIndex, ip, nowMs);
    for (const linkIndex of before) if (!now.includes(linkIndex)) this.#remove(linkIndex, ip, nowMs);
  }

  /** The sets of the links whose time has come. A link that is gone has taken its filter with it. */
  due(isKnownLink: (linkIndex: number) => boolean, nowMs: number): AnnouncerEffect[] {
    const effects: AnnouncerEffect[] = [];
    for (const [linkIndex, link] of this.#links) {
      if (link.dueMs === undefined || link.dueMs > nowMs) continue;
      link.dueMs = undefined;
      for (const ip of link.gone) link.told.delete(ip);
      link.gone.clear();
      const { told } = link;
      if (told.size === 0) this.#links.delete(linkIndex);
      if (!isKnownLink(linkIndex)) continue;
      effects.push({ kind: "filter", linkIndex, addresses: told, come: link.come.filter((ip) => told.has(ip)) });
      link.come = [];
    }
    return effects;
  }

  nextDeadlineMs(): number | undefined {
    let nextMs: number | undefined;
    for (const { dueMs } of this.#links.values()) {
      if (dueMs !== undefined && (nextMs === undefined || dueMs < nextMs)) nextMs = dueMs;
    }
    return nextMs;
  }

  #add(linkIndex: number, ip: Ip, nowMs: number): void {
    let link = this.#links.get(linkIndex);
    if (link === undefined) {
      link = { told: new Set(), come: [], gone: new Set(), dueMs: undefined };
      this.#links.set(linkIndex, link);
    }
    // One that comes back is in the shell's filter still.
    if (link.gone.delete(ip)) {
      if (link.gone.size === 0 && link.dueMs !== nowMs) link.dueMs = undefined;
      return;
    }
    link.told.add(ip);
    link.come.push(ip);
    link.dueMs = nowMs;
  }

  #remove(linkIndex: number, ip: Ip, nowMs: number): void {
    const link = this.#links.get(linkIndex);
    if (link?.told.has(ip) !== true || link.gone.has(ip)) return;
    link.gone.add(ip);
    link.dueMs ??= nowMs + PRUNE_DELAY_MS;
  }
}
