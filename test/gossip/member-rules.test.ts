/** The rules of memberlist's state.go:940-1309, step by step. */
import { expect } from "chai";
import {
  isUsableAlive,
  type Judge,
  judgeAlive,
  judgeDead,
  judgeSuspect,
  refutingIncarnation,
  type UsableAlive,
  withPort,
} from "../../src/gossip/member-rules.ts";
import type { Endpoint } from "../../src/gossip/message.ts";
import type { Member } from "../../src/gossip/swim-event.ts";
import { areCompatible, OWN_VERSIONS } from "../../src/gossip/verify-protocol.ts";
import type { Ip } from "../../src/net/ip.ts";

const HERE: Endpoint = { ip: "192.0.2.2" as Ip, port: 7946 };
const THERE: Endpoint = { ip: "192.0.2.9" as Ip, port: 7946 };
const JUDGE: Judge = { selfName: "me", isLeaving: false, nowMs: 100_000, deadNodeReclaimMs: 0 };

function member(change: Partial<Member> = {}): Member {
  return {
    name: "n2",
    endpoint: HERE,
    state: "alive",
    incarnation: 5,
    meta: Uint8Array.of(1),
    versions: OWN_VERSIONS,
    sinceMs: 0,
    ...change,
  };
}

function alive(change: Partial<UsableAlive> = {}): UsableAlive {
  return {
    kind: "alive",
    node: "n2",
    endpoint: HERE,
    incarnation: 6,
    meta: Uint8Array.of(1),
    versions: OWN_VERSIONS,
    ...change,
  };
}

const conflict = (known: Member) => ({ kind: "conflict", member: known });
const versions = (protocolMin: number, protocolMax: number) => ({ ...OWN_VERSIONS, protocolMin, protocolMax });
const suspect = (incarnation: number, node = "n2") => ({ kind: "suspect", node, incarnation, from: "n3" }) as const;
const dead = (incarnation: number, node = "n2", from = "n3") => ({ kind: "dead", node, incarnation, from }) as const;
const record = (change: Partial<Member>) => {
  const { name, endpoint, meta, incarnation, state, versions: held } = member(change);
  return { name, endpoint, meta, incarnation, state, versions: held };
};

