/**
 * Which filter a socket has, and whether it needs another. Thousands of addresses that move come some at a time: a filter that lets
 * pools pass needs not be built anew for an address in one of them. Pure, but for its own state.
 */
import { isSameList } from "../base/same-list.ts";
import { familyOf, type Ip } from "../net/ip.ts";
import { type Prefix, prefixHolds } from "../net/prefix.ts";
import { buildPacketFilter, type PacketFilter, type WantedPackets } from "./filter.ts";

interface InForce {
  readonly filter: PacketFilter;
  readonly addresses: ReadonlySet<Ip>;
  readonly poolPrefixes: readonly Prefix[];
  readonly maxInstructions: number;
}

export class FilterInForce {
  #inForce: InForce | undefined;

  /** Undefined when the one in force does: it lets all of the wanted pass, and little else than when it was built. */
  next(wanted: WantedPackets, maxInstructions: number): PacketFilter | undefined {
    if (this.#inForce !== undefined && stillFits(this.#inForce, wanted, maxInstructions)) return undefined;
    const filter = buildPacketFilter(wanted, maxInstructions);
    const { poolPrefixes } = wanted;
    this.#inForce = { filter, addresses: new Set(wanted.addresses), poolPrefixes, maxInstructions };
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
  const { filter, addresses: before } = inForce;
  if (maxInstructions !== inForce.maxInstructions || !isSameList(poolPrefixes, inForce.poolPrefixes)) return false;
  // One that is exact follows every change; with half of them gone, the rest may fit.
  if (filter.precision !== "prefixes" || 2 * addresses.length < before.size) return false;
  for (const ip of addresses) {
    if (before.has(ip) || familyOf(ip) !== family) continue;
    if (!filter.prefixes.some((prefix) => prefixHolds(prefix, ip))) return false;
  }
  return true;
}
