/** What hack/golden/netlink captured, and the links that `ip -j` describes: the outside truth for our own. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect } from "chai";
import { bytesOfHex } from "../../src/base/bytes.ts";
import { parseIp } from "../../src/net/ip.ts";
import type { Link } from "../../src/net/link.ts";
import { parseMac } from "../../src/net/mac.ts";
import { formatPrefix, parsePrefix } from "../../src/net/prefix.ts";

interface IpLink {
  readonly ifindex: number;
  readonly ifname: string;
  readonly address: string;
  readonly flags: readonly string[];
  readonly operstate: string;
  readonly link_type: string;
  readonly master?: string;
  readonly linkinfo?: { readonly info_slave_kind?: string };
}

interface IpAddress {
  readonly local: string;
  readonly tentative?: boolean;
  readonly dadfailed?: boolean;
}

interface IpRoute {
  readonly type?: string;
  readonly dst: string;
  readonly dev?: string;
  readonly gateway?: string;
  readonly scope?: string;
  readonly nexthops?: readonly { readonly dev?: string; readonly gateway?: string }[];
}

interface Truth {
  readonly links: readonly IpLink[];
  readonly addresses: readonly { readonly ifindex: number; readonly addresses: readonly IpAddress[] }[];
  readonly routes: readonly IpRoute[];
}

interface Story {
  readonly start: {
    readonly links: readonly string[];
    readonly addresses: readonly string[];
    readonly routes: readonly string[];
    readonly truth: Truth;
  };
  readonly steps: readonly {
    readonly command: string;
    readonly datagrams: readonly string[];
    readonly truth: Truth;
  }[];
}

const FILE = resolve(import.meta.dirname, "../../../test/golden/netlink/story.json");

export const STORY = JSON.parse(readFileSync(FILE, "utf8")) as Story;

export function hex(text: string): Uint8Array {
  return bytesOfHex(text) ?? expect.fail(`not hexadecimal: ${text}`);
}

/** The Link values that follow from what `ip` printed. */
export function linksOf(truth: Truth): Link[] {
  return truth.links
    .map((link): Link => {
      const is = (flag: string): boolean => link.flags.includes(flag);
      const kind = link.linkinfo?.info_slave_kind;
      return {
        index: link.ifindex,
        name: link.ifname,
        mac: parseMac(link.address) ?? expect.fail(`no MAC: ${link.address}`),
        isEthernet: link.link_type === "ether",
        isLoopback: is("LOOPBACK"),
        isBroadcast: is("BROADCAST"),
        isNoArp: is("NOARP"),
        isAdminUp: is("UP"),
        hasCarrier: is("LOWER_UP") && ["UP", "UNKNOWN"].includes(link.operstate),
        masterKind: link.master === undefined ? "none" : kind === "vrf" ? "vrf" : "other",
        addresses: addressesOf(truth, link.ifindex),
        prefixes: prefixesOf(truth, link.ifname),
      };
    })
    .toSorted((a, b) => a.index - b.index);
}

function addressesOf(truth: Truth, index: number): Link["addresses"] {
  const known = truth.addresses.find((link) => link.ifindex === index)?.addresses ?? [];
  return known
    .filter((address) => address.tentative !== true && address.dadfailed !== true)
    .map((address) => parseIp(address.local) ?? expect.fail(`no address: ${address.local}`))
    .toSorted();
}

/** `ip route` prints the main table only, a scope for IPv4 only, and a host route without its length. */
function prefixesOf(truth: Truth, name: string): Link["prefixes"] {
  const texts = truth.routes.flatMap((route) => {
    const hops = route.nexthops ?? [route];
    const isOnLink = hops.some((hop) => hop.dev === name && hop.gateway === undefined);
    const isUnicast = route.type === undefined || route.type === "unicast";
    const isIpv6 = route.dst.includes(":");
    const isOurs = isOnLink && isUnicast && (isIpv6 || route.scope === "link");
    const isLeftOut = route.dst.startsWith("fe80:") || route.dst.startsWith("ff") || route.dst.startsWith("239.");
    if (!isOurs || isLeftOut) return [];
    return [route.dst.includes("/") ? route.dst : `${route.dst}/${isIpv6 ? 128 : 32}`];
  });
  return [...new Set(texts)]
    .map((text) => parsePrefix(text) ?? expect.fail(`no prefix: ${text}`))
    .toSorted((a, b) => (formatPrefix(a) < formatPrefix(b) ? -1 : 1));
}