describe("judgeAlive", () => {
  const me = member({ name: "me" });
  const reclaims = { ...JUDGE, deadNodeReclaimMs: 30_000 };
  for (const { name, known, news, judge = JUDGE, verdict } of [
    { name: "a newcomer", known: undefined, news: alive(), verdict: { kind: "accept", change: "joined" } },
    {
      name: "a newcomer at incarnation 0, which never gets in",
      known: undefined,
      news: alive({ incarnation: 0 }),
      verdict: { kind: "ignore", why: "stale" },
    },
    {
      name: "the known incarnation again",
      known: member(),
      news: alive({ incarnation: 5 }),
      verdict: { kind: "ignore", why: "stale" },
    },
    { name: "a higher incarnation", known: member(), news: alive(), verdict: { kind: "accept", change: "updated" } },
    {
      name: "the refutation of a suspicion",
      known: member({ state: "suspect" }),
      news: alive(),
      verdict: { kind: "accept", change: "alive-again" },
    },
    {
      name: "the incarnation that is suspected",
      known: member({ state: "suspect" }),
      news: alive({ incarnation: 5 }),
      verdict: { kind: "ignore", why: "stale" },
    },
    {
      name: "the refutation of a death",
      known: member({ state: "dead" }),
      news: alive(),
      verdict: { kind: "accept", change: "joined" },
    },
    {
      name: "one that left and came back",
      known: member({ state: "left" }),
      news: alive(),
      verdict: { kind: "accept", change: "joined" },
    },
    {
      name: "another address of a living member, before the incarnation is looked at",
      known: member(),
      news: alive({ endpoint: THERE, incarnation: 1 }),
      verdict: conflict(member()),
    },
    {
      name: "another port of a living member",
      known: member(),
      news: alive({ endpoint: { ...HERE, port: 7947 } }),
      verdict: conflict(member()),
    },
    {
      name: "another address of a suspect",
      known: member({ state: "suspect" }),
      news: alive({ endpoint: THERE }),
      verdict: conflict(member({ state: "suspect" })),
    },
    {
      name: "another address of a dead member, as MetalLB is configured",
      known: member({ state: "dead" }),
      news: alive({ endpoint: THERE }),
      verdict: conflict(member({ state: "dead" })),
    },
    {
      name: "another address of a member that was dead long enough, whatever its incarnation",
      known: member({ state: "dead" }),
      news: alive({ endpoint: THERE, incarnation: 1 }),
      judge: reclaims,
      verdict: { kind: "accept", change: "joined" },
    },
    {
      name: "another address of a member that is dead for too short",
      known: member({ state: "dead", sinceMs: 90_000 }),
      news: alive({ endpoint: THERE }),
      judge: reclaims,
      verdict: conflict(member({ state: "dead", sinceMs: 90_000 })),
    },
    {
      name: "another address of one that left, whatever its incarnation",
      known: member({ state: "left" }),
      news: alive({ endpoint: THERE, incarnation: 1 }),
      verdict: { kind: "accept", change: "joined" },
    },
    {
      name: "our own words, heard again",
      known: me,
      news: alive({ node: "me", incarnation: 5 }),
      verdict: { kind: "ignore", why: "echo" },
    },
    {
      name: "our own words of a former time",
      known: me,
      news: alive({ node: "me", incarnation: 4 }),
      verdict: { kind: "ignore", why: "stale" },
    },
    {
      name: "our incarnation with metadata that is not ours",
      known: me,
      news: alive({ node: "me", incarnation: 5, meta: Uint8Array.of(2) }),
      verdict: { kind: "refute" },
    },
    {
      name: "our incarnation with versions that are not ours",
      known: me,
      news: alive({ node: "me", incarnation: 5, versions: { ...OWN_VERSIONS, protocolCurrent: 3 } }),
      verdict: { kind: "refute" },
    },
    {
      name: "an incarnation of ours that we never had",
      known: me,
      news: alive({ node: "me" }),
      verdict: { kind: "refute" },
    },
    {
      name: "our name at another address",
      known: me,
      news: alive({ node: "me", endpoint: THERE }),
      verdict: conflict(me),
    },
    {
      name: "a late word about ourselves after we left",
      known: me,
      news: alive({ node: "me" }),
      judge: { ...JUDGE, isLeaving: true },
      verdict: { kind: "ignore", why: "leaving" },
    },
  ]) {
    it(`of ${name}: ${verdict.kind}`, () => expect(judgeAlive(known, news, judge)).to.deep.equal(verdict));
  }
});

describe("isUsableAlive", () => {
  for (const { name, news, isUsable } of [
    { name: "MetalLB's versions", news: alive(), isUsable: true },
    { name: "least version 0", news: alive({ versions: versions(0, 5) }), isUsable: false },
    { name: "greatest version 0", news: alive({ versions: versions(1, 0) }), isUsable: false },
    { name: "versions that exclude each other", news: alive({ versions: versions(3, 2) }), isUsable: false },
    { name: "no name", news: alive({ node: "" }), isUsable: false },
    { name: "a name of 253 bytes", news: alive({ node: "n".repeat(253) }), isUsable: true },
    { name: "a name of 254 bytes in 127 characters", news: alive({ node: "ü".repeat(127) }), isUsable: false },
    { name: "metadata of 512 bytes", news: alive({ meta: new Uint8Array(512) }), isUsable: true },
    { name: "metadata of 513 bytes", news: alive({ meta: new Uint8Array(513) }), isUsable: false },
  ]) {
    it(`${isUsable ? "takes" : "refuses"} ${name}`, () => expect(isUsableAlive(news)).to.equal(isUsable));
  }

  it("refuses an alive whose versions were cut short", () => {
    const { versions: _versions, ...bare } = alive();
    expect(isUsableAlive(bare)).to.equal(false);
  });
});

