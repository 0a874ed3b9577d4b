/** Whether a node could answer for an address by the links in its own word (DESIGN D3, tiers 1 and 4). Pure. */
import type { AdvertisementFacts } from "../desired/snapshot.ts";
import type { Ip } from "../net/ip.ts";
import { prefixHolds } from "../net/prefix.ts";
import type { NodeWord } from "./word.ts";

/**
 * True when one of the advertisements that cover the node can be served: without link names by a usable link whose prefix holds
 * every address, with names by any of them that is usable. What the word leaves open counts for the node.
 */
export function canAnswerFor(
  word: NodeWord,
  advertisements: readonly AdvertisementFacts[],
  addresses: readonly Ip[],
): boolean {
  // Not listed is then unknown, never none.
  if (word.isTruncated) return true;
  if (advertisements.some(({ interfaces }) => interfaces.length > 0 && hasUsableLinkNamed(word, interfaces)))
    return true;
  const isOpen = advertisements.some(({ interfaces }) => interfaces.length === 0);
  return isOpen && addresses.every((ip) => hasUsablePrefix(word, ip));
}

function hasUsableLinkNamed(word: NodeWord, names: readonly string[]): boolean {
  const usable = word.links.filter((link) => link.isUsable);
  // Names are listed once the node has read an advertisement that names links: without any, it has not, and nobody knows.
  if (usable.length > 0 && word.links.every(({ name }) => name === undefined)) return true;
  return usable.some(({ name }) => name !== undefined && names.includes(name));
}

function hasUsablePrefix(word: NodeWord, ip: Ip): boolean {
  const usable = new Set(word.links.filter((link) => link.isUsable).map(({ index }) => index));
  return word.prefixes.some(({ linkIndex, prefix }) => usable.has(linkIndex) && prefixHolds(prefix, ip));
}
