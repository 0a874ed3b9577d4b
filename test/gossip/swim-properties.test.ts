/** Whatever comes in: nothing throws, everything stays bounded, and the same input gives the same output. */
import { expect } from "chai";
import fc from "fast-check";
import { hexOf } from "../../src/base/bytes.ts";
import type { Alive, DatagramMessage, Endpoint, PushPull, StreamMessage, Versions } from "../../src/gossip/message.ts";
import { encodeMessage } from "../../src/gossip/message-codec.ts";
import type { SwimEvent } from "../../src/gossip/swim-event.ts";
import type { Ip } from "../../src/net/ip.ts";
import { changeAt, formed, ipOfNode, nodeAt } from "./cluster.ts";
import { effectsOf, endpointOf, messagesIn, SingleSwim } from "./single-swim.ts";

const name = fc.constantFrom("n1", "n2", "n3", "n4", "", "ü", "x".repeat(300));
const u32 = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom(0xffff_fffe, 0xffff_ffff));
const bytes = fc.uint8Array({ maxLength: 20 });
const endpoint: fc.Arbitrary<Endpoint> = fc.record({
  ip: fc.constantFrom("192.0.2.1", "192.0.2.2", "192.0.2.3", "2001:db8::1", "0.0.0.0", "ff02::1") as fc.Arbitrary<Ip>,
  port: fc.constantFrom(0, 1, 7946, 65_535),
});
const byte = fc.constantFrom(0, 1, 2, 5, 255);
const versions: fc.Arbitrary<Versions> = fc.record({
  protocolMin: byte,
  protocolMax: byte,
  protocolCurrent: byte,
  delegateMin: byte,
  delegateMax: byte,
  delegateCurrent: byte,
});
const source = fc.record({ endpoint, node: name });
const options = { requiredKeys: [] as never[] };
const of = <Kind extends string>(kind: Kind) => fc.constant(kind);

const alive = fc
  .record({ kind: of("alive"), incarnation: u32, node: name, endpoint, meta: bytes })
  .chain((base) => fc.record({ versions }, options).map((more) => ({ ...base, ...more })));
const ping = fc
  .record({ kind: of("ping"), seqNo: u32, node: name })
  .chain((base) => fc.record({ source }, options).map((more) => ({ ...base, ...more })));
const datagramMessage = fc.oneof(
  alive,
  ping,
  fc.record({ kind: of("suspect"), incarnation: u32, node: name, from: name }),
  fc.record({ kind: of("dead"), incarnation: u32, node: name, from: name }),
  fc.record({ kind: of("ack"), seqNo: u32, payload: bytes }),
  fc.record({ kind: of("nack"), seqNo: u32 }),
  fc.record({ kind: of("user"), payload: bytes }),
  fc.record({ kind: of("indirect-ping"), seqNo: u32, target: endpoint, node: name, wantsNack: fc.boolean() }),
) as fc.Arbitrary<DatagramMessage>;
const nodeRecord = fc
  .record({
    name,
    endpoint,
    meta: bytes,
    incarnation: u32,
    state: fc.constantFrom("alive", "suspect", "dead", "left"),
  })
  .chain((base) => fc.record({ versions }, options).map((more) => ({ ...base, ...more })));
