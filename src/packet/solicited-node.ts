/** Solicited-node multicast addresses (RFC 4291 §2.7.1) and the MACs of IPv6 groups (RFC 2464 §7). Pure. */
import { IPV6_BYTES, type Ip, ipBytes, ipv6At } from "../net/ip.ts";
import { type Mac, macAt } from "../net/mac.ts";

/** ff02::1:ff00:0/104, completed by the last three bytes of an address. */
const GROUP_PREFIX: readonly number[] = [0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff];

export const ALL_NODES = "ff02::1" as Ip;
export const ALL_NODES_MAC = "33:33:00:00:00:01" as Mac;

/** The group that a solicitation for `ip` is sent to. Addresses that end in the same three bytes share one. */
export function solicitedNodeGroupOf(ip: Ip): Ip {
  const bytes = new Uint8Array(IPV6_BYTES);
  bytes.set(GROUP_PREFIX);
  bytes.set(ipBytes(ip).subarray(13), 13);
  return ipv6At(bytes, 0);
}

/** 33:33 and the last four bytes of an IPv6 group. */
export function multicastMacOf(group: Ip): Mac {
  const bytes = ipBytes(group).slice(10);
  bytes[0] = 0x33;
  bytes[1] = 0x33;
  return macAt(bytes);
}

/** Whether the 16 bytes at `offset` are a solicited-node group, of whichever address. */
export function isSolicitedNodeAt(bytes: Uint8Array, offset: number): boolean {
  for (let index = 0; index < GROUP_PREFIX.length; index++) {
    if (bytes[offset + index] !== GROUP_PREFIX[index]) return false;
  }
  return true;
}
