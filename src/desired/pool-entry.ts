/** An entry of `IPAddressPool.spec.addresses`: a prefix, or a range of two addresses. Pure. */
import { type Decoded, decoded, dropped } from "../base/decoded.ts";
import { familyOf, ipToBigInt, parseIp } from "../net/ip.ts";
import { parsePrefix, type Range, rangeOfPrefix } from "../net/prefix.ts";

/** Why an entry gives no addresses. */
export type PoolEntryDrop =
  /** Neither `address/length` nor `address-address`; a bare address is none of both, as in MetalLB. */
  | "not-a-prefix-or-range"
  | "range-end-before-start"
  /** MetalLB takes it, and gives no address from it; we say so. */
  | "range-of-two-families";

export function parsePoolEntry(text: string): Decoded<Range, PoolEntryDrop> {
  const dash = text.indexOf("-");
  if (dash === -1) {
    const prefix = parsePrefix(text);
    return prefix === undefined ? dropped("not-a-prefix-or-range") : decoded(rangeOfPrefix(prefix));
  }
  const start = parseIp(text.slice(0, dash).trim());
  const end = parseIp(text.slice(dash + 1).trim());
  if (start === undefined || end === undefined) return dropped("not-a-prefix-or-range");
  const family = familyOf(start);
  if (family !== familyOf(end)) return dropped("range-of-two-families");
  const range = { family, first: ipToBigInt(start), last: ipToBigInt(end) };
  return range.first > range.last ? dropped("range-end-before-start") : decoded(range);
}