const pushPull: fc.Arbitrary<PushPull> = fc.record({
  kind: of("push-pull"),
  isJoin: fc.boolean(),
  nodes: fc.array(nodeRecord, { maxLength: 4 }),
  userState: bytes,
});
const streamMessage = fc.oneof(
  pushPull,
  ping,
  fc.record({ kind: of("ack"), seqNo: u32, payload: bytes }),
  fc.record({ kind: of("user"), payload: bytes }),
  fc.record({ kind: of("error"), text: name }),
) as fc.Arbitrary<StreamMessage>;
const small = fc.integer({ min: 0, max: 5 });
const event: fc.Arbitrary<SwimEvent> = fc.oneof(
  fc.record({ kind: of("datagram"), from: endpoint, messages: fc.array(datagramMessage, { maxLength: 4 }) }),
  fc.record({ kind: of("request"), connection: small, from: endpoint, message: streamMessage }),
  fc.record({ kind: of("response"), dial: small, message: streamMessage }),
  fc.record({
    kind: of("dial-failed"),
    dial: small,
    failure: fc.constantFrom("refused", "unreachable", "silent", "closed", "undecodable"),
  }),
  fc.record({ kind: of("send-failed"), to: endpoint }),
  fc.record({ kind: of("known-peers"), endpoints: fc.array(endpoint, { maxLength: 3 }) }),
  fc.record({ kind: of("join"), endpoints: fc.array(endpoint, { maxLength: 3 }) }),
  fc.record({ kind: of("set-meta"), meta: bytes, isUrgent: fc.boolean() }),
  fc.record({ kind: of("ping-members"), names: fc.array(name, { maxLength: 3 }) }),
  fc.record({ kind: of("send-user"), to: fc.constant("all" as const), payload: bytes }),
  fc.record({ kind: of("tick") }),
) as fc.Arbitrary<SwimEvent>;
const script = fc.array(fc.record({ event, waitMs: fc.constantFrom(0, 1, 100, 600, 5_000, 40_000) }), {
  maxLength: 25,
});

const trace = (steps: readonly { readonly event: SwimEvent; readonly waitMs: number }[], seed: number): string => {
  const single = new SingleSwim(seed);
  single.tell({ kind: "open" });
  for (const { event: next, waitMs } of steps) {
    single.tell(next);
    single.run(waitMs);
  }
  return JSON.stringify(single.effects);
};

const run = (seed: number): string => {
  const quality = { latencyMs: 1, jitterMs: 5, loss: 0.1, duplication: 0.02, reordering: 0.1, reorderingMs: 40 };
  const cluster = formed(4, { seed, quality });
  const digest: string[] = [];
  nodeAt(cluster, 3).host.kill();
  cluster.run(5_000);
  cluster.network.partition([ipOfNode(0)], [ipOfNode(1), ipOfNode(2)]);
  cluster.run(15_000);
  cluster.network.mendAll();
  cluster.run(10_000);
  for (const node of cluster.nodes) {
    for (const { atMs, news } of node.told)
      digest.push(`${atMs} ${node.name} ${news.kind} ${"change" in news ? news.change : ""}`);
  }
  return `${cluster.network.datagrams}\n${digest.join("\n")}`;
};

