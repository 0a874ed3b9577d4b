/** Which addresses' packets must wake us, per link (DESIGN D10): told to the shell when a set changes, and only then. */
import type { Ip } from "../net/ip.ts";
import type { AnnouncerEffect } from "./ports.ts";

export class Filters {
  /** Link index → addresses; a link that is not listed has none. */
  #sets = new Map<number, ReadonlySet<Ip>>();

  want(wanted: ReadonlyMap<number, ReadonlySet<Ip>>, isKnownLink: (linkIndex: number) => boolean): AnnouncerEffect[] {
    const effects: AnnouncerEffect[] = [];
    for (const linkIndex of new Set([...wanted.keys(), ...this.#sets.keys()])) {
      const before = this.#sets.get(linkIndex);
      const now = wanted.get(linkIndex);
      if (isSameSet(before, now)) continue;
      if (now === undefined) this.#sets.delete(linkIndex);
      else this.#sets.set(linkIndex, now);
      if (isKnownLink(linkIndex)) effects.push({ kind: "filter", linkIndex, addresses: [...(now ?? [])] });
    }
    return effects;
  }
}

function isSameSet(a: ReadonlySet<Ip> = new Set(), b: ReadonlySet<Ip> = new Set()): boolean {
  if (a.size !== b.size) return false;
  for (const ip of a) if (!b.has(ip)) return false;
  return true;
}
