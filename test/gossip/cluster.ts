/** Clusters of drivers on a memory network and a virtual clock, for the tests of this folder. */
import { VirtualClock } from "../../src/base/clock.ts";
import { SeededRandom } from "../../src/base/random.ts";
import { createCodec } from "../../src/gossip/codec.ts";
import { GossipDriver } from "../../src/gossip/driver.ts";
import { Keyring } from "../../src/gossip/keyring.ts";
import { MemoryHost } from "../../src/gossip/memory-host.ts";
import { MemoryNetwork, type Quality } from "../../src/gossip/memory-network.ts";
import { MemoryTransport } from "../../src/gossip/memory-transport.ts";
import type { Endpoint } from "../../src/gossip/message.ts";
import type { Member, SwimNews } from "../../src/gossip/swim-event.ts";
import { TIMING_PRESETS, type Timing } from "../../src/gossip/timing.ts";
import type { Ip } from "../../src/net/ip.ts";

export interface Told {
  readonly atMs: number;
  readonly news: SwimNews;
}

export interface Node {
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly host: MemoryHost;
  readonly driver: GossipDriver;
  readonly told: Told[];
}

export interface ClusterOptions {
  readonly seed?: number;
  readonly timing?: Timing;
  readonly quality?: Quality;
  readonly key?: Uint8Array;
  readonly detectsFast?: boolean;
}

export function ipOfNode(index: number): Ip {
  return `192.0.2.${index + 1}` as Ip;
}

export class Cluster {
  readonly clock = new VirtualClock(1_000);
  readonly network: MemoryNetwork;
  readonly nodes: Node[] = [];
  readonly #options: ClusterOptions;
  readonly #random: SeededRandom;

  constructor(options: ClusterOptions = {}) {
    this.#options = options;
    this.#random = new SeededRandom(options.seed ?? 1);
    this.network = new MemoryNetwork(this.clock, new SeededRandom(this.#random.below(2 ** 32)), options.quality);
  }

  /** A process on a machine of its own; it listens, and is not open yet. Its keyring is that of the cluster unless it has its own. */
  add(name: string, ip: Ip, meta: Uint8Array = new Uint8Array(0), own?: Keyring): Node {
    const endpoint: Endpoint = { ip, port: 7946 };
    const host = new MemoryHost(this.clock);
    const random = new SeededRandom(this.#random.below(2 ** 32));
    const timing = this.#options.timing ?? TIMING_PRESETS.lan;
    const { key } = this.#options;
    const keyring = own ?? (key === undefined ? undefined : new Keyring(key));
    const told: Told[] = [];
    const driver = new GossipDriver({
      name,
      endpoint,
      timing,
      random,
      codec: createCodec({ label: "", timing, random, ...(keyring === undefined ? {} : { keyring }) }),
      transport: new MemoryTransport(this.network, host, endpoint),
      clock: host,
      turns: host,
      detectsFast: this.#options.detectsFast === true,
      tell: (news, atMs) => told.push({ atMs, news }),
    });
    driver.start();
    driver.command({ kind: "set-meta", meta, isUrgent: false });
    const node = { name, endpoint, host, driver, told };
    this.nodes.push(node);
    return node;
  }

  open(node: Node, peers: readonly Endpoint[]): void {
    node.driver.command({ kind: "known-peers", endpoints: peers });
    node.driver.command({ kind: "open" });
  }

  run(durationMs: number): void {
    this.clock.advance(durationMs);
  }

  /** Runs in steps of 10 ms until the condition holds; the time it took, or undefined. */
  runUntil(condition: () => boolean, limitMs: number): number | undefined {
    const startMs = this.clock.nowMs();
    while (!condition()) {
      if (this.clock.nowMs() - startMs >= limitMs) return undefined;
      this.run(10);
    }
    return this.clock.nowMs() - startMs;
  }
}

/** `count` nodes, each of which knows the addresses of all, after they have met. */
export function formed(count: number, options: ClusterOptions = {}): Cluster {
  const cluster = new Cluster(options);
  const nodes = Array.from({ length: count }, (_, index) => cluster.add(`n${index + 1}`, ipOfNode(index)));
  const endpoints = nodes.map(({ endpoint }) => endpoint);
  for (const node of nodes) cluster.open(node, endpoints);
  cluster.run(2_000);
  return cluster;
}

export function nodeAt(cluster: Cluster, index: number): Node {
  const node = cluster.nodes[index];
  if (node === undefined) throw new Error(`no node ${index}`);
  return node;
}

export function viewOf(node: Node, name: string): Member | undefined {
  return node.driver.members().find((member) => member.name === name);
}

/** Every living node holds exactly these names alive. */
export function allHoldAlive(
  nodes: readonly Node[],
  names: readonly string[] = nodes.map(({ name }) => name),
): boolean {
  const wanted = [...names].toSorted().join(" ");
  return nodes.every((node) => aliveNames(node).join(" ") === wanted);
}

export function aliveNames(node: Node): string[] {
  return node.driver
    .members()
    .flatMap((member) => (member.state === "alive" ? [member.name] : []))
    .toSorted();
}

/** When a node was told of a change of a member, after `sinceMs`. */
export function changeAt(node: Node, change: string, name: string, sinceMs = 0): number | undefined {
  return node.told.find(
    ({ news, atMs }) =>
      atMs >= sinceMs && news.kind === "member-changed" && news.change === change && news.member.name === name,
  )?.atMs;
}

/** All news of one kind, in order. */
export function newsOf<Kind extends SwimNews["kind"]>(node: Node, kind: Kind): Extract<SwimNews, { kind: Kind }>[] {
  return node.told.flatMap(({ news }) => (isKind(news, kind) ? [news] : []));
}

function isKind<Kind extends SwimNews["kind"]>(news: SwimNews, kind: Kind): news is Extract<SwimNews, { kind: Kind }> {
  return news.kind === kind;
}
