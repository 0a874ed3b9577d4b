import { expect } from "chai";
import { SnapshotSender } from "../../speaker/snapshot-sender.ts";
import type { ClusterSnapshot } from "../../src/desired/snapshot.ts";
import { MESSAGE_OBJECTS, type SnapshotMessage, SnapshotReceiver } from "../../src/desired/snapshot-difference.ts";
import { service, snapshot } from "../desired/facts.ts";

function services(count: number, address = "192.0.2.1"): ClusterSnapshot {
  return snapshot({ services: Array.from({ length: count }, (_, index) => service(`s${index}`, [address])) });
}

function senderTo(
  sent: SnapshotMessage[],
  freshnesses: number[] = [],
  withEnds: (number | undefined)[] = [],
): SnapshotSender {
  return new SnapshotSender({
    send: (message, freshness) => {
      sent.push(message);
      withEnds.push(freshness);
    },
    tellFreshness: (freshness) => freshnesses.push(freshness),
  });
}

describe("SnapshotSender", () => {
  it("sends the next part of a long snapshot when the last was taken, and nothing after its end", () => {
    const sent: SnapshotMessage[] = [];
    const sender = senderTo(sent);
    sender.apply(services(2 * MESSAGE_OBJECTS + 1));
    for (const parts of [1, 2, 3, 3]) {
      expect(sent).to.have.length(parts);
      sender.taken();
    }
    expect(sent.map(({ isEnd }) => isEnd)).to.deep.equal([false, false, true]);
  });

  it("sends what changed meanwhile together, after it", () => {
    const sent: SnapshotMessage[] = [];
    const receiver = new SnapshotReceiver();
    const sender = senderTo(sent);
    sender.apply(services(MESSAGE_OBJECTS + 1));
    sender.apply(services(3));
    sender.apply(services(2, "192.0.2.2"));
    let last: ClusterSnapshot | undefined;
    const counted: number[] = [];
    for (let message = sent.shift(); message !== undefined; message = sent.shift()) {
      last = receiver.apply(structuredClone(message)) ?? last;
      if (message.isEnd) counted.push(last?.services.size ?? 0);
      sender.taken();
    }
    expect(counted).to.deep.equal([MESSAGE_OBJECTS + 1, 2]);
    expect(last).to.deep.equal(services(2, "192.0.2.2"));
  });

  it("says nothing when nothing changed, and goes on to say what does", () => {
    const sent: SnapshotMessage[] = [];
    const sender = senderTo(sent);
    for (const [count, messages] of [
      [1, 1],
      [1, 1],
      [2, 2],
    ] as const) {
      sender.apply(services(count));
      expect(sent).to.have.length(messages);
      sender.taken();
    }
  });

  it("tells how new a snapshot is with its last part, so that nothing is decided by the one and claimed by the other", () => {
    const freshnesses: number[] = [];
    const withEnds: (number | undefined)[] = [];
    const sender = senderTo([], freshnesses, withEnds);
    sender.apply(services(MESSAGE_OBJECTS + 1), 7);
    sender.taken();
    sender.taken();
    sender.apply(services(1), 8);
    sender.apply(services(2), 9);
    sender.taken();
    sender.taken();
    expect(withEnds).to.deep.equal([undefined, 7, 8, 9]);
    expect(freshnesses).to.deep.equal([]);
  });

  it("tells how new it is at once when nothing is under way, and never before the end of what is", () => {
    const freshnesses: number[] = [];
    const withEnds: (number | undefined)[] = [];
    const sender = senderTo([], freshnesses, withEnds);
    sender.apply(services(1));
    sender.setFreshness(7);
    expect(freshnesses).to.deep.equal([]);
    sender.taken();
    expect(freshnesses).to.deep.equal([7]);
    sender.setFreshness(8);
    expect(freshnesses).to.deep.equal([7, 8]);
    // The same again: no part to send it with.
    sender.apply(services(1), 9);
    expect(freshnesses).to.deep.equal([7, 8, 9]);
    sender.apply(services(MESSAGE_OBJECTS + 2), 10);
    sender.apply(services(2));
    sender.setFreshness(11);
    sender.taken();
    expect(withEnds.filter((freshness) => freshness !== undefined)).to.deep.equal([]);
    sender.taken();
    expect(withEnds.at(-1)).to.equal(11);
    expect(freshnesses).to.deep.equal([7, 8, 9]);
  });
});
