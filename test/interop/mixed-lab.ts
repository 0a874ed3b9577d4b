/**
 * Real speakers and real members of the Go library on the nodes of one lab, in one encrypted cluster on port 7946. The Go members have
 * memberlist as MetalLB configures it, and MetalLB's election, each over its own list: the oracle.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { StatusDocument } from "../../api/status.ts";
import { SwitchFaults } from "../../hack/netlab/faults.ts";
import {
  emptyCache,
  killSpeaker,
  type Lab,
  nodeFolder,
  startBackend,
  startSpeaker,
  writeManifest,
} from "../../hack/netlab/lab.ts";
import { fetchStatus } from "../../hack/netlab/status.ts";
import { type Host, SERVICES } from "../../hack/netlab/topology.ts";
import { hexOf } from "../../src/base/bytes.ts";
import { deriveKey } from "../../src/gossip/keyring.ts";
import { suspicionLimits } from "../../src/gossip/suspicion.ts";
import { TIMING_PRESETS } from "../../src/gossip/timing.ts";
import type { Ip } from "../../src/net/ip.ts";
import { GoPeer } from "./go-peer.ts";

const GOSSIP_PORT = 7946;
const POLL_MS = 250;
/** A lost member is dialled again every 10 s, jittered; a push/pull and the gossip after it follow. */
const REJOIN_MS = 15_000;
/** What starts beside others on a busy machine needs some seconds until it answers. */
const START_MS = 15_000;

/** What is hashed, and every address that is led with it: MetalLB takes the first of each Service. */
const HASHED: readonly { readonly key: Ip; readonly address: Ip }[] = SERVICES.flatMap(({ addresses }) => {
  const [key] = addresses;
  return key === undefined ? [] : addresses.map((address) => ({ key, address }));
});
export const HASHED_ADDRESSES: readonly Ip[] = [...new Set(HASHED.map(({ key }) => key))];

export class MixedLab {
  readonly lab: Lab;
  readonly faults: SwitchFaults;
  readonly #program: string;
  readonly #key: string;
  readonly #ours = new Set<string>();
  readonly #theirs = new Map<string, GoPeer>();
  readonly #lost = new Set<string>();
  readonly #ends: (() => void)[] = [];
  /** All that ever ran. */
  readonly #peers: GoPeer[] = [];

  /** `lab` is bare; every node gets a Node object, for MetalLB elects among those alone. */
  constructor(lab: Lab, program: string) {
    this.lab = lab;
    this.faults = new SwitchFaults(lab.topology);
    this.#program = program;
    this.#key = hexOf(deriveKey(readFileSync(join(nodeFolder(lab, this.#first()), "key", "secretkey"))));
    const nodes = lab.topology.nodes.map(({ name }) => nodeYaml(name)).join("---\n");
    for (const node of lab.topology.nodes) writeManifest(lab, node, "nodes.yaml", nodes);
  }

  /** Greatest time from a death to everybody's verdict: a round of probes, then the longest suspicion in a cluster of that size. */
  get verdictMs(): number {
    const { nodes } = this.lab.topology;
    const timing = TIMING_PRESETS.lan;
    return nodes.length * timing.probeIntervalMs + suspicionLimits(timing, nodes.length).greatestMs;
  }

