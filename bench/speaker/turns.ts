/**
 * How long the wire thread's turns are in one of three speakers among many Services, without a cluster: whole speakers on a memory
 * network and a virtual clock, and of each turn the processor time of this thread. Prints, judges nothing.
 * `node dist/bench/speaker/turns.js [SERVICES]`
 */
import type { Speaker } from "../../speaker/speaker.ts";
import { VirtualClock } from "../../src/base/clock.ts";
import { SeededRandom } from "../../src/base/random.ts";
import type { ClusterSnapshot, EndpointSliceFacts, ServiceFacts } from "../../src/desired/snapshot.ts";
import { diffSnapshots, SnapshotReceiver } from "../../src/desired/snapshot-difference.ts";
import { MemoryHost } from "../../src/gossip/memory-host.ts";
import { MemoryNetwork } from "../../src/gossip/memory-network.ts";
import { type Ip, ipOfBigInt } from "../../src/net/ip.ts";
import type { Link } from "../../src/net/link.ts";
import { parseMac } from "../../src/net/mac.ts";
import { parsePrefix, rangeOfPrefix } from "../../src/net/prefix.ts";
import { advertisement, node, service, slice } from "../../test/desired/facts.ts";
import { ethernetLink } from "../../test/support/ethernet-link.ts";
import { benchSpeaker } from "./bench-speaker.ts";
import { threadMs } from "./thread-time.ts";

const SERVICES = Number(process.argv[2] ?? 10_000);
/** Of one turn (DESIGN §5). */
const BUDGET_MS = 10;
const NAMES = ["n1", "n2", "n3"];
const POOL = parsePrefix("198.18.0.0/15");
const HOSTS = parsePrefix("192.0.2.0/24");
if (POOL === undefined || HOSTS === undefined) throw new Error("constants do not parse");
const FIRST = rangeOfPrefix(POOL).first;

function serviceOf(number: number, facts: Partial<ServiceFacts> = {}): ServiceFacts {
  return service(`service-${number}`, [ipOfBigInt(FIRST + BigInt(number), 4)], {
    createdAt: "2026-01-01T00:00:00Z",
    labels: { app: `app-${number}` },
    ...facts,
  });
}

function sliceOf(number: number, isReady: boolean): EndpointSliceFacts {
  const endpoints = NAMES.map((nodeName, index) => ({ nodeName, ready: isReady || index > 0 }));
  return slice(`service-${number}`, endpoints);
}

function linkOf(index: number): Link {
  const mac = parseMac(`02:00:00:00:00:0${index}`);
  if (mac === undefined || POOL === undefined || HOSTS === undefined) throw new Error("constants do not parse");
  return ethernetLink(2, "eth0", { mac, prefixes: [HOSTS, POOL] });
}

const numbers = Array.from({ length: SERVICES }, (_, number) => number);
const whole: ClusterSnapshot = {
  source: "kubernetes",
  pools: new Map([["all", { name: "all", createdAt: "", labels: {}, ranges: [rangeOfPrefix(POOL)] }]]),
  advertisements: new Map([["all", advertisement("all")]]),
  services: new Map(numbers.map((number) => [`default/service-${number}`, serviceOf(number)])),
  endpointSlices: new Map(numbers.map((number) => [`default/service-${number}`, sliceOf(number, true)])),
  nodes: new Map(NAMES.map((name) => [name, node(name)])),
  namespaces: new Map(),
};

const clock = new VirtualClock(1_000);
const random = new SeededRandom(1);
const network = new MemoryNetwork(clock, new SeededRandom(2));
const endpoints = NAMES.map((_, index) => ({ ip: `192.0.2.${index + 1}` as Ip, port: 7946 }));

let longestMs = 0;
let totalMs = 0;
let turns = 0;
let long = 0;

/** One turn of the event loop. */
function turn<Value>(run: () => Value): Value {
  const before = threadMs();
  const value = run();
  const tookMs = threadMs() - before;
  longestMs = Math.max(longestMs, tookMs);
  totalMs += tookMs;
  turns++;
  if (tookMs > BUDGET_MS) long++;
  return value;
}

