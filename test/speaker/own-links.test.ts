import { expect } from "chai";
import { OwnLinks } from "../../speaker/own-links.ts";
import { OwnNode } from "../../speaker/own-node.ts";
import type { PacketPort } from "../../src/announcer/packet-port.ts";
import type { Link } from "../../src/net/link.ts";
import { parsePrefix } from "../../src/net/prefix.ts";
import { ethernetLink } from "../support/ethernet-link.ts";

function link(index: number, changed: Partial<Link> = {}): Link {
  const prefixes = [parsePrefix("192.0.2.0/24") ?? expect.fail()];
  return ethernetLink(index, `eth${index}`, { prefixes, ...changed });
}

/** A packet port whose sockets open on every link but those of `failing`. */
function scene(failing: Set<number>) {
  const asked: number[][] = [];
  let wanted: number[] = [];
  const packets: PacketPort = {
    setLinks: (links) => {
      wanted = links.map(({ index }) => index);
      asked.push(wanted);
    },
    failedLinks: () => new Set(wanted.filter((index) => failing.has(index))),
    setFilter: () => {},
    send: () => {},
    flush: () => {},
    discardAll: () => 0,
    drainAll: () => {},
  };
  const settings = {
    nodeName: "n1",
    electionCap: "auto" as const,
    loadBalancerClass: "",
    ignoresExcludeLabel: false,
    ignoresCordon: false,
    excludedLinks: [/^docker/],
    pastTroubles: [],
    detectsFast: false,
    reportsServices: false,
  };
  const node = new OwnNode(settings, 0);
  return { asked, node, links: new OwnLinks(node, packets) };
}

const usable = (links: OwnLinks, nowMs: number) =>
  links.refresh(nowMs)?.map(({ index, isUsable }) => [index, isUsable] as const);

describe("OwnLinks", () => {
  it("says nothing before the kernel has, and nothing again when nothing changed", () => {
    const { asked, node, links } = scene(new Set());
    expect(links.refresh(0)).to.equal(undefined);
    node.observeLinks([link(1), link(2, { name: "docker0" })], 0);
    expect(usable(links, 0)).to.deep.equal([
      [1, true],
      [2, false],
    ]);
    expect(links.refresh(1)).to.equal(undefined);
    expect(asked).to.deep.equal([[1]]);
  });

  it("counts a link out while its sockets do not open, and keeps asking for them", () => {
    const failing = new Set([1]);
    const { asked, node, links } = scene(failing);
    node.observeLinks([link(1), link(2)], 0);
    expect(usable(links, 0)).to.deep.equal([
      [1, false],
      [2, true],
    ]);
    expect(node.links(0)[0]?.reason).to.equal("socket-failed");
    failing.clear();
    expect(usable(links, 1_000)).to.deep.equal([
      [1, true],
      [2, true],
    ]);
    expect(asked.at(-1)).to.deep.equal([1, 2]);
  });

  it("has open sockets when one link works, or when there is none to open", () => {
    const failing = new Set([1, 2]);
    const { node, links } = scene(failing);
    node.observeLinks([link(1), link(2)], 0);
    links.refresh(0);
    expect(node.hasOpenSockets(0)).to.equal(false);
    failing.delete(2);
    links.refresh(1);
    expect(node.hasOpenSockets(1)).to.equal(true);
    node.observeLinks([link(1, { hasCarrier: false })], 2);
    links.refresh(2);
    expect(node.hasOpenSockets(2)).to.equal(true);
  });
});
