/** RTM_NEWROUTE and RTM_DELROUTE: struct rtmsg and RTA_* attributes (linux/rtnetlink.h). Pure. */
import { type Decoded, decoded, dropped } from "../base/decoded.ts";
import { type Family, type Ip, ipOfBytes } from "../net/ip.ts";
import { type Prefix, prefixOf } from "../net/prefix.ts";
import { attributesOf, viewOf, wordOf } from "./message.ts";

export interface RouteRecord {
  readonly prefix: Prefix;
  readonly family: Family;
  readonly table: number;
  readonly metric: number;
  readonly typeOfService: number;
  /** Links on which the prefix is reached without a gateway; empty for every other route. */
  readonly onLink: readonly number[];
  /** Preferred source: IPv4 removes the route together with that address, and does not say so. */
  readonly source?: Ip;
}

export const MAIN_TABLE = 254;

/** Length of struct rtmsg: family, dst_len, src_len, tos, table, protocol, scope, type (u8 each), flags u32. */
const HEADER_BYTES = 12;
const AF_INET = 2;
const AF_INET6 = 10;
const RTA_DST = 1;
const RTA_OIF = 4;
const RTA_GATEWAY = 5;
const RTA_PRIORITY = 6;
const RTA_PREFSRC = 7;
const RTA_MULTIPATH = 9;
const RTA_TABLE = 15;
const RTA_VIA = 18;
const RTN_UNICAST = 1;
const RT_SCOPE_LINK = 253;
/** An entry of the kernel's cache, not of a table. */
const RTM_F_CLONED = 0x200;
/** Length of struct rtnexthop: length u16, flags u8, hops u8, index i32. */
const NEXTHOP_BYTES = 8;

/** not-ours: a family other than IPv4 and IPv6, or a cached entry. */
export function decodeRoute(body: Uint8Array): Decoded<RouteRecord, "truncated" | "not-ours"> {
  if (body.length < HEADER_BYTES) return dropped("truncated");
  const family = familyOfNumber(body[0]);
  const view = viewOf(body);
  if (family === undefined || (view.getUint32(8, true) & RTM_F_CLONED) !== 0) return dropped("not-ours");
  const attributes = attributesOf(body, HEADER_BYTES);
  const prefix = destinationOf(attributes, family, body[1] ?? 0);
  if (prefix === undefined) return dropped("truncated");
  const sourceBytes = attributes.get(RTA_PREFSRC);
  const source = sourceBytes === undefined ? undefined : ipOfBytes(sourceBytes);
  return decoded({
    prefix,
    family,
    table: wordOf(attributes.get(RTA_TABLE)) ?? body[4] ?? 0,
    metric: wordOf(attributes.get(RTA_PRIORITY)) ?? 0,
    typeOfService: body[3] ?? 0,
    onLink: mayBeOnLink(body, family) ? onLinkIndices(attributes) : [],
    ...(source === undefined ? {} : { source }),
  });
}

/** IPv6 routes have no scope: the kernel always reports the universe. */
function mayBeOnLink(body: Uint8Array, family: Family): boolean {
  return body[7] === RTN_UNICAST && (family === 6 || body[6] === RT_SCOPE_LINK);
}

function onLinkIndices(attributes: ReadonlyMap<number, Uint8Array>): number[] {
  const hops = attributes.get(RTA_MULTIPATH);
  if (hops !== undefined) return onLinkHops(hops);
  const index = wordOf(attributes.get(RTA_OIF));
  return index === undefined || hasGateway(attributes) ? [] : [index];
}

function onLinkHops(bytes: Uint8Array): number[] {
  const indices: number[] = [];
  const view = viewOf(bytes);
  for (let offset = 0; offset + NEXTHOP_BYTES <= bytes.length; ) {
    const length = view.getUint16(offset, true);
    if (length < NEXTHOP_BYTES || offset + length > bytes.length) break;
    const attributes = attributesOf(bytes.subarray(offset, offset + length), NEXTHOP_BYTES);
    if (!hasGateway(attributes)) indices.push(view.getInt32(offset + 4, true));
    offset += (length + 3) & ~3;
  }
  return indices;
}

/** RTA_VIA is a gateway of the other family. */
function hasGateway(attributes: ReadonlyMap<number, Uint8Array>): boolean {
  return attributes.has(RTA_GATEWAY) || attributes.has(RTA_VIA);
}

function destinationOf(
  attributes: ReadonlyMap<number, Uint8Array>,
  family: Family,
  length: number,
): Prefix | undefined {
  const bytes = attributes.get(RTA_DST) ?? new Uint8Array(family === 4 ? 4 : 16);
  const network = ipOfBytes(bytes);
  // A mapped IPv4 destination of an IPv6 route reads as IPv4 and is of no use to us.
  if (network === undefined || length > 8 * bytes.length || network.includes(":") !== (family === 6)) return undefined;
  return prefixOf(network, length);
}

function familyOfNumber(number: number | undefined): Family | undefined {
  if (number === AF_INET) return 4;
  return number === AF_INET6 ? 6 : undefined;
}