  /** Names of those that run and are not lost, ours and Go's. */
  get living(): readonly string[] {
    return [...this.#livingOurs(), ...this.#livingGo().map(({ name }) => name)].toSorted();
  }

  go(name: string): GoPeer {
    const peer = this.#theirs.get(name);
    if (peer === undefined) throw new Error(`no Go member runs on ${name}`);
    return peer;
  }

  node(name: string): Host {
    const node = this.lab.topology.nodes.find((one) => one.name === name);
    if (node === undefined) throw new Error(`the lab has no node ${name}`);
    return node;
  }

  /** A speaker without memory. */
  startOurs(name: string): void {
    const node = this.node(name);
    emptyCache(this.lab, node);
    startBackend(this.lab, node);
    startSpeaker(this.lab, node);
    this.#ours.add(name);
  }

  /** Runs, and knows itself alone. */
  async startGo(name: string): Promise<GoPeer> {
    const { ipv4, namespace } = this.node(name);
    const address = { ip: ipv4, port: GOSSIP_PORT, namespace };
    const options = { name, ...address, key: this.#key, isLan: true, addresses: HASHED_ADDRESSES };
    const peer = await GoPeer.start(this.#program, options);
    this.#theirs.set(name, peer);
    this.#peers.push(peer);
    return peer;
  }

  /** MetalLB's speakers join with the addresses of all pods, at their start and every minute. */
  async joinGo(name: string): Promise<void> {
    const others = this.living.filter((other) => other !== name).map((other) => this.node(other));
    await this.go(name).command(`join ${others.map(({ ipv4 }) => `${ipv4}:${GOSSIP_PORT}`).join(",")}`);
  }

  async startGoAndJoin(name: string): Promise<GoPeer> {
    const peer = await this.startGo(name);
    await this.joinGo(name);
    return peer;
  }

  /** SIGKILL, whose side ever it is on. */
  async kill(name: string): Promise<void> {
    const peer = this.#theirs.get(name);
    this.#theirs.delete(name);
    this.#ours.delete(name);
    if (peer === undefined) await killSpeaker(this.lab, this.node(name));
    else await peer.kill();
  }

  /** It runs, but is to be gone in the eyes of all others: frozen, cut off, or about to leave. */
  lose(name: string): void {
    this.#lost.add(name);
  }

  /** It is to be one of all again. */
  find(name: string): void {
    this.#lost.delete(name);
  }

  /** Until all that run know each other and nobody else, follow the same rule and name the same leaders as every Go member. */
  async agree(limitMs = this.verdictMs + REJOIN_MS + START_MS): Promise<void> {
    const endMs = performance.now() + limitMs;
    for (;;) {
      const problems = await this.problems();
      if (problems.length === 0) return;
      if (performance.now() > endMs) throw new Error(`no agreement in ${limitMs} ms: ${problems.join("; ")}`);
      await pause(POLL_MS);
    }
  }

  /** What is missing until all agree. */
  async problems(): Promise<readonly string[]> {
    const oracles = await Promise.all(this.#livingGo().map(oracleOf));
    const documents = await Promise.all(this.#livingOurs().map((name) => this.#problemsOfOurs(name, oracles)));
    const lists = await Promise.all(this.#livingGo().map((peer) => this.#problemsOfGo(peer)));
    return [...documents, ...lists].flat();
  }

  /** One document for each speaker of ours that runs and answers. */
  async statuses(): Promise<readonly StatusDocument[]> {
    const documents = await Promise.all(this.#livingOurs().map((name) => fetchStatus(this.lab, this.node(name))));
    return documents.filter((document) => document !== undefined);
  }

  /** Verdicts so far, "who: whom": what speakers of ours wrote into their logs, and what Go's delegates were told. Leaves are not among ours. */
  verdicts(): readonly string[] {
    const ours = this.lab.topology.nodes.flatMap((node) =>
      this.#logOf(node)
        .filter(({ msg }) => msg === "member held dead")
        .map(({ member = "" }) => `${node.name}: ${member}`),
    );
    const theirs = this.#peers.flatMap(({ name, events }) =>
      events.all.filter(({ event }) => event === "leave").map((one) => `${name}: ${one.name ?? ""}`),
    );
    return [...ours, ...theirs];
  }

  /** Speakers that were held dead and said so, because they were not. */
  deniedDeaths(): readonly string[] {
    return this.lab.topology.nodes.flatMap((node) =>
      this.#logOf(node).some(({ msg }) => msg === "this node was held dead, and is not") ? [node.name] : [],
    );
  }

  /** What Go members logged as errors. */
  errors(): readonly string[] {
    return this.#peers.flatMap((peer) => peer.errors().map((text) => `${peer.name}: ${text}`));
  }

  /** How often a Go member began to suspect somebody by itself. */
  suspicions(): number {
    return this.#peers.flatMap(({ events }) => events.all.filter(({ text = "" }) => /Suspect .* has failed/.test(text)))
      .length;
  }

  /** The highest health score that any Go member ever had; 0 is good. */
  worstScore(): number {
    return Math.max(0, ...this.#peers.map((peer) => peer.worstScore()));
  }

  /** What else is to be ended with the Go members. */
  whenClosed(end: () => void): void {
    this.#ends.push(end);
  }

  /** Ends the Go members; the speakers end with the lab. */
  async close(): Promise<void> {
    this.faults.close();
    for (const end of this.#ends) end();
    await Promise.all(this.#peers.map((peer) => peer.kill()));
  }

  #livingOurs(): readonly string[] {
    return [...this.#ours].filter((name) => !this.#lost.has(name));
  }

  #livingGo(): readonly GoPeer[] {
    return [...this.#theirs.values()].filter(({ name }) => !this.#lost.has(name));
  }

  #first(): Host {
    const [node] = this.lab.topology.nodes;
    if (node === undefined) throw new Error("a lab without nodes");
    return node;
  }

  async #problemsOfOurs(name: string, oracles: readonly Oracle[]): Promise<readonly string[]> {
    const document = await fetchStatus(this.lab, this.node(name));
    if (document === undefined) return [`${name} gives no status`];
    const alive = document.members
      .filter(({ state }) => state === "alive" || state === "suspect")
      .map((member) => member.name);
    const problems = differences(name, alive.toSorted(), this.living);
    const wanted = this.#livingGo().length > 0 ? "metallb-1" : "arpeggio-1";
    const { rule, reason } = document.election;
    // After the last Go member the rule is held for 30 s.
    if (rule !== wanted && reason !== "member-uses-less") problems.push(`${name} follows ${rule} (${reason})`);
    for (const oracle of oracles) problems.push(...againstOracle(document, oracle));
    return problems;
  }

  async #problemsOfGo(peer: GoPeer): Promise<readonly string[]> {
    return differences(peer.name, await peer.members(), this.living);
  }

  #logOf(node: Host): readonly LogLine[] {
    let text: string;
    try {
      text = readFileSync(join(nodeFolder(this.lab, node), "speaker.log"), "utf8");
    } catch {
      return []; // no speaker ran there
    }
    return text.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as LogLine] : []));
  }
}

/** Who leads what, by MetalLB's election over one Go member's list. */
interface Oracle {
  readonly name: string;
  readonly leaders: ReadonlyMap<Ip, string>;
}

async function oracleOf(peer: GoPeer): Promise<Oracle> {
  const leaders = new Map<Ip, string>();
  for (const key of HASHED_ADDRESSES) leaders.set(key, await peer.leaderOf(key));
  return { name: peer.name, leaders };
}

function againstOracle({ node, addresses }: StatusDocument, { name, leaders }: Oracle): readonly string[] {
  return HASHED.flatMap(({ key, address }) => {
    const leader = leaders.get(key);
    const ours = addresses.find((entry) => entry.address === address)?.leader ?? "nobody";
    return ours === leader ? [] : [`${node} says ${ours} leads ${address}, ${name} says ${leader}`];
  });
}

interface LogLine {
  readonly msg?: string;
  readonly member?: string;
}

function differences(who: string, sees: readonly string[], wanted: readonly string[]): string[] {
  const missing = wanted.filter((name) => !sees.includes(name));
  const extra = sees.filter((name) => !wanted.includes(name));
  return [
    ...(missing.length === 0 ? [] : [`${who} misses ${missing.join(", ")}`]),
    ...(extra.length === 0 ? [] : [`${who} still holds ${extra.join(", ")} alive`]),
  ];
}

function nodeYaml(name: string): string {
  return `apiVersion: v1
kind: Node
metadata:
  name: ${name}
  labels:
    kubernetes.io/hostname: ${name}
`;
}
