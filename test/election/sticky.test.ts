import { expect } from "chai";
import fc from "fast-check";
import type { AddressGroup } from "../../src/desired/group.ts";
import type { Decision, ElectionView, MemberView } from "../../src/election/decision.ts";
import { decide } from "../../src/election/elect.ts";
import { Election } from "../../src/election/election.ts";
import { type Holder, HolderBook, type Holders } from "../../src/election/holders.ts";
import { advertisement, labels } from "../desired/facts.ts";
import { groups, records, views } from "./arbitraries.ts";
import { goMember, groupService, ip, member, view } from "./views.ts";

const ADDRESS = ip("192.0.2.1");
const PREFERS_N3 = advertisement("sticky", {
  isSticky: true,
  preferredNodes: [{ weight: 1, preference: labels({ "kubernetes.io/hostname": "n3" }) }],
});
const STICKY = advertisement("sticky", { isSticky: true });

function groupOf(advertisements = [STICKY], facts: Partial<Parameters<typeof groupService>[1]> = {}): AddressGroup {
  return { key: ADDRESS, addresses: [ADDRESS], services: [groupService([ADDRESS], { advertisements, ...facts })] };
}

const held = (...holders: Holders) => new Map([[ADDRESS, holders]]);
const by = (node: string, term: number): Holder => ({ node, term });

function decided(group: AddressGroup, members: readonly MemberView[], facts: Partial<ElectionView> = {}): Decision {
  return decide([group], view(members, facts))[0] ?? expect.fail("no decision");
}

const ALL = ["n1", "n2", "n3"].map((name) => member(name));
/** Without holders. By hash n2 comes first, then n3, then n1. */
const [FIRST, SECOND, LAST] = decided(groupOf([advertisement("plain")]), ALL).candidates.map(({ node }) => node) as [
  string,
  string,
  string,
];

