import { expect } from "chai";
import fc from "fast-check";
import { VirtualClock } from "../../src/base/clock.ts";
import {
  acceptedKeys,
  changeKeys,
  hearKey,
  type KeyState,
  LINGER_MS,
  nextKeyTickMs,
  reportKeys,
  SEND_AFTER_MS,
  startKeys,
  tickKeys,
} from "../../src/gossip/key-rotation.ts";
import { RotatingKeys } from "../../src/gossip/rotating-keys.ts";
import { allHoldAlive, Cluster, ipOfNode, type Node, nodeAt } from "./cluster.ts";

const OLD = new Uint8Array(32).fill(1);
const NEW = new Uint8Array(32).fill(2);
const THIRD = new Uint8Array(32).fill(3);

/** `sending | the others that are understood` */
function keysOf(state: KeyState): string {
  const [first, ...others] = acceptedKeys(state).map((key) => key[0]);
  return `${first} | ${others.join(" ")}`;
}

describe("key rotation", () => {
  it("has one key when there is one file", () => {
    const state = startKeys({ current: OLD }, 0);
    expect(keysOf(state)).to.equal("1 | ");
    expect(nextKeyTickMs(state)).to.equal(undefined);
  });

  it("understands a new key at once, and sends with it after 3 minutes", () => {
    const changed = changeKeys(startKeys({ current: OLD }, 0), { current: NEW, previous: OLD }, 1_000);
    expect(keysOf(changed)).to.equal("1 | 2");
    expect(nextKeyTickMs(changed)).to.equal(181_000);
    expect(tickKeys(changed, 180_999)).to.equal(changed);
    const switched = tickKeys(changed, 181_000);
    expect(keysOf(switched)).to.equal("2 | 1");
    expect(nextKeyTickMs(switched)).to.equal(undefined);
  });

  it("does not hurry because somebody else sends with it already", () => {
    const changed = changeKeys(startKeys({ current: OLD }, 0), { current: NEW, previous: OLD }, 0);
    expect(hearKey(changed, NEW)).to.equal(changed);
  });

  it("of a node that starts meanwhile sends with the previous key until it hears the new one", () => {
    const started = startKeys({ current: NEW, previous: OLD }, 0);
    expect(keysOf(started)).to.equal("1 | 2");
    expect(hearKey(started, OLD)).to.equal(started);
    expect(keysOf(hearKey(started, NEW))).to.equal("2 | 1");
  });

  it("of nodes that all start meanwhile ends all the same", () => {
    const started = startKeys({ current: NEW, previous: OLD }, 0);
    expect(keysOf(tickKeys(started, SEND_AFTER_MS))).to.equal("2 | 1");
  });

  it("understands a key that has left the files until everybody must have seen that", () => {
    const changed = changeKeys(startKeys({ current: OLD }, 0), { current: NEW }, 0);
    expect(keysOf(changed)).to.equal("1 | 2");
    const switched = tickKeys(changed, SEND_AFTER_MS);
    expect(keysOf(switched)).to.equal("2 | 1");
    expect(nextKeyTickMs(switched)).to.equal(LINGER_MS);
    expect(keysOf(tickKeys(switched, LINGER_MS))).to.equal("2 | ");
  });

  it("goes back when the file does", () => {
    const changed = changeKeys(startKeys({ current: OLD }, 0), { current: NEW, previous: OLD }, 0);
    const back = changeKeys(changed, { current: OLD }, 60_000);
    expect(keysOf(tickKeys(back, SEND_AFTER_MS))).to.equal("1 | 2");
    expect(keysOf(tickKeys(back, 60_000 + LINGER_MS))).to.equal("1 | ");
  });

  it("begins anew with a third key, and understands all three", () => {
    const changed = changeKeys(startKeys({ current: OLD }, 0), { current: NEW, previous: OLD }, 0);
    const again = changeKeys(changed, { current: THIRD, previous: NEW }, 100_000);
    expect(keysOf(tickKeys(again, SEND_AFTER_MS))).to.equal("1 | 3 2");
    expect(keysOf(tickKeys(again, 100_000 + SEND_AFTER_MS))).to.equal("3 | 2 1");
  });

  it("does not begin anew when the previous key alone is added or removed", () => {
    const changed = changeKeys(startKeys({ current: OLD }, 0), { current: NEW }, 0);
    const again = changeKeys(changed, { current: NEW, previous: OLD }, 100_000);
    expect(keysOf(tickKeys(again, SEND_AFTER_MS))).to.equal("2 | 1");
  });

  it("is told by where the keys stand, and nothing of the keys", () => {
    expect(reportKeys(startKeys({ current: OLD }, 0))).to.deep.equal({
      sendsWith: "current",
      accepts: [{ place: "current" }],
    });
    const changed = changeKeys(startKeys({ current: OLD }, 0), { current: NEW, previous: OLD }, 1_000);
    expect(reportKeys(changed)).to.deep.equal({
      sendsWith: "previous",
      accepts: [{ place: "previous" }, { place: "current" }],
      switch: { atMs: 1_000 + SEND_AFTER_MS, whenHeard: false },
    });
    const gone = changeKeys(tickKeys(changed, 200_000), { current: NEW }, 200_000);
    expect(reportKeys(gone)).to.deep.equal({
      sendsWith: "current",
      accepts: [{ place: "current" }, { place: "former", untilMs: 200_000 + LINGER_MS }],
    });
    const overwritten = changeKeys(startKeys({ current: OLD }, 0), { current: NEW }, 0);
    expect(reportKeys(overwritten).accepts).to.deep.equal([
      { place: "former", untilMs: LINGER_MS },
      { place: "current" },
    ]);
    expect(reportKeys(startKeys({ current: NEW, previous: OLD }, 0)).switch?.whenHeard).to.equal(true);
  });

  it("always understands what is in the files, and what it sends with", () => {
    const key = fc.constantFrom(OLD, NEW, THIRD);
    const files = fc.record({ current: key, previous: key }, { requiredKeys: ["current"] });
    const step = fc.record({ files, waitMs: fc.integer({ min: 0, max: 400_000 }), heard: key });
    fc.assert(
      fc.property(files, fc.array(step), (first, steps) => {
        let nowMs = 0;
        let state = startKeys(first, nowMs);
        for (const { files: next, waitMs, heard } of steps) {
          nowMs += waitMs;
          state = changeKeys(hearKey(tickKeys(state, nowMs), heard), next, nowMs);
          const accepted = acceptedKeys(state);
          expect(accepted[0]).to.equal(state.sending);
          expect(accepted).to.deep.include(next.current);
          if (next.previous !== undefined) expect(accepted).to.deep.include(next.previous);
        }
        const settled = tickKeys(tickKeys(state, nowMs + SEND_AFTER_MS), nowMs + LINGER_MS);
        expect(settled.sending).to.deep.equal(settled.files.current);
        expect(nextKeyTickMs(settled)).to.equal(undefined);
      }),
    );
  });
});

