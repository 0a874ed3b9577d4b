import { expect } from "chai";
import { LinkTable } from "../../src/netlink/link-table.ts";
import { decodeRtnetlink } from "../../src/netlink/rtnetlink.ts";
import { hex, linksOf, STORY } from "./story.ts";

function feed(table: LinkTable, datagrams: readonly string[]): void {
  for (const datagram of datagrams) for (const event of decodeRtnetlink(hex(datagram))) table.apply(event);
}

function tableAtStart(): LinkTable {
  const table = new LinkTable();
  for (const dump of ["links", "addresses", "routes"] as const) feed(table, STORY.start[dump]);
  return table;
}

describe("LinkTable", () => {
  it("agrees with `ip` on the lists that the kernel gave", () => {
    const links = tableAtStart().links();
    expect(links).to.deep.equal(linksOf(STORY.start.truth));
    expect(links.flatMap((link) => link.prefixes).length).to.equal(5);
    expect(links.map((link) => link.masterKind)).to.include("other");
  });

  const table = tableAtStart();
  for (const { command, datagrams, truth } of STORY.steps) {
    it(`agrees with \`ip\` after ${command}`, () => {
      feed(table, datagrams);
      expect(table.links()).to.deep.equal(linksOf(truth));
    });
  }

  it("forgets the routes from an address that is removed, of which kernels before 6.6 do not tell", () => {
    const command = "ip address del 192.0.2.9/24 dev eth0";
    const old = tableAtStart();
    for (const step of STORY.steps) {
      for (const event of step.datagrams.flatMap((datagram) => decodeRtnetlink(hex(datagram)))) {
        if (step.command !== command || event.kind === "address-gone") old.apply(event);
      }
      if (step.command !== command) continue;
      expect(old.links()).to.deep.equal(linksOf(step.truth));
      return;
    }
    expect.fail("the story has no such step");
  });

  it("forgets addresses and routes together with their link", () => {
    const again = tableAtStart();
    const [link] = again.links().filter(({ name }) => name === "eth0");
    const index = link?.index ?? expect.fail("no eth0");
    again.apply({ kind: "link-gone", index });
    for (const datagram of STORY.start.links) {
      for (const event of decodeRtnetlink(hex(datagram))) again.apply(event);
    }
    expect(again.links().find(({ name }) => name === "eth0")).to.deep.equal({ ...link, addresses: [], prefixes: [] });
  });

  it("takes every message twice without a change", () => {
    const once = tableAtStart();
    const twice = tableAtStart();
    for (const { datagrams } of STORY.steps) {
      feed(once, datagrams);
      for (const datagram of datagrams) feed(twice, [datagram, datagram]);
    }
    expect(twice.links()).to.deep.equal(once.links());
  });
});
