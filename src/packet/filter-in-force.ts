/**
 * Which filter a socket has, and whether it needs another. Thousands of addresses that move come some at a time: a filter that lets
 * pools pass needs not be built anew for an address in one of them. Pure, but for its own state.
 */
import { isSameList } from "../base/same-list.ts";
import { familyOf, type Ip } from "../net/ip.ts";
import { type Prefix, prefixHolds } from "../net/prefix.ts";
import { buildPacketFilter, type PacketFilter, type WantedPackets } from "./filter.ts";

/** What was found to pass and is not wanted any more is kept until it outnumbers by so many what is wanted. */
const GONE_KEPT = 1_000;

interface InForce {
  readonly filter: PacketFilter;
  /** How many addresses it was built for. */
  readonly addresses: number;
  /** Those of its family that pass it: what was looked at once is not looked at again, for there are thousands. */
  readonly passing: Set<Ip>;
  readonly poolPrefixes: readonly Prefix[];
  readonly maxInstructions: number;
}

export class FilterInForce {
  #inForce: InForce | undefined;

  /** Undefined when the one in force does: it lets all of the wanted pass, and little else than when it was built. */
  next(wanted: WantedPackets, maxInstructions: number): PacketFilter | undefined {
    if (this.#inForce !== undefined && stillFits(this.#inForce, wanted, maxInstructions)) return undefined;
    const filter = buildPacketFilter(wanted, maxInstructions);
    const { family, addresses, poolPrefixes } = wanted;
    const passing = new Set(addresses.filter((ip) => familyOf(ip) === family));
    this.#inForce = { filter, addresses: addresses.length, passing, poolPrefixes, maxInstructions };
    return filter;
  }

  /** It could not be set, or its socket is gone. */
  forget(): void {
    this.#inForce = undefined;
  }
}

function stillFits(
  inForce: InForce,
  { family, addresses, poolPrefixes }: WantedPackets,
  maxInstructions: number,
): boolean {
  const { filter, passing } = inForce;
  if (maxInstructions !== inForce.maxInstructions || !isSameList(poolPrefixes, inForce.poolPrefixes)) return false;
  // One that is exact follows every change; with half of them gone, the rest may fit.
  if (filter.precision !== "prefixes" || 2 * addresses.length < inForce.addresses) return false;
  if (passing.size > 2 * addresses.length + GONE_KEPT) return false;
  for (const ip of addresses) {
    if (passing.has(ip) || familyOf(ip) !== family) continue;
    if (!filter.prefixes.some((prefix) => prefixHolds(prefix, ip))) return false;
    passing.add(ip);
  }
  return true;
}
