/** What a member's links make of its place: tiers 1, 2 and 4. */
import { expect } from "chai";
import { advertisement } from "../desired/facts.ts";
import { decideOne, group, groupService, mac, member, orderOf, prefix, view, word } from "./views.ts";

const WEB = group(groupService(["10.20.30.1"]));

describe("decide: links", () => {
  it("a link that is back for a short time stands behind other nodes', and is said to", () => {
    const links = [{ index: 2, isUsable: true, isReturning: true as const, mac: mac("02:00:00:00:00:01") }];
    const members = [member("iris1"), member("iris2", ["ready"], { links })];
    const decision = decideOne(WEB, view(members));
    expect([decision.leader, decision.candidates[1]?.tierReason]).to.deep.equal(["iris1", "link-returning"]);
    // The node's own state is the worse one.
    const cordoned = [member("iris1"), member("iris2", ["ready", "cordoned"], { links })];
    expect(decideOne(WEB, view(cordoned)).candidates[1]).to.deep.include({ tier: 3, tierReason: "cordoned" });
  });

  const link = { index: 2, isUsable: true, mac: mac("02:00:00:00:00:01") };
  const returning = { ...link, isReturning: true as const };
  const near = { linkIndex: 2, prefix: prefix("10.20.30.0/24") };
  const far = { linkIndex: 2, prefix: prefix("192.0.2.0/24") };
  const named = [advertisement("named", { interfaces: ["eth1"] })];
  const both = [...named, advertisement("open")];

  for (const { name, facts, advertisements, tier } of [
    { name: "prefix holds the address", facts: { links: [link], prefixes: [near] }, tier: 1 },
    { name: "prefix elsewhere", facts: { links: [link], prefixes: [far] }, tier: 4 },
    { name: "link not usable", facts: { links: [{ ...link, isUsable: false }], prefixes: [near] }, tier: 4 },
    { name: "link back for a short time", facts: { links: [returning], prefixes: [near] }, tier: 2 },
    {
      name: "another link that has been up all the time",
      facts: { links: [returning, { ...link, index: 3 }], prefixes: [near, { ...near, linkIndex: 3 }] },
      tier: 1,
    },
    {
      name: "the named link back for a short time",
      facts: { links: [{ ...returning, name: "eth1" }], prefixes: [] },
      advertisements: named,
      tier: 2,
    },
    { name: "no link", facts: { links: [], prefixes: [] }, tier: 4 },
    { name: "truncated word", facts: { links: [], prefixes: [], isTruncated: true }, tier: 1 },
    {
      name: "the named link",
      facts: { links: [{ ...link, name: "eth1" }], prefixes: [] },
      advertisements: named,
      tier: 1,
    },
    {
      name: "another link than named",
      facts: { links: [{ ...link, name: "eth0" }], prefixes: [near] },
      advertisements: named,
      tier: 4,
    },
    { name: "names not told yet", facts: { links: [link], prefixes: [near] }, advertisements: named, tier: 1 },
    {
      name: "the named link down",
      facts: { links: [{ ...link, isUsable: false, name: "eth1" }], prefixes: [near] },
      advertisements: named,
      tier: 4,
    },
    {
      name: "open beside named",
      facts: { links: [{ ...link, name: "eth0" }], prefixes: [near] },
      advertisements: both,
      tier: 1,
    },
  ] as const) {
    it(`${name}: tier ${tier}`, () => {
      const services = groupService(["10.20.30.1"], advertisements === undefined ? {} : { advertisements });
      const decision = decideOne(group(services), view([{ name: "n1", word: word(["ready"], facts) }]));
      expect(decision.candidates.map((candidate) => candidate.tier)).to.deep.equal([tier]);
    });
  }

  it("wants a link for every address of the group", () => {
    const dual = group(groupService(["10.20.30.1", "2001:db8::1"]));
    const onlyFour = member("iris2", ["ready"], { links: [link], prefixes: [near] });
    expect(orderOf(dual, view([onlyFour, member("iris1")]))).to.deep.equal(["iris1", "iris2"]);
  });

  it("prefers no link when nobody has one", () => {
    const nobody = { links: [], prefixes: [] };
    const members = [member("iris1", ["ready"], nobody), member("iris2", ["ready"], nobody)];
    expect(orderOf(WEB, view(members))).to.deep.equal(["iris2", "iris1"]);
  });
});
