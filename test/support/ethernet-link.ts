/** A link as the kernel tells of an ordinary card, up and with a carrier. */
import type { Link } from "../../src/net/link.ts";
import { parseMac } from "../../src/net/mac.ts";

export function ethernetLink(index: number, name: string, facts: Partial<Link> = {}): Link {
  const mac = parseMac(`02:00:00:00:00:${index.toString(16).padStart(2, "0")}`);
  if (mac === undefined) throw new Error(`no MAC for link ${index}`);
  return {
    index,
    name,
    mac,
    isEthernet: true,
    isLoopback: false,
    isBroadcast: true,
    isNoArp: false,
    isAdminUp: true,
    hasCarrier: true,
    masterKind: "none",
    addresses: [],
    prefixes: [],
    ...facts,
  };
}
