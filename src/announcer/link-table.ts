/** The node's links as the announcer needs them: what changed, who shares a segment, who may receive. */
import { isSameList } from "../base/same-list.ts";
import { macBytes } from "../net/mac.ts";
import { formatPrefix } from "../net/prefix.ts";
import { type SharedSegment, type Topology, topologyOf } from "./plan.ts";
import type { AnnounceLink } from "./ports.ts";
import type { ReceivingLink } from "./responder.ts";

export class LinkTable {
  #links = new Map<number, AnnounceLink>();
  #heard: readonly SharedSegment[] = [];
  #topology: Topology = { links: [], sharedSegments: [] };
  #receiving = new Map<number, ReceivingLink>();

  topology(): Topology {
    return this.#topology;
  }

  isKnown(linkIndex: number): boolean {
    return this.#links.has(linkIndex);
  }

  find(linkIndex: number): AnnounceLink | undefined {
    return this.#links.get(linkIndex);
  }

  receiving(linkIndex: number): ReceivingLink | undefined {
    return this.#receiving.get(linkIndex);
  }

  /** Takes the complete list; undefined when nothing changed, else the links whose MAC did. */
  update(links: readonly AnnounceLink[]): ReadonlySet<number> | undefined {
    const before = this.#links;
    if (links.length === before.size && links.every((link) => isSameLink(link, before.get(link.index))))
      return undefined;
    this.#links = new Map(links.map((link) => [link.index, link]));
    const isUsable = (index: number): boolean => this.#links.get(index)?.isUsable === true;
    this.#heard = this.#heard.filter((pair) => isUsable(pair.linkIndex) && isUsable(pair.silentLinkIndex));
    this.#derive();
    const changed = links.filter(({ index, mac }) => before.has(index) && before.get(index)?.mac !== mac);
    return new Set(changed.map(({ index }) => index));
  }

  /** One link heard a frame that another had sent; whether that is news. */
  hearSibling(linkIndex: number, siblingIndex: number): boolean {
    const pair = {
      linkIndex: Math.min(linkIndex, siblingIndex),
      silentLinkIndex: Math.max(linkIndex, siblingIndex),
    };
    if (this.#heard.some((known) => isSamePair(known, pair))) return false;
    this.#heard = [...this.#heard, pair];
    this.#derive();
    return true;
  }

  #derive(): void {
    const links = [...this.#links.values()];
    this.#topology = topologyOf(links, this.#heard);
    const usable = links.filter((link) => link.isUsable).map(({ index, mac }) => ({ index, mac: macBytes(mac) }));
    this.#receiving = new Map(
      usable.map((link) => [link.index, { ...link, siblings: usable.filter(({ index }) => index !== link.index) }]),
    );
  }
}

export function isSamePair(a: SharedSegment, b: SharedSegment): boolean {
  return a.linkIndex === b.linkIndex && a.silentLinkIndex === b.silentLinkIndex;
}

function isSameLink(a: AnnounceLink, b: AnnounceLink | undefined): boolean {
  return (
    b !== undefined &&
    a.name === b.name &&
    a.mac === b.mac &&
    a.isUsable === b.isUsable &&
    isSameList(a.addresses, b.addresses) &&
    isSameList(a.prefixes.map(formatPrefix), b.prefixes.map(formatPrefix))
  );
}
