import { expect } from "chai";
import fc from "fast-check";
import { listDifference } from "../../src/base/list-difference.ts";
import type { AddressGroup } from "../../src/desired/group.ts";
import type { Decision, ElectionView } from "../../src/election/decision.ts";
import { decide } from "../../src/election/elect.ts";
import { Election } from "../../src/election/election.ts";
import type { Ip } from "../../src/net/ip.ts";
import { groups, views } from "./arbitraries.ts";
import { apart, group, groupService, member, view } from "./views.ts";

const PLENTY = 1_000_000;

/** No two with one key, as `derive` makes them. */
const lists: fc.Arbitrary<readonly AddressGroup[]> = groups.map((list) => [
  ...new Map(list.map((one) => [one.key, one])).values(),
]);
/** Some of the groups stay from one list to the next. */
const histories = fc
  .tuple(
    lists,
    fc.array(fc.tuple(fc.option(lists, { freq: 3 }), views, fc.integer({ min: 1, max: 60 })), { minLength: 1 }),
  )
  .map(([first, steps]) => {
    let now = first;
    return steps.map(([next, ofView, budget]) => {
      if (next !== null)
        now = [...next, ...now.filter(({ key }) => next.every((other) => other.key !== key))].slice(0, 5);
      return { list: now, ofView, budget };
    });
  });

function decideAll(election: Election, list: readonly AddressGroup[], ofView: ElectionView, budget = PLENTY): void {
  do election.advance(list, ofView, budget);
  while (!election.isDone);
}

function addressesOf(decisions: readonly Decision[]): ReadonlySet<Ip> {
  return new Set(decisions.flatMap((decision) => decision.group.addresses));
}

describe("Election", () => {
  it("comes to the decisions of `decide`, however small its turns, and names every change once", () => {
    fc.assert(
      fc.property(histories, (history) => {
        const election = new Election();
        let followed: readonly Decision[] = [];
        for (const { list, ofView, budget } of history) {
          decideAll(election, list, ofView, budget);
          expect(election.decisions).to.deep.equal(decide(list, ofView));
          const changes = election.takeChanges();
          const difference = listDifference(followed, election.decisions);
          expect([...changes.gone]).to.have.members([...difference.gone]);
          expect([...changes.come]).to.have.members([...difference.come]);
          followed = election.decisions;
        }
      }),
    );
  });

  it("lets no address that was decided go without a decision while it is among the groups", () => {
    fc.assert(
      fc.property(histories, (history) => {
        const election = new Election();
        for (const { list: any, ofView } of history) {
          const list = apart(any);
          const before = addressesOf(election.decisions);
          const wanted = new Set(list.flatMap(({ addresses }) => addresses));
          election.advance(list, ofView, 1);
          const after = addressesOf(election.decisions);
          for (const ip of before) if (wanted.has(ip)) expect(after.has(ip), ip).to.equal(true);
        }
      }),
    );
  });

  it("gives the same list for an equal view", () => {
    fc.assert(
      fc.property(lists, fc.array(views, { minLength: 1 }), (list, history) => {
        const election = new Election();
        for (const ofView of history) {
          decideAll(election, list, ofView);
          const { decisions } = election;
          decideAll(election, list, structuredClone(ofView));
          expect(election.decisions).to.equal(decisions);
        }
      }),
    );
  });

  it("decides first what a member led that is gone, and lets the rest stand until its turn", () => {
    const list = Array.from({ length: 40 }, (_, number) => group(groupService([`192.0.2.${number + 1}`])));
    const election = new Election();
    const three = ["n1", "n2", "n3"].map((name) => member(name));
    decideAll(election, list, view(three));
    const orphans = election.decisions.filter(({ leader }) => leader === "n2").length;
    expect(orphans).to.be.within(5, 20);
    election.takeChanges();
    let turns = 0;
    let decided = 0;
    const two = view(three.filter(({ name }) => name !== "n2"));
    for (; decided < orphans; turns++) {
      election.advance(list, two, 60);
      const { gone } = election.takeChanges();
      decided += gone.length;
      expect(gone.filter(({ leader }) => leader !== "n2").length, "others wait").to.equal(
        Math.max(0, decided - orphans),
      );
      expect(election.decisions).to.have.length(40);
    }
    expect(turns).to.be.above(2);
    expect(election.isDone).to.equal(false);
  });

  it("first decides what nobody leads among all that is new", () => {
    const election = new Election();
    const list = Array.from({ length: 10 }, (_, number) => group(groupService([`192.0.2.${number + 1}`])));
    election.advance(list, view([member("n1")]), 60);
    expect(election.decisions.length).to.be.within(1, 9);
    decideAll(election, list, view([member("n1")]));
    expect(election.decisions).to.have.length(10);
  });
});
