import { expect } from "chai";
import { buildWord, type OwnFacts } from "../../src/election/own-word.ts";
import { initialStanding, stand } from "../../src/election/standing.ts";
import type { JudgedLink } from "../../src/election/usable-links.ts";
import { advertisement, pool, snapshot } from "../desired/facts.ts";
import { ethernetLink } from "../support/ethernet-link.ts";
import { prefix } from "./views.ts";

function judged(index: number, name: string, prefixes: readonly string[], isUsable = true): JudgedLink {
  const link = ethernetLink(index, name, { prefixes: prefixes.map(prefix) });
  return isUsable
    ? { link, isUsable, isReturning: false }
    : { link, isUsable, isReturning: false, reason: "no-carrier" };
}

const STANDING = initialStanding({ name: "n1", ignoresCordon: false, ignoresExcludeLabel: false, troubles: [] });
const LINKS = [
  judged(2, "eth0", ["192.0.2.0/24", "203.0.113.0/24", "2001:db8::/64"]),
  judged(3, "eth1", ["198.51.100.0/24"], false),
  judged(4, "eth2", ["203.0.113.0/25"]),
];
const POOLS = [pool("four", ["192.0.2.128/25", "198.51.100.7/32"]), pool("six", ["2001:db8::100/120"])];

function built(facts: Partial<OwnFacts>, nowMs = 0) {
  return buildWord(
    { standing: STANDING, links: LINKS, highestRule: "arpeggio-1", ruleInUse: "metallb-1", ...facts },
    nowMs,
  );
}

describe("buildWord", () => {
  it("lists only links and prefixes that hold a pool range", () => {
    const word = built({ snapshot: snapshot({ pools: POOLS }) });
    expect(word.links).to.deep.equal([
      { index: 2, isUsable: true, mac: "02:00:00:00:00:02" },
      { index: 3, isUsable: false, mac: "02:00:00:00:00:03" },
    ]);
    expect(word.prefixes).to.deep.equal([
      { linkIndex: 2, prefix: prefix("192.0.2.0/24") },
      { linkIndex: 2, prefix: prefix("2001:db8::/64") },
      { linkIndex: 3, prefix: prefix("198.51.100.0/24") },
    ]);
  });

  it("lists a link that an advertisement names, and then every name", () => {
    const advertisements = [advertisement("a", { interfaces: ["eth2"] })];
    const word = built({ snapshot: snapshot({ pools: POOLS, advertisements }) });
    expect(word.links.map(({ name }) => name)).to.deep.equal(["eth0", "eth1", "eth2"]);
    expect(word.prefixes.filter(({ linkIndex }) => linkIndex === 4)).to.deep.equal([]);
  });

  it("lists no link before the first snapshot", () => expect(built({}).links).to.deep.equal([]));

  it("says of a link that it is back for a short time only", () => {
    const links = [{ ...judged(2, "eth0", ["192.0.2.0/24"]), isReturning: true }];
    expect(built({ links, snapshot: snapshot({ pools: POOLS }) }).links[0]?.isReturning).to.equal(true);
  });

  it("leaves out a link that is excluded", () => {
    const excluded = [{ ...judged(2, "eth0", ["192.0.2.0/24"], false), reason: "excluded" } as const];
    expect(built({ links: excluded, snapshot: snapshot({ pools: POOLS }) }).links).to.deep.equal([]);
  });

  it("says its rules, and restarts and refuted deaths of 15 minutes, with the age of the latest in whole minutes", () => {
    const troubles = [-16, -1].map((minutes) => ({ kind: "restart", atMs: minutes * 60_000 }) as const);
    const standing = stand({ ...STANDING, troubles, readySinceMs: 0 }, { kind: "refuted-death" }, 11_000);
    expect(built({ standing }, 131_500)).to.deep.include({
      highestRule: "arpeggio-1",
      ruleInUse: "metallb-1",
      restarts: 1,
      refutes: 1,
      troubleAgeSeconds: 120,
    });
  });
});
