/** Invariant 28, apart from whole speakers: the gossip driver on a loop that turns like libuv. */
import { expect } from "chai";
import { VirtualClock } from "../../src/base/clock.ts";
import { SeededRandom } from "../../src/base/random.ts";
import { createCodec } from "../../src/gossip/codec.ts";
import { GossipDriver } from "../../src/gossip/driver.ts";
import type { Turns } from "../../src/gossip/ports.ts";
import { TIMING_PRESETS } from "../../src/gossip/timing.ts";
import { ip } from "../packet/golden.ts";
import { GossipNetwork, type NetworkListener } from "./gossip-network.ts";
import { ProcessLoop } from "./process-loop.ts";
import { ProcessTransport } from "./process-transport.ts";

const CASES = 200;

/**
 * How often a member judged a ping unanswered, and asked others to ping, though it only stood still while the answer lay in its
 * socket. It stands longer than the ping may take (500 ms), and less than what it would itself notice as a stall (250 ms more).
 */
function judgementsAfterStandstill(seed: number, turnsOf: (loop: ProcessLoop) => Turns): number {
  const clock = new VirtualClock();
  const random = new SeededRandom(seed);
  const network = new GossipNetwork(clock, new SeededRandom(seed + 1));
  let judgements = 0;
  const members = ["n1", "n2", "n3"].map((name, index) => {
    const local = { ip: ip(`192.0.2.${index + 1}`), port: 7946 };
    const station = { name, isReachable: true, listener: undefined as NetworkListener | undefined };
    network.assign(local.ip, station);
    const loop = new ProcessLoop(clock, 0);
    const transport = new ProcessTransport(network, station, loop, local);
    station.listener = transport;
    const timing = TIMING_PRESETS.lan;
    const driver = new GossipDriver({
      name,
      endpoint: local,
      timing,
      random: new SeededRandom(seed + 2 + index),
      codec: createCodec({ label: "", timing, random: new SeededRandom(seed) }),
      transport,
      clock: loop,
      turns: turnsOf(loop),
      tell: () => {},
    });
    driver.start();
    return { loop, driver, local };
  });
  const [first] = members;
  if (first === undefined) throw new Error("no members");
  for (const { driver } of members) {
    driver.command({ kind: "known-peers", endpoints: members.map(({ local }) => local) });
    driver.command({ kind: "open" });
  }
  clock.advance(5_000);
  let pings = 0;
  const codec = createCodec({ label: "", timing: TIMING_PRESETS.lan, random });
  const wanted = 1 + random.below(5);
  network.onDatagram = (from, _to, bytes) => {
    if (from !== "n1") return;
    const kinds = codec.openDatagram(bytes).messages.map(({ kind }) => kind);
    if (kinds.includes("indirect-ping")) judgements++;
    if (!kinds.includes("ping") || ++pings !== wanted) return;
    // The instant after the ping left: its answer comes while we stand.
    clock.schedule(0, () => {
      first.loop.stand({ durationMs: 501 + random.below(240), keepsQueues: true, isGapVisible: true });
    });
  };
  clock.advance(20_000);
  expect(pings).to.be.greaterThan(wanted);
  return judgements;
}

describe("simulation: the driver rule", () => {
  it(`no deadline is judged before sockets that are readable are empty (${CASES} standstills)`, () => {
    for (let seed = 1; seed <= CASES; seed++) {
      const judgements = judgementsAfterStandstill(seed, (loop) => ({
        afterReads: (callback) => loop.afterPoll(callback),
      }));
      expect(judgements, `seed ${seed}`).to.equal(0);
    }
  });

  it("a driver that judges first is caught", () => {
    const caught = Array.from({ length: 5 }, (_, seed) =>
      judgementsAfterStandstill(seed, () => ({ afterReads: (callback) => callback() })),
    );
    expect(Math.max(...caught)).to.be.greaterThan(0);
  });
});
