/** Addresses of `/status`, which come from the wire thread in parts, as a reader looks for them. Pure. */
import { familyOf, type Ip, ipToBigInt } from "../src/net/ip.ts";
import type { AddressStatus } from "./thread-messages.ts";

/** In the order of their addresses, IPv4 first. */
export function joinAddressParts(parts: readonly (readonly AddressStatus[])[]): AddressStatus[] {
  // Comparing texts as numbers is the dear part: each is read once.
  const keyed = parts.flat().map((status) => {
    const ip = status.address as Ip;
    return { status, family: familyOf(ip), value: ipToBigInt(ip) };
  });
  keyed.sort((a, b) => a.family - b.family || (a.value < b.value ? -1 : Number(a.value > b.value)));
  return keyed.map(({ status }) => status);
}
