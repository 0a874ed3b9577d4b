/** What a world is made of: drawn from a seed, then built. */
import type { VirtualClock } from "../../src/base/clock.ts";
import type { SeededRandom } from "../../src/base/random.ts";
import type { ClusterSnapshot } from "../../src/desired/snapshot.ts";
import { type Ip, parseIp } from "../../src/net/ip.ts";
import { type Mac, parseMac } from "../../src/net/mac.ts";
import { type Prefix, parsePrefix } from "../../src/net/prefix.ts";
import { initialSnapshot, type ServicePlan } from "./cluster.ts";
import { EthernetSwitch } from "./ethernet-switch.ts";
import { GossipNetwork } from "./gossip-network.ts";
import { Machine, type MachineWatch } from "./machine.ts";
import { CLIENT_KINDS, SegmentClient } from "./segment-client.ts";

export interface WorldPlan {
  readonly seed: number;
  readonly nodes: readonly string[];
  readonly services: readonly ServicePlan[];
  readonly snapshot: ClusterSnapshot;
  readonly segments: readonly { readonly name: string; readonly snoopsMld: boolean }[];
  /** How much faster each machine's clock runs, by position. */
  readonly ratesPpm: readonly number[];
  /** Nodes on which MetalLB's speaker runs, and such whose speaker may follow MetalLB's rule at most. */
  readonly metallb: ReadonlySet<string>;
  readonly capped: ReadonlySet<string>;
  /** Gossip is encrypted, and its keys are brought and exchanged so many times as fast as in life. */
  readonly keyPace: number | undefined;
  /** How often an address is looked at to which something happened lately. */
  readonly closeLookMs: number;
}

export interface PlanLimits {
  /** Drawn with equal chances: what stands twice comes twice as often. */
  readonly nodes: readonly number[];
  readonly services: readonly number[];
  readonly closeLookMs: number;
  /** Some Services' addresses are sticky. */
  readonly hasSticky?: boolean;
  readonly isStrict?: true;
  /** Gossip is encrypted, and its keys are brought and exchanged so many times as fast as in life. */
  readonly keyPace?: number;
  /** One or two of the nodes run MetalLB's speaker, or ours that follows its rule. */
  readonly isMixed?: true;
}

/** Segment n has the prefixes 10.n.0.0/16-like ones of the documentation ranges; pools lie in the first. */
const SEGMENT_PREFIXES: readonly (readonly string[])[] = [
  ["192.0.2.0/24", "2001:db8::/64"],
  ["198.51.100.0/24", "2001:db8:0:1::/64"],
];

export function drawPlan(seed: number, random: SeededRandom, limits: PlanLimits): WorldPlan {
  const nodes = Array.from({ length: pick(limits.nodes, random) }, (_, index) => `n${index + 1}`);
  const segments = Array.from({ length: random.below(3) === 0 ? 2 : 1 }, (_, index) => ({
    name: `segment${index}`,
    snoopsMld: random.below(2) === 0,
  }));
  const drawn = drawServices(pick(limits.services, random), segments.length, nodes, random);
  // Sharers have one address, and are sticky together.
  const services =
    limits.hasSticky === true
      ? drawn.map((service, index) => ({ ...service, isSticky: !service.isShared && index % 4 !== 3 }))
      : drawn;
  const pools = SEGMENT_PREFIXES.slice(0, segments.length).flat();
  const isStrict = limits.isStrict === undefined ? {} : { isStrict: limits.isStrict };
  const snapshot = initialSnapshot({ nodes, services, pools, ...isStrict });
  const ratesPpm = nodes.map(() => random.below(401) - 200);
  const mixed = limits.isMixed === undefined ? UNMIXED : drawMixed(nodes, random);
  return {
    seed,
    nodes,
    services,
    snapshot,
    segments,
    ratesPpm,
    ...mixed,
    keyPace: limits.keyPace,
    closeLookMs: limits.closeLookMs,
  };
}

const UNMIXED = { metallb: new Set<string>(), capped: new Set<string>() };

function drawMixed(nodes: readonly string[], random: SeededRandom): Pick<WorldPlan, "metallb" | "capped"> {
  const metallb = new Set(nodes.slice(0, random.below(3)));
  const isCapped = metallb.size === 0 || random.below(4) === 0;
  return { metallb, capped: new Set(isCapped ? nodes.slice(-1) : []) };
}