describe("a machine under random input", () => {
  it("never throws, keeps its own record alive, and sends nothing empty or oversized", () => {
    fc.assert(
      fc.property(script, fc.integer(), (steps, seed) => {
        const single = new SingleSwim(seed);
        single.tell({ kind: "open" });
        let incarnation = 0;
        for (const { event: next, waitMs } of steps) {
          single.tell(next);
          single.run(waitMs);
          const { self } = single.swim;
          expect(self.state).to.equal("alive");
          expect(self.incarnation).to.be.at.least(incarnation);
          incarnation = self.incarnation;
        }
        for (const effect of single.effects) {
          if (effect.kind !== "send-datagram") continue;
          expect(effect.parts.length).to.be.within(1, 255);
          for (const part of effect.parts) expect(part.length).to.be.at.least(1);
          const sum = effect.parts.reduce((total, part) => total + part.length + 2, 2);
          if (effect.parts.length > 1) expect(sum).to.be.at.most(1_400);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("gives the same effects for the same seed and input, and other ones for another seed", () => {
    fc.assert(
      fc.property(script, fc.integer(), (steps, seed) => trace(steps, seed) === trace(steps, seed)),
      {
        numRuns: 100,
      },
    );
    const steps = [{ event: { kind: "join", endpoints: [] } as const, waitMs: 60_000 }];
    expect(trace(steps, 1)).to.not.equal("[]");
  });

  it("knows at most 4,096 names, whatever a member with the key invents", () => {
    const single = new SingleSwim();
    single.tell({ kind: "open" });
    for (let index = 0; index < 5_000; index++) {
      const ip = `192.0.2.${index % 250}` as Ip;
      const message: Alive = {
        kind: "alive",
        node: `invented-${index}`,
        endpoint: { ip, port: 1 + index },
        incarnation: 1,
        meta: new Uint8Array(0),
        versions: single.swim.self.versions,
      };
      single.swim.handle({ kind: "datagram", from: { ip, port: 7946 }, messages: [message] }, 10_000);
    }
    expect(single.swim.members()).to.have.length(4_096);
    expect(single.swim.counters().messagesRefused).to.equal(5_000 - 4_095);
  });
});

describe("a machine under a flood", () => {
  it("of indirect pings relays 1,024 at a time, and the ones after them when those are over", () => {
    const single = new SingleSwim(1, { probeIntervalMs: 0 }).meet(2, 3);
    const flood = (count: number) => {
      const requests = Array.from({ length: count }, (_, seqNo) => ({
        kind: "indirect-ping" as const,
        seqNo,
        target: endpointOf(3),
        node: "n3",
        wantsNack: false,
      }));
      return messagesIn(single.hear(2, ...requests), "ping").length;
    };
    expect(flood(3_000)).to.equal(1_024);
    single.run(600);
    expect(flood(1)).to.equal(1);
  });

  it("of peers dials 64 in a round, and others in the next", () => {
    const single = new SingleSwim();
    const peers = Array.from({ length: 200 }, (_, index) => endpointOf(index + 2));
    single.tell({ kind: "known-peers", endpoints: peers });
    const first = effectsOf(single.tell({ kind: "open" }), "dial");
    expect(first).to.have.length(64);
    for (const { dial } of first) single.tell({ kind: "dial-failed", dial, failure: "refused" });
    const second = effectsOf(single.run(10_000), "dial").map(({ to }) => to.ip);
    expect(second).to.have.length(64);
    expect(second.some((ip) => first.some(({ to }) => to.ip === ip))).to.equal(false);
  });
});

describe("a closed driver", () => {
  it("sends nothing, hears nothing and leaves no timer that does anything", async () => {
    const cluster = formed(3);
    const closed = nodeAt(cluster, 0);
    await closed.driver.close();
    const told = closed.told.length;
    cluster.run(20_000);
    closed.driver.command({ kind: "set-meta", meta: new Uint8Array(1), isUrgent: true });
    expect(closed.told.length).to.equal(told);
    expect(changeAt(nodeAt(cluster, 1), "dead", "n1")).to.be.a("number");
  });
});

describe("a cluster under one seed", () => {
  it("replays exactly, and differs under another", () => {
    const first = run(11);
    expect(run(11)).to.equal(first);
    expect(run(12)).to.not.equal(first);
  });
});

describe("one byte of noise", () => {
  it("in any datagram of a cluster harms nobody", () => {
    const cluster = formed(3, { seed: 6 });
    const sound = encodeMessage({ kind: "ping", seqNo: 1, node: "n1" });
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 64 }),
          fc.nat({ max: sound.length - 1 }).map((at) => flipped(sound, at)),
        ),
        (noise) => {
          const stranger = { ip: "192.0.2.200" as Ip, port: 9 };
          cluster.network.send(stranger, nodeAt(cluster, 0).endpoint, noise);
          cluster.run(5);
        },
      ),
      { numRuns: 200 },
    );
    cluster.run(10_000);
    expect(changeAt(nodeAt(cluster, 1), "dead", "n1")).to.equal(undefined);
    expect(hexOf(nodeAt(cluster, 0).driver.self.meta)).to.equal("");
  });
});

function flipped(sound: Uint8Array, at: number): Uint8Array {
  const copy = sound.slice();
  copy[at] = (copy[at] ?? 0) ^ 0xff;
  return copy;
}
