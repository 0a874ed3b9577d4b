/** Ties the fast detector to the swim machine: what swim hears becomes observations, what the detector wants becomes messages. */
import type { Core } from "../core.ts";
import { isMember } from "../member-table.ts";
import { endpointOf, type Members } from "../members.ts";
import type { DatagramMessage, Endpoint, StreamMessage } from "../message.ts";
import { encodeMessage } from "../message-codec.ts";
import type { PendingPings } from "../pending-pings.ts";
import type { DialFailure, Member } from "../swim-event.ts";
import { FastDetector } from "./fast-detector.ts";
import type { FastCounters, FastEffect, FastObservation, WatchedMember, WatchView } from "./fast-event.ts";
import { FAST_TIMING } from "./fast-timing.ts";

/** An ack that comes so late still proves life. */
const LATE_ACK_MS = 3_000;
const TCP_PING_MS = 1_000;
/** Connections under way to one member; more would only wait in its kernel. */
const MAX_DIALS = 10;

interface Dialled {
  readonly node: string;
  readonly incarnation: number;
  readonly seqNo: number;
}

export class FastPart {
  readonly #core: Core;
  readonly #members: Members;
  readonly #pings: PendingPings;
  readonly #helpers: number;
  readonly #detector: FastDetector;
  readonly #dials = new Map<number, Dialled>();

  constructor(core: Core, members: Members, pings: PendingPings) {
    this.#core = core;
    this.#members = members;
    this.#pings = pings;
    const { name, fastTiming } = core.options;
    this.#helpers = (fastTiming ?? FAST_TIMING).helpers;
    this.#detector = new FastDetector({ self: name, phase: () => core.random.float(), timing: fastTiming });
  }

  setView(view: WatchView): void {
    const present = this.#core.table.all().filter(isMember);
    const members = new Map(present.map(({ name, incarnation }) => [name, incarnation]));
    this.#tell({ kind: "view", view, members });
  }

  changed(member: Member): void {
    const { name: node, incarnation } = member;
    this.#tell({ kind: "member", node, incarnation, isPresent: isMember(member) });
  }

  /** A datagram came from this address. */
  heard(from: Endpoint): void {
    const node = this.#core.table.at(from)?.name;
    if (node !== undefined) this.#tell({ kind: "proof", node, by: "datagram" });
  }

  /** A ping of whatever part was answered by the one it went to. */
  answered(node: string): void {
    this.#tell({ kind: "answered", node });
  }

  /** An answer to one of our own questions about a member. */
  proved(node: string, by: "ack" | "relayed" | "neighbour"): void {
    this.#tell({ kind: "proof", node, by });
  }

  hostAnswered(node: string): void {
    this.#tell({ kind: "host-answered", node });
  }

  accused(node: string, incarnation: number, by: string): void {
    this.#tell({ kind: "accused", node, incarnation, by });
  }

  pingedBy(by: string): void {
    this.#tell({ kind: "pinged", by });
  }

  sendFailed(to: Endpoint): void {
    const node = this.#core.table.at(to)?.name;
    if (node !== undefined) this.#tell({ kind: "unreachable", node });
  }

  dialOpened(dial: number): void {
    const dialled = this.#dials.get(dial);
    if (dialled !== undefined) this.#tell({ kind: "accepted", ...dialled });
  }

  dialFailed(dial: number, failure: DialFailure): void {
    const dialled = this.#dials.get(dial);
    this.#dials.delete(dial);
    if (dialled !== undefined && failure === "refused") this.#tell({ kind: "refused", ...dialled });
  }

  dialAnswered(dial: number, message: StreamMessage): void {
    const dialled = this.#dials.get(dial);
    this.#dials.delete(dial);
    if (dialled === undefined || message.kind !== "ack" || message.seqNo !== dialled.seqNo) return;
    this.#tell({ kind: "proof", node: dialled.node, by: "tcp" });
    this.#tell({ kind: "answered", node: dialled.node });
  }

  nextDeadlineMs(): number | undefined {
    return this.#detector.nextDeadlineMs();
  }

  tick(): void {
    this.#tell({ kind: "tick" });
  }

