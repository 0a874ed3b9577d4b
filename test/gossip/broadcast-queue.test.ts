import { expect } from "chai";
import { BroadcastQueue } from "../../src/gossip/broadcast-queue.ts";

/** A broadcast that can be told by its first byte. */
function bytes(mark: number, length: number): Uint8Array {
  return new Uint8Array(length).fill(mark);
}

function marks(parts: readonly Uint8Array[]): number[] {
  return parts.map(([mark]) => mark ?? -1);
}

describe("BroadcastQueue", () => {
  it("hands out the least sent first, then the longest, then the newest", () => {
    const queue = new BroadcastQueue();
    queue.add("a", bytes(1, 10));
    queue.add("b", bytes(2, 20));
    queue.add("c", bytes(3, 10));
    expect(marks(queue.take(12, 4))).to.deep.equal([3]);
    expect(marks(queue.take(1_000, 4))).to.deep.equal([2, 1, 3]);
  });

  it("fills the budget with what fits, two bytes more for each part", () => {
    const queue = new BroadcastQueue();
    queue.add("long", bytes(1, 100));
    queue.add("short", bytes(2, 8));
    expect(marks(queue.take(101, 4))).to.deep.equal([2]);
    expect(marks(queue.take(112, 4))).to.deep.equal([1, 2]);
    expect(marks(queue.take(9, 4))).to.deep.equal([]);
  });

  it("drops a broadcast at its limit and says so once", () => {
    const queue = new BroadcastQueue();
    let finished = 0;
    queue.add("a", bytes(1, 10), () => void finished++);
    for (let send = 0; send < 3; send++) expect(marks(queue.take(100, 3))).to.deep.equal([1]);
    expect(finished).to.equal(1);
    expect(queue.size).to.equal(0);
    expect(marks(queue.take(100, 3))).to.deep.equal([]);
  });

  it("replaces what is queued under the same name, which starts its sends anew", () => {
    const queue = new BroadcastQueue();
    let finished = 0;
    queue.add("a", bytes(1, 10), () => void finished++);
    queue.take(100, 3);
    queue.take(100, 3);
    queue.add("a", bytes(2, 10));
    expect(finished).to.equal(1);
    for (let send = 0; send < 3; send++) expect(marks(queue.take(100, 3))).to.deep.equal([2]);
    expect(queue.size).to.equal(0);
  });
});