/** A plain world for a story: one segment, no snooping, every Service served everywhere. */
export function planOf(size: {
  readonly nodes: number;
  readonly services: number;
  readonly closeLookMs: number;
  readonly isStrict?: true;
  readonly isSticky?: boolean;
}): WorldPlan {
  const nodes = Array.from({ length: size.nodes }, (_, index) => `n${index + 1}`);
  const services = Array.from({ length: size.services }, (_, index): ServicePlan => {
    const addresses = [ipv4In(0, 100 + index)];
    const isSticky = size.isSticky === true;
    return { name: `s${index}`, addresses, policy: "Cluster", isShared: false, endpoints: nodes, isSticky };
  });
  return {
    seed: 1,
    nodes,
    services,
    snapshot: initialSnapshot({
      nodes,
      services,
      pools: SEGMENT_PREFIXES[0] ?? [],
      ...(size.isStrict === undefined ? {} : { isStrict: size.isStrict }),
    }),
    segments: [{ name: "segment0", snoopsMld: false }],
    ratesPpm: nodes.map(() => 0),
    ...UNMIXED,
    keyPace: undefined,
    closeLookMs: size.closeLookMs,
  };
}

function drawServices(count: number, segments: number, nodes: readonly string[], random: SeededRandom): ServicePlan[] {
  return Array.from({ length: count }, (_, index) => {
    const segment = random.below(segments);
    const families = random.below(4);
    const own = [
      ...(families === 3 ? [] : [ipv4In(segment, 100 + index)]),
      ...(families === 2 || families === 3 ? [ipv6In(segment, 0x100 + index)] : []),
    ];
    // Now and then two Services on one address.
    const isShared = index > 0 && random.below(6) === 0;
    const addresses = isShared ? [ipv4In(0, 99)] : own;
    const policy = random.below(4) === 0 ? "Local" : "Cluster";
    const endpoints = nodes.filter(() => random.below(3) > 0);
    return { name: `s${index}`, addresses, policy, isShared, endpoints: endpoints.length > 0 ? endpoints : [...nodes] };
  });
}

function pick(values: readonly number[], random: SeededRandom): number {
  return values[random.below(values.length)] ?? 1;
}

function ipv4In(segment: number, host: number): Ip {
  return parseIp(`${["192.0.2", "198.51.100"][segment]}.${host}`) as Ip;
}

function ipv6In(segment: number, host: number): Ip {
  return parseIp(`2001:db8:0:${segment}::${host.toString(16)}`) as Ip;
}

function macOf(kind: number, segment: number, host: number): Mac {
  const [s, h] = [segment, host].map((value) => value.toString(16).padStart(2, "0"));
  return parseMac(`02:00:0${kind}:00:${s}:${h}`) as Mac;
}

export function buildSegments(plan: WorldPlan, clock: VirtualClock, random: SeededRandom): EthernetSwitch[] {
  return plan.segments.map(({ name, snoopsMld }) => new EthernetSwitch(name, clock, random, snoopsMld));
}

export function buildNetwork(clock: VirtualClock, random: SeededRandom): GossipNetwork {
  return new GossipNetwork(clock, random);
}

export function buildMachines(
  plan: WorldPlan,
  clock: VirtualClock,
  network: GossipNetwork,
  segments: readonly EthernetSwitch[],
  watchOf: (name: string) => MachineWatch,
): Machine[] {
  return plan.nodes.map((name, index) => {
    const cards = segments.map((segment, number) => ({
      segment,
      settings: {
        index: 2 + number,
        name: `eth${number}`,
        mac: macOf(1, number, index + 1),
        addresses: [ipv4In(number, 10 + index), ipv6In(number, 0x10 + index), linkLocalOf(number, index)],
        prefixes: prefixesOf(number),
      },
    }));
    const settings = { name, ip: ipv4In(0, 10 + index), ratePpm: plan.ratesPpm[index] ?? 0, cards };
    return new Machine(settings, clock, network, watchOf(name));
  });
}

function linkLocalOf(segment: number, index: number): Ip {
  return parseIp(`fe80::${segment + 1}:${(index + 1).toString(16)}`) as Ip;
}

export function prefixesOf(segment: number): Prefix[] {
  return (SEGMENT_PREFIXES[segment] ?? []).flatMap((text) => parsePrefix(text) ?? []);
}

export function buildClients(
  plan: WorldPlan,
  clock: VirtualClock,
  segments: readonly EthernetSwitch[],
): SegmentClient[] {
  return segments.flatMap((segment, number) =>
    CLIENT_KINDS.map((kind, index) => {
      const ips = { 4: ipv4In(number, 200 + index), 6: ipv6In(number, 0x200 + index) } as const;
      return new SegmentClient(
        `${kind}@${plan.segments[number]?.name}`,
        kind,
        macOf(2, number, index + 1),
        ips,
        clock,
        segment,
      );
    }),
  );
}