  watched(node: string): WatchedMember | undefined {
    return this.#detector.watched(node, this.#core.nowMs);
  }

  /** Of one that this node watches, or did when it died. */
  lastProofMs(node: string): number | undefined {
    return this.#detector.lastProofMs(node);
  }

  /** Whom this node watches. */
  watchedHere(): readonly string[] {
    return this.#detector.watchedHere();
  }

  ownWatchers(): readonly string[] {
    return this.#detector.ownWatchers();
  }

  counters(): FastCounters {
    return this.#detector.counters();
  }

  #tell(observation: FastObservation): void {
    for (const effect of this.#detector.handle(observation, this.#core.nowMs)) this.#perform(effect);
  }

  #perform(effect: FastEffect): void {
    const core = this.#core;
    switch (effect.kind) {
      case "ping":
        return this.#ping(effect.node);
      case "ask-helpers":
        return this.#askHelpers(effect.node);
      case "ask-neighbour":
        return core.emit({ kind: "ask-neighbour", name: effect.node });
      case "tcp-ping":
        return this.#tcpPing(effect.node);
      case "suspect":
        return this.#members.suspect(this.#suspectOf(effect.node, effect.incarnation));
      case "tell-suspect":
        return this.#tellDirectly(effect.to, this.#suspectOf(effect.node, effect.incarnation));
      case "dead": {
        const { node, incarnation } = effect;
        const dead = { kind: "dead", node, incarnation, from: core.self.name } as const;
        this.#members.dead(dead);
        return this.#tellDirectly(
          this.#members.audience().map(({ name }) => name),
          dead,
        );
      }
      case "unwatched":
        return core.emit({ kind: "unwatched" });
    }
  }

  #suspectOf(node: string, incarnation: number) {
    return { kind: "suspect", node, incarnation, from: this.#core.self.name } as const;
  }

  /** Alone, and not through the queue: what waits there is for everybody, and would be spent on watchers. */
  #ping(node: string): void {
    const core = this.#core;
    const endpoint = endpointOf(core, node);
    if (endpoint === undefined) return;
    const seqNo = core.nextSeqNo();
    this.#pings.add(seqNo, { kind: "watch", node }, core.nowMs + LATE_ACK_MS);
    core.send(endpoint, core.pingOf(node, seqNo));
  }

  /** Each helper is pinged itself, too: whether anybody answers us tells a silent member from a deaf watcher. */
  #askHelpers(node: string): void {
    const core = this.#core;
    const target = endpointOf(core, node);
    if (target === undefined) return;
    const untilMs = core.nowMs + LATE_ACK_MS;
    const seqNo = core.nextSeqNo();
    this.#pings.add(seqNo, { kind: "watch-relayed", node }, untilMs);
    const helpers = core.table.pick(
      this.#helpers,
      ({ state, name }) => state === "alive" && name !== node && !core.isSelf(name),
    );
    for (const helper of helpers) {
      const helperSeqNo = core.nextSeqNo();
      this.#pings.add(helperSeqNo, { kind: "watch", node: helper.name }, untilMs);
      core.send(
        helper.endpoint,
        { kind: "indirect-ping", seqNo, target, node, wantsNack: false, source: core.source() },
        core.pingOf(helper.name, helperSeqNo),
      );
    }
  }

  #tcpPing(node: string): void {
    const core = this.#core;
    const member = core.table.get(node);
    const endpoint = endpointOf(core, node);
    if (member === undefined || endpoint === undefined || core.timing.disablesTcpPings) return;
    const underWay = [...this.#dials.values()].filter((dialled) => dialled.node === node).length;
    if (underWay >= MAX_DIALS) return;
    const seqNo = core.nextSeqNo();
    const dial = core.dial(endpoint, core.pingOf(node, seqNo), TCP_PING_MS);
    this.#dials.set(dial, { node, incarnation: member.incarnation, seqNo });
  }

  #tellDirectly(names: readonly string[], message: DatagramMessage): void {
    const core = this.#core;
    const bytes = encodeMessage(message);
    for (const name of names) {
      const member = core.table.get(name);
      if (member !== undefined && !core.isSelf(name)) core.sendParts(member, [bytes]);
    }
  }
}