function pass(durationMs: number): void {
  const endMs = clock.nowMs() + durationMs;
  for (let next = clock.nextMs(); next !== undefined && next <= endMs; next = clock.nextMs()) turn(() => clock.step());
  clock.advance(Math.max(0, endMs - clock.nowMs()));
}

function report(what: string): void {
  const columns = [
    what.padEnd(44),
    `longest turn ${longestMs.toFixed(1).padStart(7)} ms`,
    `${long} of ${turns} above ${BUDGET_MS} ms, all ${totalMs.toFixed(0)} ms`,
  ];
  process.stdout.write(`${columns.join("  ")}\n`);
  longestMs = totalMs = turns = long = 0;
}

class Machine {
  readonly host = new MemoryHost(clock);
  readonly speaker: Speaker;
  readonly #receiver = new SnapshotReceiver();
  #sent: ClusterSnapshot | undefined;

  constructor(index: number) {
    const endpoint = endpoints[index];
    const nodeName = NAMES[index];
    if (endpoint === undefined || nodeName === undefined) throw new Error("no such machine");
    this.speaker = benchSpeaker(nodeName, endpoint, this.host, { network, random });
    this.speaker.start();
    this.speaker.setLinks([linkOf(index + 1)]);
    this.speaker.setPeers(endpoints.filter((other) => other !== endpoint));
    this.apply(whole);
  }

  /** Every message in a turn of its own, as the wire thread gets them. */
  apply(next: ClusterSnapshot): void {
    const messages = [...diffSnapshots(this.#sent, next)];
    this.#sent = next;
    for (const message of messages) {
      const cloned = structuredClone(message);
      turn(() => {
        const snapshot = this.#receiver.apply(cloned);
        if (snapshot !== undefined) this.speaker.applySnapshot(snapshot, this.#receiver.changed);
      });
    }
  }
}

const machines = NAMES.map((_, index) => new Machine(index));
report("three read all");
pass(20_000);
report("they meet, and decide");
const [first] = machines;
if (first === undefined) throw new Error("no machine");
pass(60_000);
report("nothing is done for a minute");

function withNamed<Facts extends { readonly namespace: string; readonly name: string }>(
  map: ReadonlyMap<string, Facts>,
  list: readonly Facts[],
): ReadonlyMap<string, Facts> {
  const next = new Map(map);
  for (const facts of list) next.set(`${facts.namespace}/${facts.name}`, facts);
  return next;
}

let now = whole;
function change(services: readonly ServiceFacts[], slices: readonly EndpointSliceFacts[]): void {
  now = { ...now, services: withNamed(now.services, services), endpointSlices: withNamed(now.endpointSlices, slices) };
  for (const machine of machines) if (!machine.host.isDead) machine.apply(now);
  pass(200);
}

for (let run = 0; run < 20; run++) change([serviceOf(run, { labels: { app: `changed-${run}` } })], []);
report("a Service changes in what does not count");
for (let run = 0; run < 20; run++) change([serviceOf(run, { externalTrafficPolicy: "Local" })], []);
report("a Service changes its policy");
for (let run = 0; run < 20; run++)
  change([serviceOf(run, { addresses: [ipOfBigInt(FIRST + BigInt(70_000 + run), 4)] })], []);
report("a Service gets another address");
for (let run = 0; run < 20; run++) change([serviceOf(SERVICES + run)], [sliceOf(SERVICES + run, true)]);
report("a Service more");
for (let run = 0; run < 20; run++) change([], [sliceOf(run + 50, false)]);
report("an EndpointSlice changes");
change(
  numbers.slice(100, 600).map((number) => serviceOf(number, { labels: {} })),
  [],
);
report("500 Services change");

for (let run = 0; run < 2; run++) {
  machines[2]?.host.kill();
  pass(30_000);
  report("another speaker is killed");
  machines[2] = new Machine(2);
  report("it is started again, and reads all");
  pass(30_000);
  report("it comes back");
}