describe("RotatingKeys", () => {
  it("tells what happens, each thing once", () => {
    const clock = new VirtualClock();
    const told: string[] = [];
    const keys = new RotatingKeys({ current: OLD }, clock, (news) => told.push(`${clock.nowMs()} ${news}`));
    keys.change({ current: OLD });
    clock.advance(10_000);
    keys.change({ current: NEW, previous: OLD });
    keys.change({ current: NEW, previous: OLD });
    clock.advance(1_000_000);
    keys.change({ current: NEW });
    clock.advance(1_000_000);
    expect(told).to.deep.equal(["10000 accepted", "190000 sending"]);
    expect(keys.keyring.keys).to.deep.equal([NEW]);
    expect(clock.nextMs()).to.equal(undefined);
  });
});

describe("a gossip cluster whose key is exchanged", () => {
  const files = { current: NEW, previous: OLD };
  let cluster: Cluster;
  let keys: RotatingKeys[];

  function start(index: number, current: Uint8Array, previous?: Uint8Array): Node {
    const own = new RotatingKeys(previous === undefined ? { current } : { current, previous }, cluster.clock, () => {});
    const node = cluster.add(`n${index + 1}`, ipOfNode(index), undefined, own.keyring);
    keys.push(own);
    cluster.open(
      node,
      [0, 1, 2].map((each) => ({ ip: ipOfNode(each), port: 7946 })),
    );
    return node;
  }

  /** The files reach one node after the other, as kubelets bring them. */
  function bringFiles(next: { readonly current: Uint8Array; readonly previous?: Uint8Array }, apartMs: number): void {
    for (const [index, own] of keys.entries()) cluster.clock.schedule(index * apartMs, () => own.change(next));
  }

  function changesSince(sinceMs: number): readonly string[] {
    return cluster.nodes.flatMap((node) =>
      node.told.flatMap(({ news, atMs }) =>
        news.kind === "member-changed" && atMs >= sinceMs ? [`${node.name}: ${news.member.name} ${news.change}`] : [],
      ),
    );
  }

  function notUnderstood(): number {
    const counts = cluster.nodes.map(({ driver }) => driver.counters().drops.get("not-authentic") ?? 0);
    return counts.reduce((sum, count) => sum + count, 0);
  }

  function sendingKeys(): readonly Uint8Array[] {
    return keys.map(({ keyring }) => keyring.primary);
  }

  beforeEach(() => {
    cluster = new Cluster({ seed: 3 });
    keys = [];
    for (const index of [0, 1, 2]) start(index, OLD);
    cluster.run(5_000);
    expect(allHoldAlive(cluster.nodes)).to.equal(true);
  });

  for (const { name, next } of [
    { name: "with the previous one beside it", next: files },
    { name: "without the previous one", next: { current: NEW } },
  ]) {
    it(`${name} suspects nobody, and ends with the new key alone`, () => {
      const sinceMs = cluster.clock.nowMs();
      bringFiles(next, 80_000);
      cluster.run(160_000 + SEND_AFTER_MS + 1_000);
      expect(sendingKeys()).to.deep.equal([NEW, NEW, NEW]);
      bringFiles({ current: NEW }, 80_000);
      cluster.run(160_000 + LINGER_MS + 1_000);
      expect(keys.map(({ keyring }) => keyring.keys)).to.deep.equal([[NEW], [NEW], [NEW]]);
      expect(changesSince(sinceMs)).to.deep.equal([]);
      expect(notUnderstood()).to.equal(0);
    });
  }

  it("takes in a node that starts meanwhile, and one that starts afterwards", () => {
    const sinceMs = cluster.clock.nowMs();
    bringFiles(files, 80_000);
    cluster.run(20_000);
    start(3, NEW, OLD);
    cluster.run(2_000);
    expect(allHoldAlive(cluster.nodes)).to.equal(true);
    cluster.run(160_000 + SEND_AFTER_MS);
    expect(sendingKeys()).to.deep.equal([NEW, NEW, NEW, NEW]);
    start(4, NEW, OLD);
    cluster.run(2_000);
    expect(sendingKeys()).to.deep.equal([NEW, NEW, NEW, NEW, NEW]);
    expect(allHoldAlive(cluster.nodes)).to.equal(true);
    expect(changesSince(sinceMs).filter((change) => !/n[45] joined|n[45]: /.test(change))).to.deep.equal([]);
    expect(notUnderstood()).to.equal(0);
  });

  it("is silent to a node whose file still has the old key alone when the exchange is over", () => {
    bringFiles({ current: NEW }, 0);
    cluster.run(LINGER_MS + 1_000);
    const late = start(3, OLD);
    cluster.run(20_000);
    expect(late.driver.members().map(({ name }) => name)).to.deep.equal(["n4"]);
    expect(allHoldAlive([0, 1, 2].map((index) => nodeAt(cluster, index)))).to.equal(true);
  });
});
