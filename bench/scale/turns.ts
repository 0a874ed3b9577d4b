/**
 * One speaker among 100 that holds 10,000 Services: how long its wire thread is blocked, and what it computes, when it decides first, when a
 * member dies and when it is back. A whole speaker on a memory network and a virtual clock; its 99 peers are whole speakers, too, but hold
 * no Services, so that what is measured is one node's and the memory is, too: what they should lead, this node takes as far as it is second
 * for it (the orphan rule), which is work that a true cluster has not. Prints, judges nothing: `node dist/bench/scale/turns.js [SERVICES] [NODES]`
 */
import type { Speaker } from "../../speaker/speaker.ts";
import { VirtualClock } from "../../src/base/clock.ts";
import { SeededRandom } from "../../src/base/random.ts";
import type { ClusterSnapshot, ServiceFacts } from "../../src/desired/snapshot.ts";
import { diffSnapshots, SnapshotReceiver } from "../../src/desired/snapshot-difference.ts";
import { MemoryHost } from "../../src/gossip/memory-host.ts";
import { MemoryNetwork } from "../../src/gossip/memory-network.ts";
import { type Ip, ipOfBigInt } from "../../src/net/ip.ts";
import { parsePrefix, rangeOfPrefix } from "../../src/net/prefix.ts";
import { advertisement, node, service } from "../../test/desired/facts.ts";
import { ethernetLink } from "../../test/support/ethernet-link.ts";
import { benchSpeaker } from "../speaker/bench-speaker.ts";
import { TimedHost } from "./timed-host.ts";

const SERVICES = Number(process.argv[2] ?? 10_000);
const NODES = Number(process.argv[3] ?? 100);
/** Of one turn (DESIGN §5). */
const BUDGET_MS = 10;
const POOL = parsePrefix("198.18.0.0/15");
const HOSTS = parsePrefix("192.0.2.0/24");
if (POOL === undefined || HOSTS === undefined) throw new Error("constants do not parse");
const FIRST = rangeOfPrefix(POOL).first;
const PREFIXES = [HOSTS, POOL];

const names = Array.from({ length: NODES }, (_, index) => `n${index + 1}`);
const endpoints = names.map((_, index) => ({ ip: `192.0.2.${index + 1}` as Ip, port: 7946 }));
const clock = new VirtualClock(1_000);
const random = new SeededRandom(1);
const network = new MemoryNetwork(clock, new SeededRandom(2));

const services = Array.from({ length: SERVICES }, (_, number): [string, ServiceFacts] => [
  `default/service-${number}`,
  service(`service-${number}`, [ipOfBigInt(FIRST + BigInt(number), 4)]),
]);
const empty: ClusterSnapshot = {
  source: "kubernetes",
  pools: new Map([["all", { name: "all", createdAt: "", labels: {}, ranges: [rangeOfPrefix(POOL)] }]]),
  advertisements: new Map([["all", advertisement("all")]]),
  services: new Map(),
  endpointSlices: new Map(),
  nodes: new Map(names.map((name) => [name, node(name)])),
  namespaces: new Map(),
};
const whole: ClusterSnapshot = { ...empty, services: new Map(services) };

/** As the wire thread composes it, frames and groups left out. */
function startSpeaker(index: number, host: MemoryHost): Speaker {
  const endpoint = endpoints[index];
  const nodeName = names[index];
  if (endpoint === undefined || nodeName === undefined) throw new Error("no such node");
  const speaker = benchSpeaker(nodeName, endpoint, host, { network, random });
  speaker.start();
  speaker.setLinks([ethernetLink(index + 1, "eth0", { prefixes: PREFIXES })]);
  speaker.setPeers(endpoints.slice(0, 3).filter((other) => other !== endpoint));
  return speaker;
}

/** Every message in a turn of its own, as the wire thread gets them. */
function apply(speaker: Speaker, snapshot: ClusterSnapshot, turn: (run: () => void) => void): void {
  const receiver = new SnapshotReceiver();
  for (const message of diffSnapshots(undefined, snapshot)) {
    const cloned = structuredClone(message);
    turn(() => {
      const received = receiver.apply(cloned);
      if (received !== undefined) speaker.applySnapshot(received, receiver.changed);
    });
  }
}

function pass(durationMs: number): void {
  const endMs = clock.nowMs() + durationMs;
  for (let next = clock.nextMs(); next !== undefined && next <= endMs; next = clock.nextMs()) clock.step();
  clock.advance(Math.max(0, endMs - clock.nowMs()));
}

const peers = names.slice(1).map((_, index) => {
  const host = new MemoryHost(clock);
  return { index: index + 1, host, speaker: startSpeaker(index + 1, host) };
});
for (const { speaker } of peers) apply(speaker, empty, (run) => run());
pass(60_000);

const host = new TimedHost(clock, BUDGET_MS);

function report(what: string): void {
  const { longestMs, totalMs, turns, long } = host.take();
  process.stdout.write(
    `${what.padEnd(52)} longest turn ${longestMs.toFixed(1).padStart(6)} ms, all ${totalMs.toFixed(0).padStart(5)} ms, ${long} of ${turns} turns above ${BUDGET_MS} ms\n`,
  );
}

let speaker: Speaker | undefined;
host.turn(() => {
  speaker = startSpeaker(0, host);
});
if (speaker === undefined) throw new Error("no speaker");
report("it starts");
apply(speaker, whole, (run) => host.turn(run));
report(`it reads ${SERVICES} Services`);
pass(15_000);
report(`it meets ${NODES - 1} members, and decides (15 s)`);
pass(60_000);
report("a minute of nothing");
pass(2_000);
report("two seconds of nothing, for comparison");
const [victim] = peers.slice(-1);
if (victim === undefined) throw new Error("no peer");
victim.host.kill();
pass(2_000);
report("a member is killed (2 s)");
pass(30_000);
report("it stays away (30 s)");
apply(startSpeaker(victim.index, new MemoryHost(clock)), empty, (run) => run());
pass(2_000);
report("it is started again (2 s)");
pass(30_000);
report("it has come back (30 s)");
