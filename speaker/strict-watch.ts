/**
 * Strict addresses on this node: what the announcer wants leases for, what members say about leases, and which speakers are expected.
 * `StrictLeases` has the rules; this knows members, objects and payloads.
 */
import type { AnnouncerEvent, AnnouncerNote } from "../src/announcer/ports.ts";
import { isDue } from "../src/base/deadlines.ts";
import type { Random } from "../src/base/random.ts";
import type { ClusterSnapshot } from "../src/desired/snapshot.ts";
import { expectedSpeakers } from "../src/election/strict/expected-speakers.ts";
import { StrictLeases } from "../src/election/strict/strict-leases.ts";
import type { GossipDriver } from "../src/gossip/driver.ts";
import { decodeLeaseMessages, encodeLeaseMessage } from "../src/gossip/lease-message.ts";
import type { Endpoint } from "../src/gossip/message.ts";
import type { Ip } from "../src/net/ip.ts";
import type { MemberViews } from "./member-views.ts";

export interface StrictPorts {
  readonly random: Random;
  readonly nowMs: number;
  readonly gossip: () => GossipDriver | undefined;
  /** Of what is waited for: most speakers do not answer any more. */
  readonly unreachable: (ip: Ip, nowMs: number) => void;
  readonly announce: (event: Extract<AnnouncerEvent, { readonly kind: "leases" }>, nowMs: number) => void;
}

/** From when a lease is wanted: who does not hear most speakers by then will not soon. */
const PATIENCE_MS = 2_000;

export interface StrictSettings {
  readonly nodeName: string;
  readonly ignoresExcludeLabel: boolean;
}

export class StrictWatch {
  readonly #settings: StrictSettings;
  readonly #members: Pick<MemberViews, "all">;
  readonly #ports: StrictPorts;
  readonly leases: StrictLeases;
  #snapshot: ClusterSnapshot | undefined;
  #peers: readonly Ip[] = [];
  /** Some advertisement has asked for it since this process began: from then on this node votes. */
  #isOn = false;
  #by: "node" | "peer" = "node";
  #hasNews = false;
  #wasInReach = false;

  constructor(settings: StrictSettings, members: Pick<MemberViews, "all">, ports: StrictPorts) {
    this.#settings = settings;
    this.#members = members;
    this.#ports = ports;
    this.leases = new StrictLeases({ self: settings.nodeName, random: ports.random, nowMs: ports.nowMs });
  }

  applySnapshot(snapshot: ClusterSnapshot, nowMs: number): void {
    this.#snapshot = snapshot;
    this.#isOn ||= [...snapshot.advertisements.values()].some(({ isStrict }) => isStrict === true);
    this.#expect(nowMs);
  }

  /** A peer whose name does not resolve now is expected on. */
  setPeers(endpoints: readonly Endpoint[], named: number, nowMs: number): void {
    if (endpoints.length < named) return;
    this.#peers = endpoints.map(({ ip }) => ip);
    this.#expect(nowMs);
  }

  #expect(nowMs: number): void {
    const own = this.#ports.gossip()?.self.endpoint;
    if (!this.#isOn || this.#snapshot === undefined || own === undefined) return;
    const peers = [own.ip, ...this.#peers];
    const { by, voters } = expectedSpeakers(this.#snapshot, peers, this.#settings.ignoresExcludeLabel);
    this.#by = by;
    this.leases.expect(voters, by === "node" ? this.#settings.nodeName : own.ip, nowMs);
    this.#hasNews = true;
  }

  noted(note: AnnouncerNote, nowMs: number): void {
    if (note.kind === "lease-wanted") this.leases.want(note.ip, nowMs);
    else if (note.kind === "lease-released") this.leases.release(note.ip, nowMs);
    else return;
    this.#hasNews = true;
  }

  /** `nowMs` must have been read after the payload was. */
  hear(from: string, payload: Uint8Array, nowMs: number): void {
    if (!this.#isOn) return;
    for (const message of decodeLeaseMessages(payload)) {
      if (message.node !== from) continue;
      this.leases.hear(message, this.#voterOf(from), nowMs);
      this.#hasNews = true;
    }
  }

  /** Asks and answers whom it is time to, and tells the announcer what has come and gone. */
  settle(nowMs: number): void {
    while (this.#hasNews || isDue(this.leases.nextDeadlineMs(nowMs), nowMs)) {
      this.#hasNews = false;
      this.leases.tick(nowMs);
      const { gained, lost } = this.leases.takeChanges();
      if (gained.length > 0 || lost.length > 0) this.#ports.announce({ kind: "leases", gained, lost }, nowMs);
      this.#send();
      const isInReach = this.leases.isInReach(nowMs);
      if (this.#wasInReach && !isInReach) for (const ip of this.leases.waiting()) this.#ports.unreachable(ip, nowMs);
      this.#wasInReach = isInReach;
    }
  }

  /** Of a lease that is waited for. */
  prospectOf(ip: Ip, nowMs: number): "in-reach" | "out-of-reach" | "unknown" {
    if (this.leases.isInReach(nowMs)) return "in-reach";
    return nowMs - (this.leases.waitsSinceMs(ip) ?? nowMs) < PATIENCE_MS ? "unknown" : "out-of-reach";
  }

  deadlineMs(nowMs: number): number | undefined {
    return this.leases.nextDeadlineMs(nowMs);
  }

  #send(): void {
    for (const outgoing of this.leases.takeOutgoing()) {
      const to = "node" in outgoing ? outgoing.node : this.#memberOf(outgoing.voter);
      if (to === undefined) continue;
      for (const payload of encodeLeaseMessage(outgoing.message)) {
        this.#ports.gossip()?.command({ kind: "send-user", to: [to], payload });
      }
    }
  }

  #voterOf(node: string): string | undefined {
    if (this.#by === "node") return node;
    return this.#members.all().find(({ member }) => member.name === node)?.member.endpoint.ip;
  }

  #memberOf(voter: string): string | undefined {
    if (this.#by === "node") return voter;
    return this.#members.all().find(({ member }) => member.endpoint.ip === voter)?.member.name;
  }
}
