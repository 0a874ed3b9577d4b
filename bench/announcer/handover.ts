/**
 * What moving many addresses from one node to another costs each of the two, in processor time (DESIGN §5): prints, judges nothing.
 * `node dist/bench/announcer/handover.js [ADDRESSES]`; without an argument 1,000 and then 3,333.
 */
import { AnnouncerDriver } from "../../src/announcer/driver.ts";
import type { ClaimBasis, Duty } from "../../src/announcer/ports.ts";
import { decodeUserMessages, encodeUserMessages, ofLeaders } from "../../src/gossip/user-message.ts";
import { type Ip, ipOfBigInt } from "../../src/net/ip.ts";
import { parseMac } from "../../src/net/mac.ts";
import { parsePrefix, rangeOfPrefix } from "../../src/net/prefix.ts";
import { portsWithoutWire } from "../speaker/no-wire.ts";

const NETWORK = parsePrefix("10.0.0.0/8");
const MAC = parseMac("02:00:00:00:00:01");
if (NETWORK === undefined || MAC === undefined) throw new Error("constants do not parse");
const FIRST = rangeOfPrefix(NETWORK).first;
const LINK = { index: 2, name: "eth0", mac: MAC, isUsable: true, addresses: [], prefixes: [NETWORK] };

interface Payload {
  readonly to: string;
  readonly bytes: Uint8Array;
}

/** An announcer, its messages encoded and its filters built, but nothing given to a kernel. */
class Node {
  readonly name: string;
  payloads: Payload[] = [];
  filters = 0;
  filterMs = 0;
  longestMs = 0;
  totalMs = 0;
  readonly driver: AnnouncerDriver;

  constructor(name: string) {
    this.name = name;
    const { packets, groups } = portsWithoutWire();
    this.driver = new AnnouncerDriver({
      nodeName: name,
      packets: { ...packets, setFilter: (...wanted) => this.#timeFilter(() => packets.setFilter(...wanted)) },
      groups,
      sendMessages: (to, messages) => {
        for (const bytes of encodeUserMessages(messages)) this.payloads.push({ to, bytes });
      },
      note: () => undefined,
    });
    this.driver.setPoolPrefixes(NETWORK === undefined ? [] : [NETWORK]);
    this.driver.handle({ kind: "links", links: [LINK] }, 0);
  }

  timed(run: () => void): void {
    const tookMs = processorMs(run);
    this.longestMs = Math.max(this.longestMs, tookMs);
    this.totalMs += tookMs;
  }

  tickUntil(endMs: number): void {
    for (let dueMs = this.driver.nextDeadlineMs(); dueMs !== undefined && dueMs <= endMs; ) {
      const atMs = dueMs;
      this.timed(() => this.driver.handle({ kind: "tick" }, atMs));
      dueMs = this.driver.nextDeadlineMs();
    }
  }

  report(what: string): void {
    const lines = [
      `${this.name} ${what}: ${this.totalMs.toFixed(1)} ms in all, longest stretch ${this.longestMs.toFixed(1)} ms`,
      `${this.filters} filters built in ${this.filterMs.toFixed(1)} ms, ${this.payloads.length} datagrams`,
    ];
    process.stdout.write(`  ${lines.join("; ")}\n`);
    this.payloads = [];
    this.filters = this.filterMs = this.longestMs = this.totalMs = 0;
  }

  #timeFilter(build: () => void): void {
    const tookMs = processorMs(build);
    this.filters++;
    this.filterMs += tookMs;
  }
}

/** This process's own time, which another load on the machine hardly changes. */
function processorMs(run: () => void): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

function basisOf(node: string): ClaimBasis {
  const hash = node.repeat(32);
  return { incarnation: 1, rule: "arpeggio-1", term: 0, freshness: 0, tier: 1, score: 0, endpointClass: "any", hash };
}

function move(addresses: readonly Ip[]): void {
  process.stdout.write(`${addresses.length} addresses\n`);
  const duties = (role: Duty["role"], node: string, changes: Partial<Duty> = {}): readonly Duty[] =>
    addresses.map((ip) => ({ ip, group: ip, interfaces: [], role, basis: basisOf(node), ...changes }));
  const [oldLeader, newLeader] = [new Node("aa"), new Node("bb")];
  oldLeader.timed(() => oldLeader.driver.handle({ kind: "duty-changes", gone: [], come: duties("lead", "aa") }, 0));
  oldLeader.report("leads");
  const nextLeader = { node: "bb", sendsClaims: true };
  oldLeader.timed(() =>
    oldLeader.driver.handle({ kind: "duty-changes", gone: [], come: duties("moved", "aa", { nextLeader }) }, 10),
  );
  oldLeader.report("is to hand over");
  const lead = duties("lead", "bb", { second: "cc", previousLeader: "aa" });
  newLeader.timed(() => newLeader.driver.handle({ kind: "duty-changes", gone: [], come: lead }, 10));
  newLeader.tickUntil(12);
  const claims = newLeader.payloads.filter(({ to }) => to === "aa");
  newLeader.report("claims");
  for (const { bytes } of claims) {
    const messages = ofLeaders(decodeUserMessages(bytes).messages);
    oldLeader.timed(() => oldLeader.driver.handle({ kind: "messages", from: "bb", messages }, 12));
  }
  oldLeader.tickUntil(100);
  const words = oldLeader.payloads;
  oldLeader.report("stops");
  for (const { bytes } of words) {
    const messages = ofLeaders(decodeUserMessages(bytes).messages);
    newLeader.timed(() => newLeader.driver.handle({ kind: "messages", from: "aa", messages }, 13));
  }
  newLeader.report("hears of it");
}

const counts = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1_000, 3_333];
for (const count of counts) {
  // 3 apart, so that no two are neighbours: the longest filters.
  move(Array.from({ length: count }, (_, index) => ipOfBigInt(FIRST + BigInt(3 * index), 4)));
}
