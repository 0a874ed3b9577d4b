/**
 * A member as MetalLB's speaker is one, seen from gossip: memberlist's own detection and timing, no metadata, and the election of
 * metallb.io's documents, written out naively. On the wire it says what it has won, and answers nobody but a speaker that hands over
 * to it: clients ask the model itself what it leads.
 */
import { createHash } from "node:crypto";
import { announcementFrame, framesPerBurst } from "../../src/announcer/announcement.ts";
import { hexOf } from "../../src/base/bytes.ts";
import { SeededRandom } from "../../src/base/random.ts";
import type { ClusterSnapshot } from "../../src/desired/snapshot.ts";
import { createCodec } from "../../src/gossip/codec.ts";
import { GossipDriver } from "../../src/gossip/driver.ts";
import type { Endpoint } from "../../src/gossip/message.ts";
import { familyOf, type Ip, isLinkLocal } from "../../src/net/ip.ts";
import type { Link } from "../../src/net/link.ts";
import { prefixHolds } from "../../src/net/prefix.ts";
import { EXCLUDE_LABEL } from "./cluster.ts";
import { answerFrame, readFrame } from "./frames.ts";
import type { OwnFlags, StartTenant, Tenant, TenantPorts, TenantView } from "./tenant.ts";
import { WORLD_TIMING } from "./user-messages.ts";

/** How often it asks those again that it knows of and does not hear. */
const REJOIN_MS = 20_000;
/** What it has won it announces so often for five seconds. */
const ANNOUNCE_EVERY_MS = 1_100;
const ANNOUNCEMENTS = 5;

export const metallbTenant: StartTenant = (ports) => new MetallbTenant(ports);

class MetallbTenant implements Tenant {
  readonly #ports: TenantPorts;
  readonly #gossip: GossipDriver;
  #snapshot: ClusterSnapshot | undefined;
  #peers: readonly Endpoint[] = [];
  #isClosed = false;
  #links: readonly Link[] = [];
  /** What it leads, and how often it has said so. */
  readonly #announced = new Map<Ip, number>();

