/** On which links an address is answered (DESIGN D10). Pure: links and the address in, link indexes out. */
import { ipBytes } from "../net/ip.ts";
import { formatPrefix, type Prefix } from "../net/prefix.ts";
import type { AnnounceLink } from "./ports.ts";

/** Two links of this node on one segment, lower index first. */
export interface SharedSegment {
  readonly linkIndex: number;
  readonly silentLinkIndex: number;
}

interface PlannedLink {
  readonly index: number;
  readonly name: string;
  /** Lowest link index on this link's segment: the segment's name. */
  readonly segment: number;
  readonly prefixes: readonly { readonly network: Uint8Array; readonly length: number }[];
  /** The plan of this link alone: thousands of addresses have it. */
  readonly alone: readonly number[];
}

/** The usable links by ascending index, prepared for many addresses. */
export interface Topology {
  readonly links: readonly PlannedLink[];
  readonly sharedSegments: readonly SharedSegment[];
}

/** `heard` names pairs of links of which one heard the other. */
export function topologyOf(links: readonly AnnounceLink[], heard: readonly SharedSegment[]): Topology {
  const usable = links.filter((link) => link.isUsable).toSorted((a, b) => a.index - b.index);
  const segments = segmentsOf(usable, heard);
  const planned = usable.map((link) => ({
    index: link.index,
    name: link.name,
    segment: segments.get(link.index) ?? link.index,
    prefixes: link.prefixes.map((prefix) => ({ network: ipBytes(prefix.network), length: prefix.length })),
    alone: [link.index],
  }));
  const sharedSegments = planned
    .filter(({ index, segment }) => segment !== index)
    .map(({ index, segment }) => ({ linkIndex: segment, silentLinkIndex: index }));
  return { links: planned, sharedSegments };
}

/**
 * Link indexes, ascending: the selected links whose prefix holds the address, else every selected link; of several on one
 * segment the first only, because two MACs for one address would make clients' entries flap. No name selects every link.
 */
export function planLinks(address: Uint8Array, interfaces: readonly string[], topology: Topology): readonly number[] {
  const selected =
    interfaces.length === 0 ? topology.links : topology.links.filter(({ name }) => interfaces.includes(name));
  const holders = selected.filter((link) => link.prefixes.some((prefix) => holds(prefix, address)));
  const planned = holders.length > 0 ? holders : selected;
  if (planned.length === 1) return planned[0]?.alone ?? [];
  const seen = new Set<number>();
  const answering: number[] = [];
  for (const { index, segment } of planned) {
    if (!seen.has(segment)) answering.push(index);
    seen.add(segment);
  }
  return answering;
}

/** Link index → lowest link index that it shares a segment with, directly or through others. */
function segmentsOf(usable: readonly AnnounceLink[], heard: readonly SharedSegment[]): ReadonlyMap<number, number> {
  const segments = new Map(usable.map(({ index }) => [index, index]));
  const join = (a: number, b: number): void => {
    const [x, y] = [segments.get(a), segments.get(b)];
    if (x === undefined || y === undefined || x === y) return;
    for (const [index, segment] of segments) if (segment === Math.max(x, y)) segments.set(index, Math.min(x, y));
  };
  const firstWithPrefix = new Map<string, number>();
  for (const { index, prefixes } of usable) {
    for (const prefix of prefixes.filter(namesSegment)) {
      const key = formatPrefix(prefix);
      join(firstWithPrefix.get(key) ?? index, index);
      if (!firstWithPrefix.has(key)) firstWithPrefix.set(key, index);
    }
  }
  for (const { linkIndex, silentLinkIndex } of heard) join(linkIndex, silentLinkIndex);
  return segments;
}

/** Every segment may carry link-local prefixes (RFC 3927, RFC 4291), and a default route without gateway says nothing. */
function namesSegment({ network, length }: Prefix): boolean {
  return length > 0 && !network.startsWith("169.254.") && !network.startsWith("fe80:");
}

function holds(prefix: { readonly network: Uint8Array; readonly length: number }, address: Uint8Array): boolean {
  if (prefix.network.length !== address.length) return false;
  const wholeBytes = prefix.length >>> 3;
  for (let index = 0; index < wholeBytes; index++) if (prefix.network[index] !== address[index]) return false;
  const bits = prefix.length & 7;
  if (bits === 0) return true;
  return (((prefix.network[wholeBytes] ?? 0) ^ (address[wholeBytes] ?? 0)) & (0xff << (8 - bits)) & 0xff) === 0;
}
