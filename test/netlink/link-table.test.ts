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
