/** Machines, segments, clients, gossip network and cluster objects on one virtual clock, from one seed. */
import { createHash } from "node:crypto";
import { VirtualClock } from "../../src/base/clock.ts";
import { SeededRandom } from "../../src/base/random.ts";
import type { ClusterSnapshot } from "../../src/desired/snapshot.ts";
import { openPayload } from "../../src/gossip/encryption.ts";
import { Keyring } from "../../src/gossip/keyring.ts";
import type { Ip } from "../../src/net/ip.ts";
import { Calm, type Disturbance } from "./calm.ts";
import type { LeaderFault } from "./check-failover.ts";
import { revisionOf, stampRevision } from "./cluster.ts";
import type { EthernetSwitch } from "./ethernet-switch.ts";
import { FIRST_KEYS, WORLD_KEYS } from "./faults-keys.ts";
import { isUnsolicited, readFrame } from "./frames.ts";
import type { GossipNetwork } from "./gossip-network.ts";
import type { Machine } from "./machine.ts";
import type { NetworkCard } from "./network-card.ts";
import { Observer } from "./observer.ts";
import type { Standstill } from "./process-loop.ts";
import type { SegmentClient } from "./segment-client.ts";
import type { StartTenant } from "./tenant.ts";
import { Trace } from "./trace.ts";
import { Witnesses } from "./witness.ts";
import { buildClients, buildMachines, buildNetwork, buildSegments, type WorldPlan } from "./world-plan.ts";

/** While something is going on everything is looked at this often; else at `QUIET_LOOK_MS`. */
const BUSY_LOOK_MS = 100;
const QUIET_LOOK_MS = 500;
/** An address that something happened to is looked at closely (`closeLookMs` of the plan) for this long. */
const CLOSE_LOOK_FOR_MS = 1_000;
/** Going on: this long after the last disturbance. */
const BUSY_FOR_MS = 3_000;

export class World {
  readonly plan: WorldPlan;
  readonly clock = new VirtualClock();
  readonly trace: Trace;
  readonly calm = new Calm();
  readonly network: GossipNetwork;
  readonly segments: readonly EthernetSwitch[];
  readonly machines: readonly Machine[];
  readonly clients: readonly SegmentClient[];
  readonly witnesses = new Witnesses();
  readonly addresses: readonly Ip[];
  /** What the API server holds now. */
  snapshot: ClusterSnapshot;
  /** Whose uplink was cut, if anybody's. */
  isolated: string | undefined;
  /** Deliveries of snapshots that are on their way. */
  pendingDeliveries = 0;
  /** When some node was told of other objects last. */
  lastInputMs = Number.NEGATIVE_INFINITY;
  readonly #isAddress: ReadonlySet<Ip>;
  readonly #observer: Observer;
  readonly #startTenant: StartTenant;
  readonly #filters = new Map<NetworkCard, ReadonlySet<Ip>>();
  readonly #touched = new Set<Ip>();
  readonly #replied = new Set<Ip>();
  readonly #closeLookUntilMs = new Map<Ip, number>();
  #starts = 0;
  #revision = 1;
  #hasActed = false;

