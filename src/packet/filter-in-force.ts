/**
 * Which filter a socket has, and whether it needs another. Thousands of addresses that move come some at a time: a filter that lets
 * pools pass needs not be built anew for an address in one of them. Pure, but for its own state.
 */
import { isSameList } from "../base/same-list.ts";
import type { AddressSet } from "../net/address-set.ts";
import { type Family, familyOf, type Ip } from "../net/ip.ts";
import { type Prefix, prefixHolds } from "../net/prefix.ts";
import { buildPacketFilter, type PacketFilter } from "./filter.ts";

/** What was found to pass and is not wanted any more is kept until it outnumbers by so many what is wanted. */
const GONE_KEPT = 1_000;
/** More than this fit where they lie in a row, but a filter that follows them exactly is built anew, in milliseconds, for each that comes. */
const EXACT_AT_MOST = 1_000;

/** What a socket is to hear; see `WantedPackets`. */
export interface WantedSet {
  readonly family: Family;
  /** Of both families. */
  readonly addresses: AddressSet;
  /** Those among them that were not when it was asked last: thousands are not to be looked at again. */
  readonly come: readonly Ip[];
  readonly poolPrefixes: readonly Prefix[];
}

interface InForce {
  readonly filter: PacketFilter;
  /** How many addresses there were when it was built, of both families. */
  readonly addresses: number;
  /** Those of its family that pass it. */
  readonly passing: Set<Ip>;
  readonly poolPrefixes: readonly Prefix[];
  readonly maxInstructions: number;
}

export class FilterInForce {
  #inForce: InForce | undefined;

  /** Undefined when the one in force does: it lets all of the wanted pass, and little else than when it was built. */
  next({ family, addresses, come, poolPrefixes }: WantedSet, maxInstructions: number): PacketFilter | undefined {
    const last = this.#inForce;
    const isOwn = (ip: Ip): boolean => familyOf(ip) === family;
    const news = come.filter((ip) => isOwn(ip) && last?.passing.has(ip) !== true);
    const limits = { poolPrefixes, maxInstructions };
    if (last !== undefined && stillFits(last, news, addresses.size, limits)) {
      for (const ip of news) last.passing.add(ip);
      return undefined;
    }
    const own =
      last === undefined ? [...addresses].filter(isOwn) : [...last.passing, ...news].filter((ip) => addresses.has(ip));
    const filter = buildPacketFilter({ family, addresses: own, poolPrefixes }, maxInstructions, EXACT_AT_MOST);
    this.#inForce = { filter, addresses: addresses.size, passing: new Set(own), ...limits };
    return filter;
  }

  /** It could not be set, or its socket is gone. */
  forget(): void {
    this.#inForce = undefined;
  }
}

/** `addresses`: how many are wanted now, of both families. */
function stillFits(
  inForce: InForce,
  news: readonly Ip[],
  addresses: number,
  { poolPrefixes, maxInstructions }: Pick<InForce, "poolPrefixes" | "maxInstructions">,
): boolean {
  const { filter, passing } = inForce;
  if (maxInstructions !== inForce.maxInstructions || !isSameList(poolPrefixes, inForce.poolPrefixes)) return false;
  // Of nothing, nothing can be gone.
  if (passing.size === 0) return news.length === 0;
  // One that is exact follows every change; with half of them gone, the rest may fit.
  if (filter.precision !== "prefixes" || 2 * addresses < inForce.addresses) return false;
  if (passing.size > 2 * addresses + GONE_KEPT) return false;
  return news.every((ip) => filter.prefixes.some((prefix) => prefixHolds(prefix, ip)));
}
