import { expect } from "chai";
import { RETURN_TIMING } from "../../src/election/return-timing.ts";
import {
  initialLinks,
  judgeLinks,
  type LinkRules,
  linksDeadlineMs,
  observeLinks,
} from "../../src/election/usable-links.ts";
import type { Link } from "../../src/net/link.ts";
import { ethernetLink } from "../support/ethernet-link.ts";
import { mac } from "./views.ts";

function link(name: string, facts: Partial<Link> = {}): Link {
  return ethernetLink(2, name, { mac: mac("02:00:00:00:00:01"), ...facts });
}

const ALL: LinkRules = { excluded: [], selected: [] };
const UP = link("eth0");
const DOWN = link("eth0", { hasCarrier: false });

/** Feeds lists of links at times, and says what is usable at the end. */
function usableAfter(
  steps: readonly (readonly [number, readonly Link[]])[],
  nowMs: number,
  rules = ALL,
): readonly string[] {
  let state = initialLinks(rules);
  for (const [atMs, links] of steps) state = observeLinks(state, links, atMs);
  return judgeLinks(state, nowMs)
    .filter(({ isUsable }) => isUsable)
    .map((judged) => judged.link.name);
}

describe("usable links", () => {
  it("knows none before the kernel spoke", () => expect(usableAfter([], 0)).to.deep.equal([]));

  it("counts a link that is up at start at once", () => expect(usableAfter([[0, [UP]]], 0)).to.deep.equal(["eth0"]));

  it("counts a change to down at once, and a change to up after 2 s", () => {
    const steps = [
      [0, [UP]],
      [100, [DOWN]],
      [200, [UP]],
    ] as const;
    expect(usableAfter(steps.slice(0, 2), 100)).to.deep.equal([]);
    expect(usableAfter(steps, 200 + RETURN_TIMING.linkHoldUpMs - 1)).to.deep.equal([]);
    expect(usableAfter(steps, 200 + RETURN_TIMING.linkHoldUpMs)).to.deep.equal(["eth0"]);
  });

  it("counts the 2 s from the last change to up, and does not begin again at other news", () => {
    const flapping = [
      [0, [DOWN]],
      [1_000, [UP]],
      [2_000, [DOWN]],
      [2_500, [UP]],
      [4_000, [link("eth0", { prefixes: [] })]],
    ] as const;
    expect(usableAfter(flapping, 4_499)).to.deep.equal([]);
    expect(usableAfter(flapping, 4_500)).to.deep.equal(["eth0"]);
  });

  it("makes a new link wait, even under a known index", () => {
    const other = link("eth9", { mac: mac("02:00:00:00:00:09") });
    expect(
      usableAfter(
        [
          [0, [UP]],
          [10, [UP, link("eth1", { index: 3 })]],
        ],
        10,
      ),
    ).to.deep.equal(["eth0"]);
    expect(
      usableAfter(
        [
          [0, [UP]],
          [10, [other]],
        ],
        10,
      ),
    ).to.deep.equal([]);
  });

  it("keeps a link that is renamed, or changes its MAC", () => {
    expect(
      usableAfter(
        [
          [0, [UP]],
          [10, [link("lan0")]],
        ],
        10,
      ),
    ).to.deep.equal(["lan0"]);
    const changed = link("eth0", { mac: mac("02:00:00:00:00:02") });
    expect(
      usableAfter(
        [
          [0, [UP]],
          [10, [changed]],
        ],
        10,
      ),
    ).to.deep.equal(["eth0"]);
  });

  describe("that were lost", () => {
    const SECOND_MS = 1_000;
    /** Lost and back a second later, at each of these seconds. */
    function lostAt(...seconds: readonly number[]) {
      return seconds.reduce(
        (state, second) =>
          observeLinks(observeLinks(state, [DOWN], second * SECOND_MS), [UP], (second + 1) * SECOND_MS),
        observeLinks(initialLinks(ALL), [UP], 0),
      );
    }
    const isReturning = (state: ReturnType<typeof lostAt>, seconds: number) =>
      judgeLinks(state, seconds * SECOND_MS)[0]?.isReturning;

    it("count in full 10 s after they are back", () => {
      expect(isReturning(lostAt(), 5)).to.equal(false);
      const state = lostAt(100);
      // Still held up: it is not answered on.
      expect(judgeLinks(state, 102_999)[0]).to.include({ isUsable: false, isReturning: false });
      expect(judgeLinks(state, 103_000)[0]).to.include({ isUsable: true, isReturning: true });
      expect(linksDeadlineMs(state, 103_000)).to.equal(111_000);
      expect(isReturning(state, 111)).to.equal(false);
      expect(linksDeadlineMs(state, 111_000)).to.equal(undefined);
    });

    it("count in full a minute after the third loss in ten minutes, and two after the fourth", () => {
      expect(isReturning(lostAt(100, 200), 211)).to.equal(false);
      expect(isReturning(lostAt(100, 200, 300), 359)).to.equal(true);
      expect(isReturning(lostAt(100, 200, 300), 360)).to.equal(false);
      expect(isReturning(lostAt(100, 200, 300, 400), 519)).to.equal(true);
      expect(isReturning(lostAt(100, 200, 300, 400), 520)).to.equal(false);
    });

    it("are forgotten ten minutes later, and with another link under their number", () => {
      expect(isReturning(lostAt(100, 200, 900), 912)).to.equal(false);
      const other = link("eth9", { mac: mac("02:00:00:00:00:09") });
      const state = observeLinks(lostAt(100, 200, 300), [other], 310_000);
      expect(isReturning(state, 313)).to.equal(false);
    });

    it("are those that went down, not those that never were up", () => {
      const never = observeLinks(observeLinks(initialLinks(ALL), [DOWN], 0), [UP], 1_000);
      expect(isReturning(never, 4)).to.equal(false);
    });
  });

  it("waits as long as other numbers say", () => {
    const timing = { ...RETURN_TIMING, linkHoldUpMs: 500, linkReturnMs: 3_000 };
    const lost = observeLinks(observeLinks(initialLinks(ALL, timing), [UP], 0), [DOWN], 100);
    const back = observeLinks(lost, [UP], 200);
    const judged = [699, 700, 3_199, 3_200].map((atMs) => judgeLinks(back, atMs)[0]);
    expect(judged.map((one) => one?.isUsable)).to.deep.equal([false, true, true, true]);
    expect(judged.map((one) => one?.isReturning)).to.deep.equal([false, true, true, false]);
  });

  it("says when a link begins to count", () => {
    const state = observeLinks(observeLinks(initialLinks(ALL), [DOWN], 0), [UP], 100);
    expect(linksDeadlineMs(state, 100)).to.equal(100 + RETURN_TIMING.linkHoldUpMs);
    expect(linksDeadlineMs(state, 100 + RETURN_TIMING.linkHoldUpMs)).to.equal(undefined);
  });

  for (const { facts, reason, rules } of [
    { facts: { isLoopback: true, isEthernet: false }, reason: "loopback" },
    { facts: { isEthernet: false }, reason: "not-ethernet" },
    { facts: { isBroadcast: false }, reason: "no-broadcast" },
    { facts: { isNoArp: true }, reason: "no-arp" },
    { facts: { masterKind: "other" }, reason: "has-master" },
    { facts: { masterKind: "vrf" }, reason: undefined },
    { facts: { isAdminUp: false, hasCarrier: false }, reason: "admin-down" },
    { facts: { hasCarrier: false }, reason: "no-carrier" },
    { facts: {}, reason: "excluded", rules: { excluded: [/^veth.*/, /^eth/], selected: ["eth0"] } },
    { facts: {}, reason: "not-selected", rules: { excluded: [], selected: ["eth1"] } },
    { facts: {}, reason: undefined, rules: { excluded: [/^veth.*/], selected: ["eth0"] } },
  ] as const) {
    it(`${JSON.stringify(facts)}${rules === undefined ? "" : " under rules"}: ${reason ?? "usable"}`, () => {
      const state = observeLinks(initialLinks(rules ?? ALL), [link("eth0", facts)], 0);
      const [judged] = judgeLinks(state, 0);
      expect([judged?.isUsable, judged?.reason]).to.deep.equal([reason === undefined, reason]);
    });
  }
});
