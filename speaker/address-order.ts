/** Addresses of `/status`, which come from the wire thread in parts, as a reader looks for them. Pure. */
import { hexOf } from "../src/base/bytes.ts";
import { familyOf, type Ip, ipBytes, ipv4ToNumber } from "../src/net/ip.ts";
import type { AddressStatus } from "./thread-messages.ts";

/** In the order of their addresses, IPv4 first. */
export function joinAddressParts(parts: readonly (readonly AddressStatus[])[]): AddressStatus[] {
  // There may be thousands: each is read once, and what is compared are numbers and texts.
  const ipv4: { readonly status: AddressStatus; readonly key: number }[] = [];
  const ipv6: { readonly status: AddressStatus; readonly key: string }[] = [];
  for (const part of parts) {
    for (const status of part) {
      const ip = status.address as Ip;
      if (familyOf(ip) === 4) ipv4.push({ status, key: ipv4ToNumber(ip) });
      else ipv6.push({ status, key: hexOf(ipBytes(ip)) });
    }
  }
  ipv4.sort((a, b) => a.key - b.key);
  ipv6.sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)));
  return [...ipv4, ...ipv6].map(({ status }) => status);
}