  constructor(ports: TenantPorts) {
    this.#ports = ports;
    const { clock, random, transport, afterPoll, name } = ports;
    this.#gossip = new GossipDriver({
      name,
      endpoint: transport.local,
      timing: WORLD_TIMING,
      random,
      codec: createCodec({ label: "", timing: WORLD_TIMING, random: new SeededRandom(2) }),
      transport,
      clock,
      turns: { afterReads: afterPoll },
      tell: (news) => {
        if (news.kind === "left") ports.exited();
      },
    });
    this.#gossip.start();
    ports.packets.listen((linkIndex, _family, frame) => this.#hear(linkIndex, frame));
  }

  setLinks(links: readonly Link[]): void {
    this.#links = links;
    this.#ports.packets.setLinks(links);
    this.#listen();
  }

  /** As its kernel's sockets: every request comes in. */
  #listen(): void {
    const services = [...(this.#snapshot?.services.values() ?? [])];
    const addresses = new Set(services.flatMap((service) => service.addresses as readonly Ip[]));
    for (const { index } of this.#links) this.#ports.packets.setFilter(index, addresses, []);
  }

  #hear(linkIndex: number, bytes: Uint8Array): void {
    const asked = readFrame(bytes);
    const link = this.#links.find(({ index }) => index === linkIndex);
    if (asked === undefined || link === undefined || !this.#announced.has(asked.targetIp)) return;
    const { form, source, senderIp, senderMac, targetIp } = asked;
    const isHandingOver =
      form === "arp-request" ? senderIp === "0.0.0.0" : form === "solicitation" && isLinkLocal(senderIp);
    // MetalLB answers no solicitation without source link-layer address.
    if (!isHandingOver || senderMac === undefined) return;
    const answer = answerFrame({ mac: link.mac, ip: targetIp }, { mac: source, ip: senderIp });
    this.#ports.packets.send(linkIndex, familyOf(targetIp), answer);
  }

  #announce(): void {
    if (this.#isClosed) return;
    const { name, packets, clock } = this.#ports;
    const leaders = this.#leaders();
    this.#forgetLost(leaders);
    for (const [ip, leader] of leaders) {
      const times = this.#announced.get(ip) ?? 0;
      if (leader !== name || times >= ANNOUNCEMENTS) continue;
      this.#announced.set(ip, times + 1);
      for (const { index, mac, hasCarrier, prefixes } of this.#links) {
        if (!hasCarrier || !prefixes.some((prefix) => prefixHolds(prefix, ip))) continue;
        for (let frame = 0; frame < framesPerBurst(ip); frame++)
          packets.send(index, familyOf(ip), announcementFrame(ip, mac, frame));
      }
    }
    packets.flush();
    clock.schedule(ANNOUNCE_EVERY_MS, () => this.#announce());
  }

  #leaders(): ReadonlyMap<Ip, string> {
    if (this.#snapshot === undefined) return new Map();
    const members = this.#gossip.members().filter(({ state }) => state === "alive" || state === "suspect");
    return metallbLeaders(
      this.#snapshot,
      members.map(({ name }) => name),
    );
  }

  setPeers(endpoints: readonly Endpoint[]): void {
    const isFirst = this.#peers.length === 0;
    this.#peers = endpoints;
    this.#gossip.command({ kind: "open" });
    if (!isFirst) return;
    this.#join();
    this.#announce();
  }

  #join(): void {
    if (this.#isClosed) return;
    const { ip } = this.#ports.transport.local;
    this.#gossip.command({ kind: "join", endpoints: this.#peers.filter((peer) => peer.ip !== ip) });
    this.#ports.clock.schedule(REJOIN_MS, () => this.#join());
  }

  /** Whatever is lost is lost at once, so that it is announced again when it is won back. */
  applySnapshot(snapshot: ClusterSnapshot): void {
    this.#snapshot = snapshot;
    this.#listen();
    this.#forgetLost(this.#leaders());
  }

  #forgetLost(leaders: ReadonlyMap<Ip, string>): void {
    for (const ip of this.#announced.keys()) if (leaders.get(ip) !== this.#ports.name) this.#announced.delete(ip);
  }

  leave(): void {
    this.#gossip.command({ kind: "leave" });
  }

  close(): void {
    this.#isClosed = true;
    void this.#gossip.close();
  }

  flags(): OwnFlags {
    return { isReady: true, isSettling: false, isDamped: false, returningLinks: [] };
  }

  saysOf(): undefined {
    return undefined;
  }

  view(): TenantView {
    const members = this.#gossip.members().map(({ name, endpoint, state, incarnation, meta }) => ({
      name,
      ip: endpoint.ip,
      state,
      incarnation,
      meta: hexOf(meta),
    }));
    return {
      ...this.flags(),
      incarnation: this.#gossip.self.incarnation,
      rule: "metallb-1",
      members,
      decisions: [...this.#leaders()].map(([ip, leader]) => ({
        key: ip,
        addresses: [ip],
        leader,
        reason: "metallb",
        isSticky: false,
        candidates: [],
        tiers: [],
        whole: "",
      })),
      holders: new Map(),
      taken: [],
      contested: [],
      inputs: undefined,
    };
  }
}

/** Who announces each address in MetalLB's eyes; addresses of several Services, and such that nobody may announce, are left out. */
export function metallbLeaders(snapshot: ClusterSnapshot, speakers: readonly string[]): ReadonlyMap<Ip, string> {
  const leaders = new Map<Ip, string>();
  const owners = new Map<string, number>();
  for (const { addresses } of snapshot.services.values())
    for (const ip of addresses) owners.set(ip, (owners.get(ip) ?? 0) + 1);
  for (const service of snapshot.services.values()) {
    const [first] = service.addresses;
    if (first === undefined || service.addresses.some((ip) => (owners.get(ip) ?? 0) > 1)) continue;
    const slices = [...snapshot.endpointSlices.values()].filter(
      ({ namespace, serviceName }) => namespace === service.namespace && serviceName === service.name,
    );
    const serving = slices.flatMap(({ endpoints }) =>
      endpoints.filter(({ ready, serving: serves }) => ready !== false || serves === true),
    );
    if (serving.length === 0) continue;
    const able = speakers.filter((name) => {
      const node = snapshot.nodes.get(name);
      if (node === undefined || node.isNetworkUnavailable || EXCLUDE_LABEL in node.labels) return false;
      return service.externalTrafficPolicy === "Cluster" || serving.some(({ nodeName }) => nodeName === name);
    });
    const hashOf = (name: string) => createHash("sha256").update(`${name}#${first}`).digest("hex");
    const [leader] = able.toSorted((a, b) => (hashOf(a) < hashOf(b) ? -1 : 1));
    if (leader !== undefined) for (const ip of service.addresses) leaders.set(ip as Ip, leader);
  }
  return leaders;
}