describe("a sticky group", () => {
  it("is led by who comes first as long as nobody has held it, in term 1", () => {
    const { leader, reason, sticky } = decided(groupOf(), ALL);
    expect({ leader, reason, sticky }).to.deep.equal({
      leader: FIRST,
      reason: "lowest-hash",
      sticky: { holder: FIRST, term: 1 },
    });
  });

  it("stays where it is although others would come first by hash", () => {
    const decision = decided(groupOf(), ALL, { holders: held(by(LAST, 4)) });
    expect(decision).to.include({ leader: LAST, second: FIRST, reason: "sticky" });
    expect(decision.sticky).to.deep.equal({ holder: LAST, term: 4, insteadOf: FIRST });
    expect(decision.candidates.map(({ node }) => node)).to.deep.equal([LAST, FIRST, SECOND]);
  });

  it("stays although an advertisement prefers another node", () => {
    const { leader, sticky } = decided(groupOf([PREFERS_N3]), ALL, { holders: held(by("n1", 2)) });
    expect({ leader, sticky }).to.deep.equal({ leader: "n1", sticky: { holder: "n1", term: 2, insteadOf: "n3" } });
  });

  it("stays on a node whose endpoint only terminates while it serves", () => {
    const local = { externalTrafficPolicy: "Local", readyNodes: new Set([FIRST]), terminatingNodes: new Set([LAST]) };
    const group = groupOf([STICKY], local as Parameters<typeof groupOf>[1]);
    expect(decided(group, ALL, { holders: held(by(LAST, 2)) })).to.include({ leader: LAST, reason: "sticky" });
  });

  for (const flag of ["settling", "cordoned", "stepping-down", "damped", "leaving"] as const) {
    it(`leaves a node that is ${flag}, in a new term`, () => {
      const members = ALL.map((one) => (one.name === LAST ? member(LAST, ["ready", flag]) : one));
      const decision = decided(groupOf(), members, { holders: held(by(LAST, 4)) });
      expect(decision).to.include({ leader: FIRST, reason: "lowest-hash" });
      expect(decision.sticky).to.deep.equal({ holder: FIRST, term: 5 });
    });
  }

  it("stays on a node that is cordoned like all others", () => {
    const members = ALL.map(({ name }) => member(name, ["ready", "cordoned"]));
    expect(decided(groupOf(), members, { holders: held(by(LAST, 4)) }).leader).to.equal(LAST);
  });

  it("leaves a node that is gone, in a new term", () => {
    const members = ALL.filter(({ name }) => name !== LAST);
    const { leader, sticky } = decided(groupOf(), members, { holders: held(by(LAST, 4)) });
    expect({ leader, sticky }).to.deep.equal({ leader: FIRST, sticky: { holder: FIRST, term: 5 } });
  });

  it("stays with whoever had it while the holder of the highest term may not lead", () => {
    const members = ALL.map((one) => (one.name === SECOND ? member(SECOND, ["ready", "settling"]) : one));
    const { leader, sticky } = decided(groupOf(), members, { holders: held(by(SECOND, 5), by(LAST, 4)) });
    expect({ leader, sticky }).to.deep.equal({ leader: LAST, sticky: { holder: LAST, term: 6, insteadOf: FIRST } });
  });

  it("gets a new term when two nodes have the highest", () => {
    const { leader, sticky } = decided(groupOf(), ALL, { holders: held(by("n1", 5), by("n2", 5)) });
    expect(leader).to.equal("n1");
    expect(sticky).to.include({ holder: "n1", term: 6 });
  });

  it("keeps the term of the last holder while nobody may lead", () => {
    const { leader, sticky } = decided(groupOf(), [], { holders: held(by("n1", 5)) });
    expect({ leader, sticky }).to.deep.equal({ leader: undefined, sticky: { holder: "n1", term: 5 } });
  });

  it("of several addresses is led by whoever held one of them last", () => {
    const other = ip("2001:db8::1");
    const group: AddressGroup = {
      key: ADDRESS,
      addresses: [ADDRESS, other],
      services: [groupService([ADDRESS, other], { advertisements: [STICKY] })],
    };
    const holders = new Map([
      [ADDRESS, [by(SECOND, 2)]],
      [other, [by(LAST, 7)]],
    ]);
    const { leader, sticky } = decided(group, ALL, { holders });
    expect({ leader, sticky }).to.deep.equal({ leader: LAST, sticky: { holder: LAST, term: 7, insteadOf: FIRST } });
  });

  it("is none without the annotation, and none under MetalLB's rule", () => {
    const holders = held(by(LAST, 4));
    const plain = decided(groupOf([advertisement("plain")]), ALL, { holders });
    expect(plain).to.include({ leader: FIRST }).and.not.to.have.property("sticky");
    const members = ["n1", "n2", "n3"].map(goMember);
    const metallb = decided(groupOf(), members, { holders, rule: "metallb-1" });
    expect(metallb).to.include({ leader: FIRST }).and.not.to.have.property("sticky");
  });

  it("of 40 nodes names its holder first, though it comes after all that a decision names", () => {
    const members = Array.from({ length: 40 }, (_, index) => member(`m${index}`));
    const { candidates } = decided(groupOf(), members);
    const named = new Set(candidates.map(({ node }) => node));
    const last = members.find(({ name }) => !named.has(name))?.name ?? expect.fail("all are named");
    const decision = decided(groupOf(), members, { holders: held(by(last, 3)) });
    expect(decision.candidates.map(({ node }) => node)).to.deep.equal([
      last,
      ...candidates.slice(0, 15).map(({ node }) => node),
    ]);
  });

  it("does not change when what its decision says is written down", () => {
    fc.assert(
      fc.property(groups, views, records, (list, rest, heard) => {
        const book = new HolderBook();
        book.take(heard, () => true, 0);
        const facts = { ...rest, holders: book.byIp };
        const before = decide(disjoint(list), facts);
        for (const { group, leader, sticky } of before) {
          if (leader === undefined || sticky === undefined) continue;
          book.take([{ addresses: group.addresses, node: leader, term: sticky.term }], () => true, 0);
        }
        expect(decide(disjoint(list), facts)).to.deep.equal(before);
      }),
    );
  });
});

/** No address is in two groups. */
function disjoint(list: readonly AddressGroup[]): readonly AddressGroup[] {
  const seen = new Set<string>();
  return list.filter(({ addresses }) => {
    const isNew = addresses.every((address) => !seen.has(address));
    for (const address of addresses) seen.add(address);
    return isNew;
  });
}

describe("Election", () => {
  it("comes to the decisions of the records, told which have changed", () => {
    fc.assert(
      fc.property(groups, views, fc.array(records, { maxLength: 4 }), (list, rest, heard) => {
        const separate = disjoint(list);
        const book = new HolderBook();
        const election = new Election();
        const facts = { ...rest, holders: book.byIp };
        election.advance(separate, facts, 1_000);
        for (const some of heard) {
          election.holdersChanged(book.take(some, () => true, 0));
          election.advance(separate, facts, 1_000);
          expect(election.isDone).to.equal(true);
          expect(election.decisions).to.deep.equal(decide(separate, facts));
        }
      }),
    );
  });

  it("leaves groups alone that no record is about", () => {
    const other: AddressGroup = { ...groupOf(), key: ip("192.0.2.2"), addresses: [ip("192.0.2.2")] };
    const book = new HolderBook();
    const election = new Election();
    const facts = view(ALL, { holders: book.byIp });
    election.advance([groupOf(), other], facts, 1_000);
    const before = election.decisions;
    election.holdersChanged(book.take([{ addresses: [ADDRESS], node: LAST, term: 1 }], () => true, 0));
    election.advance(
      election.decisions.map(({ group }) => group),
      facts,
      1_000,
    );
    expect(election.decisions[1]).to.equal(before[1]);
    expect(election.decisions[0]?.leader).to.equal(LAST);
  });
});
