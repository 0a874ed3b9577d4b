/** Whether a node could answer for an address by the links in its own word (DESIGN D3, tiers 1, 2 and 4). Pure. */
import type { AdvertisementFacts } from "../desired/snapshot.ts";
import type { Ip } from "../net/ip.ts";
import { prefixHolds } from "../net/prefix.ts";
import type { NodeWord, WordLink } from "./word.ts";

/** `returning`: only on a link that is back for a short time. */
export type LinkTest = "usable" | "returning" | "none";

/**
 * Whether one of the advertisements that cover the node can be served: without link names by a usable link whose prefix holds
 * every address, with names by any of them that is usable. What the word leaves open counts for the node.
 */
export function testLinks(
  word: NodeWord,
  advertisements: readonly AdvertisementFacts[],
  addresses: readonly Ip[],
): LinkTest {
  // Not listed is then unknown, never none.
  if (word.isTruncated) return "usable";
  const usable = word.links.filter(({ isUsable }) => isUsable);
  const steady = usable.filter(({ isReturning }) => isReturning !== true);
  if (canServe(word, steady, advertisements, addresses)) return "usable";
  return canServe(word, usable, advertisements, addresses) ? "returning" : "none";
}

function canServe(
  word: NodeWord,
  links: readonly WordLink[],
  advertisements: readonly AdvertisementFacts[],
  addresses: readonly Ip[],
): boolean {
  const isNamed = ({ interfaces }: AdvertisementFacts): boolean =>
    interfaces.length > 0 && hasLinkNamed(word, links, interfaces);
  if (advertisements.some(isNamed)) return true;
  const isOpen = advertisements.some(({ interfaces }) => interfaces.length === 0);
  return isOpen && addresses.every((ip) => hasPrefix(word, links, ip));
}

function hasLinkNamed(word: NodeWord, links: readonly WordLink[], names: readonly string[]): boolean {
  // Names are listed once the node has read an advertisement that names links: without any, it has not, and nobody knows.
  if (links.length > 0 && word.links.every(({ name }) => name === undefined)) return true;
  return links.some(({ name }) => name !== undefined && names.includes(name));
}

function hasPrefix(word: NodeWord, links: readonly WordLink[], ip: Ip): boolean {
  const indices = new Set(links.map(({ index }) => index));
  return word.prefixes.some(({ linkIndex, prefix }) => indices.has(linkIndex) && prefixHolds(prefix, ip));
}
