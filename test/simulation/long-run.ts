/**
 * Hours on end of whole speakers under steady loss and stalls, and nothing else: how often somebody who lives is declared dead, and how
 * long it takes to notice who does not. Nobody asks and no trace is kept, so that an hour takes seconds: what is counted is what speakers
 * send.
 */
import type { Speaker } from "../../speaker/speaker.ts";
import { VirtualClock } from "../../src/base/clock.ts";
import { SeededRandom } from "../../src/base/random.ts";
import type { Ip } from "../../src/net/ip.ts";
import type { LeaderFault } from "./check-failover.ts";
import type { EthernetSwitch } from "./ethernet-switch.ts";
import { readFrame } from "./frames.ts";
import type { GossipNetwork } from "./gossip-network.ts";
import type { Machine } from "./machine.ts";
import { type SpeakerTiming, withTiming } from "./other-timing.ts";
import { speakerTenant } from "./speaker-tenant.ts";
import type { StartTenant } from "./tenant.ts";
import { accusationsIn } from "./user-messages.ts";
import { buildMachines, buildNetwork, buildSegments, planOf } from "./world-plan.ts";

export interface LongRunPlan {
  readonly nodes: number;
  readonly hours: number;
  readonly seed: number;
  /** Share of datagrams lost, and of frames at each port; 0 to 1. */
  readonly loss: number;
  /** Each node stands still for so long once a minute. */
  readonly stallMs: number;
  /** Leaders are killed, lose their host, or are frozen, one every `STRIKE_INTERVAL_MS`: for the time that noticing it takes. */
  readonly strikes: boolean;
  /** Numbers that differ from the product's. */
  readonly timing: Partial<SpeakerTiming>;
}

/** Somebody who lives was declared dead. */
export interface FalseVerdict {
  readonly atMs: number;
  readonly accused: string;
  readonly by: string;
}

export interface Takeover {
  readonly fault: LeaderFault;
  /** From the fault to the first verdict. */
  readonly noticedMs: number;
  /** From the fault to the first frame of another for an address that was led. */
  readonly takenMs: number;
}

export interface LongRunTally {
  /** By node: how long it led something. */
  readonly leaderHours: ReadonlyMap<string, number>;
  readonly falseVerdicts: readonly FalseVerdict[];
  readonly moves: number;
  /** Incarnations that somebody has accused, or suspected by memberlist's own detection. */
  readonly accused: number;
  /** Sent by all nodes together. */
  readonly datagrams: number;
  /** How long nodes were mute behind their fences, together. */
  readonly muteMs: number;
  readonly takeovers: readonly Takeover[];
  /** Strikes after which nobody noticed, or nobody took over, before they were over. */
  readonly missed: readonly LeaderFault[];
}

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** Whoever started has settled, and nothing is counted before. */
const BEGINS_MS = 20_000;
const SERVICES = 3;
/** A struck leader is back and has settled before the next strike. */
const STRIKE_INTERVAL_MS = 45_000;
const STRIKE_LASTS_MS = 6_000;
const STRIKES: readonly LeaderFault[] = ["process kill", "host kill", "freeze"];

interface Strike {
  readonly fault: LeaderFault;
  readonly machine: Machine;
  readonly atMs: number;
  readonly addresses: ReadonlySet<Ip>;
  noticedMs?: number;
  takenMs?: number;
}

export class LongRun {
  readonly #plan: LongRunPlan;
  readonly #clock = new VirtualClock();
  readonly #random: SeededRandom;
  readonly #startTenant: StartTenant;
  readonly #addresses: ReadonlySet<Ip>;
  readonly #network: GossipNetwork;
  readonly #segments: readonly EthernetSwitch[];
  readonly #machines: readonly Machine[];
  /** Who sent the last frame that names an address as its own: a new leader announces what it takes. */
  readonly #leaders = new Map<Ip, string>();
  /** `name incarnation` of processes about which a verdict is no news. */
  readonly #dead = new Set<string>();
  readonly #accused = new Set<string>();
  readonly #falseVerdicts: FalseVerdict[] = [];
  readonly #takeovers: Takeover[] = [];
  readonly #missed: LeaderFault[] = [];
  #moves = 0;
  #datagrams = 0;
  #muteMs = 0;
  readonly #leaderMs = new Map<string, number>();
  #leadersSinceMs = BEGINS_MS;
  #strike: Strike | undefined;

