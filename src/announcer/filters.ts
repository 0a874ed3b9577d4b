/** Which addresses' packets must wake us, per link (DESIGN D10): told to the shell when a set changes, and only then. */
import type { Ip } from "../net/ip.ts";
import type { AnnouncerEffect } from "./ports.ts";

export class Filters {
  /** Link index → addresses; a link that is not listed has none. */
  #sets = new Map<number, ReadonlySet<Ip>>();

  /** `wanted` holds the whole set of each link whose set may differ. */
  want(wanted: ReadonlyMap<number, ReadonlySet<Ip>>, isKnownLink: (linkIndex: number) => boolean): AnnouncerEffect[] {
    const effects: AnnouncerEffect[] = [];
    for (const [linkIndex, now] of wanted) {
      if (isSameSet(this.#sets.get(linkIndex), now)) continue;
      if (now.size === 0) this.#sets.delete(linkIndex);
      else this.#sets.set(linkIndex, now);
      if (isKnownLink(linkIndex)) effects.push({ kind: "filter", linkIndex, addresses: [...now] });
    }
    return effects;
  }
}

function isSameSet(a: ReadonlySet<Ip> | undefined, b: ReadonlySet<Ip>): boolean {
  if (a === undefined) return b.size === 0;
  if (a.size !== b.size) return false;
  for (const ip of a) if (!b.has(ip)) return false;
  return true;
}
