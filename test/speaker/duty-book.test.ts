import { expect } from "chai";
import fc from "fast-check";
import { dutiesOf } from "../../speaker/duties.ts";
import { type BookView, DutyBook } from "../../speaker/duty-book.ts";
import { LeadershipBook } from "../../speaker/leadership.ts";
import type { Duty } from "../../src/announcer/ports.ts";
import { type ListDifference, listDifference } from "../../src/base/list-difference.ts";
import type { AddressGroup } from "../../src/desired/group.ts";
import type { Decision } from "../../src/election/decision.ts";
import { decide } from "../../src/election/elect.ts";
import { RankMemory } from "../../src/election/rank-memory.ts";
import type { Ip } from "../../src/net/ip.ts";
import { apart, group, groupService, ip, member, view } from "../election/views.ts";

const NAMES = ["n1", "n2", "n3"];
const ADDRESSES = ["192.0.2.1", "192.0.2.2", "198.51.100.1", "2001:db8::1"];
const LABELS = [{ zone: "a" }, { zone: "b" }];
const GROUPS: readonly AddressGroup[] = [
  group(groupService(["192.0.2.1", "2001:db8::1"])),
  group(groupService(["192.0.2.2"])),
  group(groupService(["198.51.100.1"])),
  group(groupService(["192.0.2.1"])),
  group(groupService(["192.0.2.2", "198.51.100.1"])),
];

const steps = fc.array(
  fc.record({
    list: fc.shuffledSubarray([...GROUPS]).map(apart),
    members: fc.subarray(NAMES),
    ours: fc.subarray(NAMES),
    orphans: fc.subarray(ADDRESSES),
    answering: fc.subarray(ADDRESSES),
    incarnation: fc.constantFrom(1, 1, 1, 2),
    ownLabels: fc.constantFrom(...LABELS),
    wasReplaced: fc.integer({ min: 0, max: 4 }).map((number) => number === 0),
    saysGoodbye: fc.integer({ min: 0, max: 4 }).map((number) => number === 0),
    isReady: fc.integer({ min: 0, max: 4 }).map((number) => number > 0),
  }),
  { maxLength: 12 },
);

describe("DutyBook", () => {
  it("has the duties that are worked out of the last decisions alone", () => {
    let duties = 0;
    fc.assert(
      fc.property(steps, (history) => {
        const book = new DutyBook();
        const leadership = new LeadershipBook();
        const memory = new RankMemory();
        const told = new Map<Ip, Duty>();
        let decisions: readonly Decision[] = [];
        let answering: ReadonlySet<Ip> = new Set();
        let ours: ReadonlySet<string> = new Set();
        let orphans: ReadonlyMap<Ip, unknown> = new Map();
        for (const step of history) {
          const next = decide(step.list, view(step.members.map((name) => member(name))), memory);
          const changes = listDifference(decisions, next);
          decisions = next;
          leadership.follow(changes, 0);
          const nowAnswering = new Set(step.answering.map(ip));
          for (const address of ADDRESSES.map(ip)) {
            if (nowAnswering.has(address) !== answering.has(address)) book.touch(address);
            if (step.orphans.map(ip).includes(address) !== orphans.has(address)) book.touch(address);
          }
          orphans = new Map(step.orphans.map((address) => [ip(address), {}]));
          answering = nowAnswering;
          if (step.ours.join() !== [...ours].join()) ours = new Set(step.ours);
          const { incarnation, ownLabels, wasReplaced, saysGoodbye, isReady } = step;
          const whole: BookView = {
            self: "n1",
            incarnation,
            ownLabels,
            hasLeases: true,
            wasReplaced,
            saysGoodbye,
            isReady,
            answering,
            ours,
            orphans,
            leadership: leadership.byIp,
          };
          const take = ({ gone, come }: ListDifference<Duty>): void => {
            for (const duty of gone) if (told.get(duty.ip) === duty) told.delete(duty.ip);
            for (const duty of come) told.set(duty.ip, duty);
          };
          take(book.follow(changes, whole, 1).changes);
          while (!book.isDone) take(book.follow({ gone: [], come: [] }, whole, 1).changes);
          const given = ours;
          const expected = isReady ? dutiesOf(decisions, { ...whole, ours: given }) : [];
          duties += expected.length;
          expect([...told.values()]).to.have.deep.members([...expected]);
        }
      }),
      { numRuns: 300 },
    );
    expect(duties, "a run without duties proves nothing").to.be.above(100);
  });

  it("names a member that comes back in the claims of what it led, some in a turn", () => {
    const book = new DutyBook();
    const leadership = new LeadershipBook();
    const flags = { wasReplaced: false, saysGoodbye: false, isReady: true };
    const rest = { self: "n1", incarnation: 1, ownLabels: {}, hasLeases: true, ...flags, orphans: new Map() };
    const whole = { ...rest, answering: new Set<Ip>(), leadership: leadership.byIp, ours: new Set<string>() };
    const groups = GROUPS.slice(0, 3);
    const before = decide(groups, view([member("n2")]));
    const after = decide(groups, view([member("n1")]));
    for (const changes of [
      { gone: [], come: before },
      { gone: before, come: after },
    ]) {
      leadership.follow(changes, 0);
      book.follow(changes, whole, 0);
    }
    const returned = { ...whole, ours: new Set(["n2"]) };
    const nothing = { gone: [], come: [] };
    expect(book.follow(nothing, returned, 0).changes).to.deep.equal(nothing);
    const claimed: Duty[] = [];
    for (let turn = 0; turn < groups.length; turn++) {
      expect(book.isDone).to.equal(false);
      claimed.push(...book.follow(nothing, returned, 1).changes.come);
    }
    expect(book.isDone).to.equal(true);
    expect(claimed.map(({ ip: address, previousLeader }) => `${address} ${previousLeader}`)).to.have.members(
      ADDRESSES.map((address) => `${address} n2`),
    );
  });
});