  constructor(plan: LongRunPlan) {
    this.#plan = plan;
    this.#startTenant = speakerTenant({
      ports: (ports) => withTiming(ports, plan.timing),
      speaker: (speaker) => this.#timeMuteness(speaker),
    });
    this.#random = new SeededRandom(plan.seed * 7_919 + plan.nodes);
    const world = planOf({ nodes: plan.nodes, services: SERVICES, closeLookMs: 0 });
    this.#addresses = new Set(world.services.flatMap(({ addresses }) => addresses));
    this.#segments = buildSegments(world, this.#clock, this.#drawn());
    this.#network = buildNetwork(this.#clock, this.#drawn());
    this.#network.onDatagram = (_from, _to, bytes) => this.#hear(bytes);
    this.#machines = buildMachines(world, this.#clock, this.#network, this.#segments, (name) => ({
      sent: (_card, frame) => this.#sent(name, frame),
      joined: () => {},
      left: () => {},
      filtered: () => {},
      noted: () => {},
      exited: () => {},
    }));
    for (const machine of this.#machines) {
      machine.peers = this.#machines.map(({ endpoint }) => endpoint);
      machine.snapshot = world.snapshot;
      this.#start(machine);
      this.#stallEachMinute(machine, BEGINS_MS);
    }
    this.#clock.schedule(BEGINS_MS, () => this.#begin());
    if (plan.strikes) this.#strikeNext(BEGINS_MS + STRIKE_INTERVAL_MS, 0);
  }

  run(): LongRunTally {
    const endMs = BEGINS_MS + this.#plan.hours * HOUR_MS;
    this.#clock.advance(endMs - this.#clock.nowMs());
    this.#countLeaders();
    return {
      leaderHours: new Map([...this.#leaderMs].map(([name, ms]) => [name, ms / HOUR_MS])),
      falseVerdicts: this.#falseVerdicts,
      moves: this.#moves,
      accused: this.#accused.size,
      datagrams: this.#datagrams,
      muteMs: this.#muteMs,
      takeovers: this.#takeovers,
      missed: this.#missed,
    };
  }

  #drawn(): SeededRandom {
    return new SeededRandom(this.#random.below(0xffff_ffff));
  }

  #start(machine: Machine): void {
    machine.start(this.#startTenant, this.#drawn());
  }

  #begin(): void {
    const { loss } = this.#plan;
    this.#datagrams = 0;
    this.#muteMs = 0;
    this.#network.faults.lossRate = loss;
    for (const segment of this.#segments) segment.faults.lossRate = loss;
  }

  #stallEachMinute(machine: Machine, fromMs: number): void {
    const { stallMs } = this.#plan;
    if (stallMs === 0) return;
    const atMs = fromMs + this.#random.float() * (MINUTE_MS - stallMs);
    this.#at(atMs, () => machine.stand({ durationMs: stallMs, keepsQueues: true, isGapVisible: true }));
    this.#at(fromMs + MINUTE_MS, () => this.#stallEachMinute(machine, fromMs + MINUTE_MS));
  }

  #at(atMs: number, act: () => void): void {
    this.#clock.schedule(atMs - this.#clock.nowMs(), act);
  }

  #countLeaders(): void {
    const nowMs = this.#clock.nowMs();
    const sinceMs = nowMs - this.#leadersSinceMs;
    if (sinceMs <= 0) return;
    for (const name of new Set(this.#leaders.values())) {
      this.#leaderMs.set(name, (this.#leaderMs.get(name) ?? 0) + sinceMs);
    }
    this.#leadersSinceMs = nowMs;
  }

  #timeMuteness({ announcer }: Speaker): void {
    let sinceMs: number | undefined;
    const handle = announcer.handle.bind(announcer);
    announcer.handle = (event, atMs) => {
      if (event.kind === "mute") sinceMs ??= atMs;
      if (event.kind === "unmute" && sinceMs !== undefined) {
        this.#muteMs += atMs - sinceMs;
        sinceMs = undefined;
      }
      return handle(event, atMs);
    };
  }

  #hear(bytes: Uint8Array): void {
    this.#datagrams++;
    const nowMs = this.#clock.nowMs();
    for (const { kind, node, incarnation, from } of accusationsIn(bytes)) {
      const key = `${node} ${incarnation}`;
      if (kind === "suspect" && from !== node) this.#accused.add(key);
      if (kind === "suspect" || from === node || this.#dead.has(key)) continue;
      this.#dead.add(key);
      const strike = this.#strike;
      if (strike?.machine.name === node) strike.noticedMs ??= nowMs - strike.atMs;
      else this.#falseVerdicts.push({ atMs: nowMs, accused: node, by: from });
    }
  }

  #sent(name: string, bytes: Uint8Array): void {
    const ip = readFrame(bytes)?.senderIp;
    if (ip === undefined || !this.#addresses.has(ip)) return;
    const nowMs = this.#clock.nowMs();
    const strike = this.#strike;
    if (strike?.addresses.has(ip) === true && strike.machine.name !== name) strike.takenMs ??= nowMs - strike.atMs;
    const leader = this.#leaders.get(ip);
    if (leader === name) return;
    this.#countLeaders();
    this.#leaders.set(ip, name);
    if (nowMs >= BEGINS_MS && leader !== undefined) this.#moves++;
  }

  #strikeNext(atMs: number, number: number): void {
    this.#at(atMs + this.#random.float() * 1_000, () => {
      const names = [...new Set(this.#leaders.values())];
      const name = names[this.#random.below(names.length)];
      const machine = this.#machines.find((each) => each.name === name);
      const fault = STRIKES[number % STRIKES.length];
      if (machine !== undefined && fault !== undefined) this.#beginStrike(fault, machine);
      this.#strikeNext(atMs + STRIKE_INTERVAL_MS, number + 1);
    });
  }

  #beginStrike(fault: LeaderFault, machine: Machine): void {
    const led = [...this.#leaders].flatMap(([ip, leader]) => (leader === machine.name ? [ip] : []));
    const strike: Strike = { fault, machine, atMs: this.#clock.nowMs(), addresses: new Set(led) };
    this.#strike = strike;
    if (fault === "freeze") machine.stand({ durationMs: STRIKE_LASTS_MS, keepsQueues: true, isGapVisible: true });
    else if (fault === "host kill") machine.powerOff();
    else machine.kill();
    this.#clock.schedule(STRIKE_LASTS_MS, () => this.#endStrike(strike));
  }

  #endStrike({ fault, machine, noticedMs, takenMs }: Strike): void {
    this.#strike = undefined;
    if (noticedMs === undefined || takenMs === undefined) this.#missed.push(fault);
    else this.#takeovers.push({ fault, noticedMs, takenMs });
    if (fault === "freeze") return;
    machine.powerOn();
    this.#start(machine);
  }
}