  constructor(plan: WorldPlan, startTenant: StartTenant, print?: (line: string) => void) {
    this.plan = plan;
    this.trace = new Trace(print);
    this.#startTenant = startTenant;
    this.snapshot = plan.snapshot;
    stampRevision(this.snapshot, this.#revision);
    this.#isAddress = new Set(plan.services.flatMap(({ addresses }) => addresses));
    this.addresses = [...this.#isAddress];
    this.segments = buildSegments(plan, this.clock, this.random("switch"));
    this.network = buildNetwork(this.clock, this.random("network"));
    // Who looks from outside has all keys.
    const ring = new Keyring(WORLD_KEYS[0], WORLD_KEYS.slice(1));
    this.network.onDatagram = (from, to, bytes) => {
      const plain = plan.keyPace !== undefined ? (openPayload(bytes, ring, new Uint8Array(0)) ?? bytes) : bytes;
      for (const witness of this.witnesses.of("datagram")) witness.datagram(this.clock.nowMs(), from, to, plain);
    };
    this.network.onStream = (from, bytes) => {
      for (const witness of this.witnesses.of("streamed")) witness.streamed(this.clock.nowMs(), from, bytes);
    };
    this.machines = buildMachines(plan, this.clock, this.network, this.segments, (name) => this.#watchOf(name));
    this.clients = buildClients(plan, this.clock, this.segments);
    this.#observer = new Observer(this.segments, this.machines, () => this.clock.nowMs());
    for (const machine of this.machines) {
      machine.peers = this.machines.map(({ endpoint }) => endpoint);
      machine.snapshot = plan.snapshot;
      if (plan.keyPace !== undefined) machine.keys = FIRST_KEYS;
    }
    this.#lookOften();
    this.#useAddresses();
  }

  /** A stream of its own for every purpose: one more draw here shifts nothing there. */
  random(purpose: string): SeededRandom {
    return new SeededRandom(createHash("sha256").update(`${this.plan.seed}/${purpose}`).digest().readUInt32BE(0));
  }

  machine(name: string): Machine {
    const found = this.machines.find((machine) => machine.name === name);
    if (found === undefined) throw new Error(`no machine ${name}`);
    return found;
  }

  start(machine: Machine): void {
    this.disturb(`${machine.name} starts`, "membership");
    machine.start(this.#startTenant, this.random(`process ${this.#starts++}`));
    this.lifecycle(machine, "started");
  }

  lifecycle(machine: Machine, what: "started" | "killed" | "exited" | "frozen"): void {
    this.trace.note(this.clock.nowMs(), machine.name, what);
    for (const witness of this.witnesses.of("lifecycle")) witness.lifecycle(this.clock.nowMs(), machine, what);
    this.touchAll();
  }

  /** Says that something happened that may change who answers. */
  disturb(what: string, kind: Disturbance): void {
    this.calm.touch(kind, this.clock.nowMs());
    this.trace.note(this.clock.nowMs(), "world", what);
    for (const witness of this.witnesses.of("disturbed")) witness.disturbed(this.clock.nowMs(), what, kind);
    this.touchAll();
  }

  /** What happens to a leader while nothing else does: a failover begins that is timed. */
  strike(fault: LeaderFault, machine: Machine): void {
    for (const witness of this.witnesses.of("struck")) witness.struck(fault, machine, this.clock.nowMs());
  }

  strikeEnds(): void {
    for (const witness of this.witnesses.of("healed")) witness.healed();
  }

  stand(machine: Machine, standstill: Standstill): void {
    for (const witness of this.witnesses.of("stood")) {
      witness.stood(machine, this.clock.nowMs(), standstill.durationMs, standstill.isGapVisible);
    }
    machine.stand(standstill);
  }

  /** Changes the cluster's objects; every node hears of it after its own lag. */
  change(
    what: string,
    change: (snapshot: ClusterSnapshot) => ClusterSnapshot,
    lagMs: (machine: Machine) => number,
    kind: Disturbance = "planned",
  ): void {
    this.snapshot = change(this.snapshot);
    stampRevision(this.snapshot, ++this.#revision);
    this.disturb(what, kind);
    const changed = this.snapshot;
    for (const machine of this.machines) {
      this.pendingDeliveries++;
      this.clock.schedule(lagMs(machine), () => {
        this.pendingDeliveries--;
        this.calm.touch(kind, this.clock.nowMs());
        // Never an older one after a newer one: a reflector keeps its own order.
        const known = machine.snapshot === undefined ? 0 : revisionOf(machine.snapshot);
        this.lastInputMs = this.clock.nowMs();
        if (revisionOf(changed) > known) machine.applySnapshot(changed);
      });
    }
  }

  /** Changes the objects of one node alone, as its files; how new they are says nothing. */
  edit(machine: Machine, change: (snapshot: ClusterSnapshot) => ClusterSnapshot): void {
    this.disturb(`the files of ${machine.name} are edited`, "planned");
    this.lastInputMs = this.clock.nowMs();
    machine.applySnapshot(change(machine.snapshot ?? this.snapshot));
  }

  /** At a time of the world, does something to it. */
  at(atMs: number, act: () => void): void {
    this.clock.schedule(atMs - this.clock.nowMs(), act);
  }

  /** Runs to `untilMs`. A checker that finds a violation throws through here. */
  run(untilMs: number): void {
    for (let next = this.clock.nextMs(); next !== undefined && next <= untilMs; next = this.clock.nextMs()) {
      this.clock.step();
      this.#lookAtTouched();
    }
    this.clock.advance(Math.max(0, untilMs - this.clock.nowMs()));
  }

  whoAnswers(ip: Ip): void {
    const answerers = this.#observer.whoAnswers(ip);
    const atMs = this.clock.nowMs();
    for (const witness of this.witnesses.of("answered")) witness.answered(atMs, ip, answerers);
  }

  touchAll(): void {
    for (const ip of this.addresses) this.#touched.add(ip);
    this.#hasActed = true;
  }

  #watchOf(name: string) {
    const heard = (ip: Ip) => {
      if (this.#isAddress.has(ip)) this.#touched.add(ip);
    };
    return {
      sent: (card: NetworkCard, bytes: Uint8Array) => {
        const frame = readFrame(bytes);
        if (frame === undefined) return;
        const machine = this.machine(name);
        this.trace.note(
          this.clock.nowMs(),
          name,
          `${frame.form} ${frame.senderIp} ${frame.targetIp} to ${frame.destination}`,
        );
        for (const witness of this.witnesses.of("sent")) witness.sent(this.clock.nowMs(), machine, card, frame);
        // Whoever answers as always is looked at once, not closely.
        const isReply = !isUnsolicited(frame) && (frame.form === "arp-reply" || frame.form === "advertisement");
        for (const ip of [frame.senderIp, frame.targetIp]) {
          if (isReply && this.#isAddress.has(ip)) this.#replied.add(ip);
          else heard(ip);
        }
      },
      joined: (card: NetworkCard, group: Ip) => {
        this.trace.note(this.clock.nowMs(), name, `joins ${group}`);
        for (const witness of this.witnesses.of("joined"))
          witness.joined(this.clock.nowMs(), this.machine(name), card, group);
        this.#hasActed = true;
      },
      left: (card: NetworkCard, group: Ip) => {
        this.trace.note(this.clock.nowMs(), name, `leaves ${group}`);
        for (const witness of this.witnesses.of("left"))
          witness.left(this.clock.nowMs(), this.machine(name), card, group);
        this.#hasActed = true;
      },
      filtered: (card: NetworkCard, addresses: readonly Ip[]) => {
        const before = this.#filters.get(card) ?? new Set();
        const now = new Set(addresses);
        this.#filters.set(card, now);
        for (const ip of before) if (!now.has(ip)) heard(ip);
        for (const ip of now) if (!before.has(ip)) heard(ip);
      },
      noted: (text: string, about: readonly Ip[]) => {
        this.trace.note(this.clock.nowMs(), name, text);
        for (const ip of about) heard(ip);
        this.#hasActed = true;
      },
      exited: () => {
        // The process ends after this call.
        this.clock.schedule(0, () => {
          this.disturb(`${name} exits`, "planned");
          this.lifecycle(this.machine(name), "exited");
        });
      },
    };
  }

  #lookAtTouched(): void {
    if (this.#replied.size > 0) {
      for (const ip of this.#replied) if (!this.#touched.has(ip)) this.whoAnswers(ip);
      this.#replied.clear();
    }
    if (this.#touched.size > 0) {
      const untilMs = this.clock.nowMs() + CLOSE_LOOK_FOR_MS;
      const touched = [...this.#touched];
      this.#touched.clear();
      for (const ip of touched) {
        if (!this.#closeLookUntilMs.has(ip)) this.#lookClosely(ip);
        this.#closeLookUntilMs.set(ip, untilMs);
        this.whoAnswers(ip);
      }
      this.#hasActed = true;
    }
    if (!this.#hasActed) return;
    this.#hasActed = false;
    for (const witness of this.witnesses.of("looked")) witness.looked(this.clock.nowMs());
  }

  #lookClosely(ip: Ip): void {
    this.clock.schedule(this.plan.closeLookMs, () => {
      this.whoAnswers(ip);
      if ((this.#closeLookUntilMs.get(ip) ?? 0) <= this.clock.nowMs()) this.#closeLookUntilMs.delete(ip);
      else this.#lookClosely(ip);
    });
  }

  #lookOften(): void {
    const quietSinceMs = this.calm.quietSinceMs();
    const isBusy = quietSinceMs === undefined || this.clock.nowMs() - quietSinceMs < BUSY_FOR_MS;
    this.clock.schedule(isBusy ? BUSY_LOOK_MS : QUIET_LOOK_MS, () => {
      for (const ip of this.addresses) this.whoAnswers(ip);
      this.#hasActed = true;
      this.#lookOften();
    });
  }

  /** Clients want to send now and then: enough to keep neighbour entries and the switch's table in use. */
  #useAddresses(): void {
    const random = this.random("clients");
    const again = () => {
      for (const client of this.clients) {
        const ip = this.addresses[random.below(this.addresses.length)];
        if (ip !== undefined) client.use(ip);
      }
      this.clock.schedule(200 + random.below(200), again);
    };
    this.clock.schedule(random.below(200), again);
  }
}
