import { expect } from "chai";
import fc from "fast-check";
import { DueMap } from "../../src/base/due-map.ts";

/** Values that are nothing but the time at which they fall due. */
function dueMap(...entries: readonly (readonly [string, number])[]): DueMap<string, number> {
  const map = new DueMap<string, number>((atMs) => atMs);
  for (const [key, atMs] of entries) map.set(key, atMs);
  return map;
}

function takeDue(map: DueMap<string, number>, nowMs: number): string[] {
  const keys: string[] = [];
  map.advance(nowMs, (_atMs, key) => {
    keys.push(key);
    return undefined;
  });
  return keys;
}

describe("DueMap", () => {
  it("has no deadline while it is empty, nor when nothing in it ever falls due", () => {
    expect(dueMap().nextDeadlineMs()).to.equal(undefined);
    expect(dueMap(["a", Number.POSITIVE_INFINITY]).nextDeadlineMs()).to.equal(undefined);
  });

  it("gives what is due in the order of its coming, and leaves the rest", () => {
    const map = dueMap(["late", 30], ["b", 20], ["a", 10]);
    expect(takeDue(map, 20)).to.deep.equal(["b", "a"]);
    expect(map.has("b")).to.equal(false);
    expect(map.get("late")).to.equal(30);
    expect(map.nextDeadlineMs()).to.equal(30);
  });

  it("is due again at once with what was left as it is, as when there was no time for it", () => {
    const map = dueMap(["a", 10], ["b", 10]);
    map.advance(10, (atMs, key) => (key === "a" ? undefined : atMs));
    expect(map.nextDeadlineMs()).to.equal(10);
    expect(takeDue(map, 10)).to.deep.equal(["b"]);
  });

  it("keeps the place of what falls due again later", () => {
    const map = dueMap(["a", 10], ["b", 15]);
    map.advance(10, (atMs) => atMs + 5);
    expect(map.nextDeadlineMs()).to.equal(15);
    expect(takeDue(map, 15)).to.deep.equal(["a", "b"]);
  });

  it("heeds what is set while it goes on", () => {
    const map = dueMap(["a", 10]);
    map.advance(10, () => {
      map.set("b", 12);
      return undefined;
    });
    expect(map.nextDeadlineMs()).to.equal(12);
  });

  it("never says later than the earliest, and says the earliest once it was asked for what is due", () => {
    const key = fc.constantFrom("a", "b", "c", "d");
    const step = fc.oneof(
      fc.record({ kind: fc.constant("set" as const), key, atMs: fc.nat(100) }),
      fc.record({ kind: fc.constant("delete" as const), key }),
      fc.record({ kind: fc.constant("take" as const), nowMs: fc.nat(100) }),
    );
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const map = dueMap();
        const model = new Map<string, number>();
        const earliestMs = (): number => Math.min(...model.values());
        for (const one of steps) {
          if (one.kind === "set") {
            map.set(one.key, one.atMs);
            model.set(one.key, one.atMs);
          } else if (one.kind === "delete") {
            map.delete(one.key);
            model.delete(one.key);
          } else {
            const due = [...model].filter(([, atMs]) => atMs <= one.nowMs).map(([dueKey]) => dueKey);
            expect(takeDue(map, one.nowMs)).to.deep.equal(due);
            for (const gone of due) model.delete(gone);
          }
          expect(map.nextDeadlineMs() ?? Number.POSITIVE_INFINITY).to.be.at.most(earliestMs());
          expect(map.nextDeadlineMs() === undefined).to.equal(model.size === 0);
        }
        map.advance(1_000, (atMs) => atMs);
        expect(map.nextDeadlineMs() ?? Number.POSITIVE_INFINITY).to.equal(earliestMs());
      }),
    );
  });
});
