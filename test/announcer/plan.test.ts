import { expect } from "chai";
import { planLinks, topologyOf } from "../../src/announcer/plan.ts";
import type { AnnounceLink } from "../../src/announcer/ports.ts";
import { type Ip, ipBytes } from "../../src/net/ip.ts";
import { parsePrefix } from "../../src/net/prefix.ts";
import { ip, link } from "./rig.ts";

const IN_FIRST = ip("192.0.2.10");
const IN_FIRST6 = ip("2001:db8::10");
const NOWHERE = ip("203.0.113.1");

function plan(address: Ip, interfaces: readonly string[], ...links: readonly AnnounceLink[]): readonly number[] {
  return planLinks(ipBytes(address), interfaces, topologyOf(links, []));
}

function prefixed(index: number, ...prefixes: readonly string[]): AnnounceLink {
  return link(index, { prefixes: prefixes.map((text) => parsePrefix(text) ?? expect.fail(text)) });
}

describe("planLinks", () => {
  const cases: readonly {
    readonly name: string;
    readonly address?: Ip;
    readonly interfaces?: readonly string[];
    readonly links: readonly AnnounceLink[];
    readonly answered: readonly number[];
  }[] = [
    { name: "no link", links: [], answered: [] },
    { name: "the link whose prefix holds it", links: [link(1), link(2)], answered: [1] },
    { name: "the link whose IPv6 prefix holds it", address: IN_FIRST6, links: [link(2), link(1)], answered: [1] },
    { name: "every link when no prefix holds it", address: NOWHERE, links: [link(3), link(1)], answered: [1, 3] },
    {
      name: "no link that is not usable",
      address: NOWHERE,
      links: [link(1, { isUsable: false }), link(2)],
      answered: [2],
    },
    {
      name: "the others when the link that holds it is not usable",
      links: [link(1, { isUsable: false }), link(2)],
      answered: [2],
    },
    { name: "the selected link", address: NOWHERE, interfaces: ["eth2"], links: [link(1), link(2)], answered: [2] },
    {
      name: "the selected link although another's prefix holds it",
      interfaces: ["eth2"],
      links: [link(1), link(2)],
      answered: [2],
    },
    { name: "none when no selected link exists", interfaces: ["eth9"], links: [link(1)], answered: [] },
    {
      name: "the one that holds it among several selected",
      interfaces: ["eth1", "eth2"],
      links: [link(1), link(2), link(3)],
      answered: [1],
    },
    {
      name: "both links that hold it on segments of their own",
      links: [prefixed(1, "192.0.2.0/25"), prefixed(2, "192.0.2.0/28")],
      answered: [1, 2],
    },
    {
      name: "the lower of two links with one prefix",
      links: [prefixed(2, "192.0.2.0/24"), prefixed(1, "192.0.2.0/24")],
      answered: [1],
    },
    {
      name: "the lower also for addresses outside of it",
      address: NOWHERE,
      links: [prefixed(1, "192.0.2.0/24"), prefixed(2, "192.0.2.0/24")],
      answered: [1],
    },
    {
      name: "the higher when it alone is selected",
      interfaces: ["eth2"],
      links: [prefixed(1, "192.0.2.0/24"), prefixed(2, "192.0.2.0/24")],
      answered: [2],
    },
    {
      name: "one of a chain of links that share prefixes",
      address: NOWHERE,
      links: [
        prefixed(3, "198.51.100.0/24"),
        prefixed(2, "192.0.2.0/24", "198.51.100.0/24"),
        prefixed(1, "192.0.2.0/24"),
      ],
      answered: [1],
    },
    {
      name: "both of two links that share link-local prefixes or a default route only",
      address: NOWHERE,
      links: [prefixed(1, "169.254.0.0/16", "fe80::/64", "::/0"), prefixed(2, "169.254.0.0/16", "fe80::/64", "::/0")],
      answered: [1, 2],
    },
    { name: "by prefixes of odd length, inside", links: [prefixed(1, "192.0.2.8/29"), link(2)], answered: [1] },
    {
      name: "by prefixes of odd length, outside",
      links: [prefixed(1, "192.0.2.0/29"), prefixed(2, "192.0.2.8/30")],
      answered: [2],
    },
    { name: "by host prefixes", links: [prefixed(1, "192.0.2.9/32"), prefixed(2, "192.0.2.10/32")], answered: [2] },
  ];
  for (const { name, address = IN_FIRST, interfaces = [], links, answered } of cases) {
    it(`picks ${name}`, () => expect(plan(address, interfaces, ...links)).to.deep.equal(answered));
  }
});

describe("topologyOf", () => {
  it("names every link that a lower one silences, shared by prefix or by ear", () => {
    const links = [link(1), link(2), prefixed(3, "192.0.3.0/24"), link(4)];
    const heard = [{ linkIndex: 1, silentLinkIndex: 4 }];
    expect(topologyOf(links, heard).sharedSegments).to.deep.equal([
      { linkIndex: 2, silentLinkIndex: 3 },
      { linkIndex: 1, silentLinkIndex: 4 },
    ]);
  });
  it("does not count links that are not usable", () => {
    const links = [link(1, { isUsable: false }), link(2)];
    expect(topologyOf(links, [{ linkIndex: 1, silentLinkIndex: 2 }]).sharedSegments).to.deep.equal([]);
  });
});
