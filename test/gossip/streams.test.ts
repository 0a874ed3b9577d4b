/** Connections of a driver, seen from a peer that speaks or does not speak memberlist. */
import { expect } from "chai";
import { SeededRandom } from "../../src/base/random.ts";
import { createCodec } from "../../src/gossip/codec.ts";
import { MemoryHost } from "../../src/gossip/memory-host.ts";
import { MemoryTransport } from "../../src/gossip/memory-transport.ts";
import type { Endpoint, StreamMessage } from "../../src/gossip/message.ts";
import type { DialFailure } from "../../src/gossip/swim-event.ts";
import { TIMING_PRESETS } from "../../src/gossip/timing.ts";
import type { Ip } from "../../src/net/ip.ts";
import { type Cluster, formed, newsOf, nodeAt } from "./cluster.ts";
import { pushPullOf, recordOf } from "./single-swim.ts";

const STRANGER: Endpoint = { ip: "192.0.2.99" as Ip, port: 7946 };
const CODEC = createCodec({ label: "", timing: TIMING_PRESETS.lan, random: new SeededRandom(1) });

interface Call {
  readonly answers: StreamMessage[];
  readonly ends: DialFailure[];
  write(bytes: Uint8Array): void;
}

/** Dials n1 and reads what it says. */
function call(cluster: Cluster, ...requests: readonly Uint8Array[]): Call {
  const host = new MemoryHost(cluster.clock);
  const reader = CODEC.openStream(true);
  const answers: StreamMessage[] = [];
  const ends: DialFailure[] = [];
  const stream = new MemoryTransport(cluster.network, host, STRANGER).dial(nodeAt(cluster, 0).endpoint, {
    data: (bytes) => {
      const step = reader.push(bytes);
      if (step.kind === "message") answers.push(step.message);
    },
    closed: (failure) => ends.push(failure),
  });
  for (const bytes of requests) stream.write(bytes);
  return { answers, ends, write: (bytes) => stream.write(bytes) };
}

describe("an accepted connection", () => {
  it("is answered as soon as the request is complete, however it is cut, and then closed", () => {
    const cluster = formed(1);
    const [bytes = new Uint8Array(0)] = CODEC.sealStream(pushPullOf(recordOf(9)), true);
    const caller = call(cluster, ...[...bytes].map((byte) => Uint8Array.of(byte)));
    cluster.run(500);
    expect(caller.answers.map(({ kind }) => kind)).to.deep.equal(["push-pull"]);
    expect(caller.ends).to.deep.equal(["closed"]);
  });

  it("that brings what cannot be read is told so, counted and closed", () => {
    const cluster = formed(1);
    const caller = call(cluster, Uint8Array.of(99, 1, 2, 3));
    cluster.run(100);
    expect(caller.answers.map(({ kind }) => kind)).to.deep.equal(["error"]);
    expect(caller.ends).to.deep.equal(["closed"]);
    expect(nodeAt(cluster, 0).driver.counters().drops.get("unknown-type")).to.equal(1);
  });

  it("in the clear is told that encryption is configured, in memberlist's words", () => {
    const cluster = formed(1, { key: new Uint8Array(32) });
    const host = new MemoryHost(cluster.clock);
    const heard: Uint8Array[] = [];
    const [bytes = new Uint8Array(0)] = CODEC.sealStream(pushPullOf(recordOf(9)), true);
    new MemoryTransport(cluster.network, host, STRANGER)
      .dial(nodeAt(cluster, 0).endpoint, { data: (answer) => heard.push(answer), closed: () => {} })
      .write(bytes);
    cluster.run(100);
    // The answer itself is encrypted.
    expect(heard[0]?.[0]).to.equal(10);
    expect(nodeAt(cluster, 0).driver.members()).to.have.length(1);
    expect(nodeAt(cluster, 0).driver.counters().drops.get("not-encrypted")).to.equal(1);
  });

  it("that says nothing is closed after ten seconds", () => {
    const cluster = formed(1);
    const caller = call(cluster);
    cluster.run(9_900);
    expect(caller.ends).to.deep.equal([]);
    cluster.run(200);
    expect(caller.ends).to.deep.equal(["closed"]);
  });

  it("beyond 127 open ones is closed at once", () => {
    const cluster = formed(1);
    const silent = Array.from({ length: 127 }, () => call(cluster));
    cluster.run(10);
    const late = call(cluster);
    cluster.run(10);
    expect(silent.every(({ ends }) => ends.length === 0)).to.equal(true);
    expect(late.ends).to.deep.equal(["closed"]);
  });
});

const outcomes = (cluster: Cluster) => newsOf(nodeAt(cluster, 0), "push-pull-done").map(({ outcome }) => outcome);

describe("a dialled connection", () => {
  it("without a listener is refused", () => {
    const cluster = formed(1);
    nodeAt(cluster, 0).driver.command({ kind: "join", endpoints: [STRANGER] });
    cluster.run(10);
    expect(outcomes(cluster)).to.deep.equal(["refused"]);
  });

  it("to a machine without power is silent after ten seconds", () => {
    const cluster = formed(1);
    cluster.network.powerOff(STRANGER.ip);
    nodeAt(cluster, 0).driver.command({ kind: "join", endpoints: [STRANGER] });
    cluster.run(9_900);
    expect(outcomes(cluster)).to.deep.equal([]);
    cluster.run(200);
    expect(outcomes(cluster)).to.deep.equal(["silent"]);
  });

  for (const { name, reply, outcome } of [
    { name: "garbage", reply: Uint8Array.of(99, 1), outcome: "undecodable" },
    { name: "nothing, and is closed", reply: undefined, outcome: "refused" },
  ] as const) {
    it(`that brings ${name} is told as ${outcome}`, () => {
      const cluster = formed(1);
      const transport = new MemoryTransport(cluster.network, new MemoryHost(cluster.clock), STRANGER);
      transport.listen({
        datagram: () => {},
        sendFailed: () => {},
        accepted: (stream) => {
          if (reply !== undefined) stream.write(reply);
          stream.close();
          return { data: () => {}, closed: () => {} };
        },
      });
      nodeAt(cluster, 0).driver.command({ kind: "join", endpoints: [STRANGER] });
      cluster.run(100);
      expect(outcomes(cluster)).to.deep.equal([outcome]);
    });
  }

  it("whose peer is killed meanwhile ends at once", () => {
    const cluster = formed(1);
    const host = new MemoryHost(cluster.clock);
    new MemoryTransport(cluster.network, host, STRANGER).listen({
      datagram: () => {},
      sendFailed: () => {},
      accepted: () => ({ data: () => {}, closed: () => {} }),
    });
    nodeAt(cluster, 0).driver.command({ kind: "join", endpoints: [STRANGER] });
    cluster.run(50);
    expect(outcomes(cluster)).to.deep.equal([]);
    host.kill();
    cluster.run(50);
    expect(outcomes(cluster)).to.deep.equal(["refused"]);
  });
});
