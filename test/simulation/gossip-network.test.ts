import { expect } from "chai";
import { VirtualClock } from "../../src/base/clock.ts";
import { SeededRandom } from "../../src/base/random.ts";
import type { Endpoint } from "../../src/gossip/message.ts";
import { ip } from "../packet/golden.ts";
import { GossipNetwork, type NetworkListener } from "./gossip-network.ts";
import { ProcessLoop } from "./process-loop.ts";
import { ProcessTransport } from "./process-transport.ts";

function endpoint(host: number): Endpoint {
  return { ip: ip(`192.0.2.${host}`), port: 7946 };
}

function pair() {
  const clock = new VirtualClock();
  const network = new GossipNetwork(clock, new SeededRandom(1));
  const peers = [1, 2].map((host) => {
    const station = { name: `n${host}`, isReachable: true, listener: undefined as NetworkListener | undefined };
    network.assign(endpoint(host).ip, station);
    const loop = new ProcessLoop(clock, 0);
    const transport = new ProcessTransport(network, station, loop, endpoint(host));
    const heard: string[] = [];
    const listen = () => {
      station.listener = transport;
      transport.listen({
        datagram: (from, bytes) => heard.push(`${from.ip} ${bytes[0]}`),
        sendFailed: () => {},
        accepted: (stream) => ({
          data: (bytes) => {
            heard.push(`tcp ${bytes[0]}`);
            stream.write(Uint8Array.of(99));
          },
          closed: (failure) => heard.push(failure),
        }),
      });
    };
    return { station, transport, heard, listen, loop };
  });
  const [a, b] = peers;
  if (a === undefined || b === undefined) throw new Error("no peers");
  return { clock, network, a, b };
}

function dialOutcome(failures: string[]) {
  return {
    data: (bytes: Uint8Array) => failures.push(`data ${bytes[0]}`),
    closed: (failure: string) => failures.push(failure),
  };
}

describe("simulation: the gossip network", () => {
  it("carries datagrams from the listening address, and not across a cut of that direction and protocol", () => {
    const { clock, network, a, b } = pair();
    a.listen();
    b.listen();
    network.cuts.add("n1>n2:udp");
    a.transport.sendDatagram(endpoint(2), Uint8Array.of(1));
    b.transport.sendDatagram(endpoint(1), Uint8Array.of(2));
    clock.advance(1);
    expect(b.heard).to.deep.equal([]);
    expect(a.heard).to.deep.equal(["192.0.2.2 2"]);
  });

  it("refuses a dial where nobody listens, and is silent where no host is", () => {
    const { clock, a, b } = pair();
    const outcomes: string[] = [];
    a.transport.dial(endpoint(2), dialOutcome(outcomes));
    clock.advance(100);
    expect(outcomes).to.deep.equal(["refused"]);
    b.station.isReachable = false;
    a.transport.dial(endpoint(2), dialOutcome(outcomes));
    clock.advance(30_000);
    expect(outcomes).to.deep.equal(["refused"]);
  });

  it("TCP loses time, not bytes, and keeps their order", () => {
    const { clock, network, a, b } = pair();
    b.listen();
    network.faults.lossRate = 0.5;
    const outcomes: string[] = [];
    const stream = a.transport.dial(endpoint(2), dialOutcome(outcomes));
    for (const byte of [1, 2, 3]) stream.write(Uint8Array.of(byte));
    clock.advance(60_000);
    expect(b.heard).to.deep.equal(["tcp 1", "tcp 2", "tcp 3"]);
    expect(outcomes).to.deep.equal(["data 99", "data 99", "data 99"]);
  });

  it("a killed process's connections are reset", () => {
    const { clock, a, b } = pair();
    b.listen();
    const outcomes: string[] = [];
    a.transport.dial(endpoint(2), dialOutcome(outcomes));
    clock.advance(10);
    b.transport.reset();
    clock.advance(10);
    expect(outcomes).to.deep.equal(["closed"]);
  });

  it("a stopped process is connected to and says nothing", () => {
    const { clock, a, b } = pair();
    b.listen();
    b.loop.stand({ durationMs: 10_000, keepsQueues: true, isGapVisible: true });
    const outcomes: string[] = [];
    let isOpen = false;
    const stream = a.transport.dial(endpoint(2), { ...dialOutcome(outcomes), opened: () => (isOpen = true) });
    stream.write(Uint8Array.of(7));
    clock.advance(5_000);
    expect([isOpen, b.heard.length, outcomes.length]).to.deep.equal([true, 0, 0]);
    clock.advance(6_000);
    expect(b.heard).to.deep.equal(["tcp 7"]);
  });
});