describe("judgeSuspect", () => {
  const me = member({ name: "me" });
  for (const { name, known, news, isTimed = false, verdict } of [
    { name: "nobody", known: undefined, news: suspect(5), verdict: { kind: "ignore", why: "unknown" } },
    { name: "a former incarnation", known: member(), news: suspect(4), verdict: { kind: "ignore", why: "stale" } },
    { name: "a living member", known: member(), news: suspect(5), verdict: { kind: "accept" } },
    { name: "a later incarnation", known: member(), news: suspect(9), verdict: { kind: "accept" } },
    {
      name: "a suspect",
      known: member({ state: "suspect" }),
      news: suspect(5),
      isTimed: true,
      verdict: { kind: "confirm" },
    },
    {
      name: "a dead member",
      known: member({ state: "dead" }),
      news: suspect(5),
      verdict: { kind: "ignore", why: "not-alive" },
    },
    {
      name: "one that left",
      known: member({ state: "left" }),
      news: suspect(5),
      verdict: { kind: "ignore", why: "not-alive" },
    },
    { name: "us", known: me, news: suspect(5, "me"), verdict: { kind: "refute" } },
    { name: "us, in the past", known: me, news: suspect(4, "me"), verdict: { kind: "ignore", why: "stale" } },
  ]) {
    it(`of ${name}: ${verdict.kind}`, () => expect(judgeSuspect(known, news, isTimed, JUDGE)).to.deep.equal(verdict));
  }
});

describe("judgeDead", () => {
  const me = member({ name: "me" });
  const leaves = { ...JUDGE, isLeaving: true };
  for (const { name, known, news, judge = JUDGE, verdict } of [
    { name: "nobody", known: undefined, news: dead(5), verdict: { kind: "ignore", why: "unknown" } },
    { name: "a former incarnation", known: member(), news: dead(4), verdict: { kind: "ignore", why: "stale" } },
    { name: "a living member", known: member(), news: dead(5), verdict: { kind: "accept", state: "dead" } },
    {
      name: "a suspect",
      known: member({ state: "suspect" }),
      news: dead(5),
      verdict: { kind: "accept", state: "dead" },
    },
    {
      name: "one who says so itself",
      known: member(),
      news: dead(5, "n2", "n2"),
      verdict: { kind: "accept", state: "left" },
    },
    {
      name: "one dead already",
      known: member({ state: "dead" }),
      news: dead(7),
      verdict: { kind: "ignore", why: "not-alive" },
    },
    {
      name: "one that left already",
      known: member({ state: "left" }),
      news: dead(7),
      verdict: { kind: "ignore", why: "not-alive" },
    },
    { name: "us", known: me, news: dead(5, "me"), verdict: { kind: "refute" } },
    { name: "us, as if we had said it", known: me, news: dead(5, "me", "me"), verdict: { kind: "refute" } },
    {
      name: "us, while we leave",
      known: me,
      news: dead(5, "me", "me"),
      judge: leaves,
      verdict: { kind: "accept", state: "left" },
    },
  ]) {
    it(`of ${name}: ${verdict.kind}`, () => expect(judgeDead(known, news, judge)).to.deep.equal(verdict));
  }
});

describe("refutingIncarnation", () => {
  it("exceeds both ours and the accused one", () => {
    expect(refutingIncarnation(3, 9)).to.equal(10);
    expect(refutingIncarnation(9, 3)).to.equal(10);
  });

  it("stays within 32 bits", () => {
    expect(refutingIncarnation(1, 0xffff_ffff)).to.equal(0xffff_ffff);
  });
});

describe("withPort", () => {
  it("reads port 0 as our own", () => {
    expect(withPort({ ...THERE, port: 0 }, 7946)).to.deep.equal(THERE);
    expect(withPort({ ...THERE, port: 1 }, 7946)).to.deep.equal({ ...THERE, port: 1 });
  });
});

describe("areCompatible", () => {
  const serf = { ...OWN_VERSIONS, delegateMin: 2, delegateMax: 5, delegateCurrent: 5 };

  it("holds among members that say the same", () => {
    expect(areCompatible([record({})], [member({ name: "me" })])).to.equal(true);
  });

  it("fails with a member of serf, as measured with Go", () => {
    expect(areCompatible([record({ versions: serf })], [member({ name: "me" })])).to.equal(false);
  });

  it("fails with a dead member whose version is out of the living ones' range", () => {
    expect(areCompatible([record({ state: "dead", versions: serf })], [member({ name: "me" })])).to.equal(false);
  });

  it("fails with a record whose versions were cut short", () => {
    const { versions: _versions, ...bare } = record({});
    expect(areCompatible([bare], [member({ name: "me" })])).to.equal(false);
  });
});
