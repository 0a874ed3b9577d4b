/**
 * The memberlist machine: SWIM with Lifeguard, and Arpeggio's rejoin and heal. Sans-I/O: events and the time in, effects out.
 * Here is the door: what it is told to do, and when. reception.ts has what others say, members.ts the rules' effects; probe.ts,
 * gossip-round.ts, push-pull.ts, rejoin.ts, heal.ts and leave.ts have the rest.
 */
import { ArpeggioError } from "../base/errors.ts";
import { Core, type SwimCounters, type SwimOptions } from "./core.ts";
import { FastPart } from "./fast/fast-part.ts";
import { Returned } from "./fast/returned.ts";
import { FirstContactWait } from "./first-contact.ts";
import { GossipRound } from "./gossip-round.ts";
import { Heal } from "./heal.ts";
import { Leave } from "./leave.ts";
import { isUsableName, MAX_META_BYTES } from "./member-rules.ts";
import { endpointOf, isOther, Members } from "./members.ts";
import { encodeMessage } from "./message-codec.ts";
import { MetaUpdates } from "./meta-updates.ts";
import { PendingPings } from "./pending-pings.ts";
import { Probe } from "./probe.ts";
import { PushPulls } from "./push-pull.ts";
import { Reception } from "./reception.ts";
import { Rejoin } from "./rejoin.ts";
import { Relays } from "./relay.ts";
import type { Member, SwimEffect, SwimEvent } from "./swim-event.ts";

/** A tick this much after its deadline means that we stood still: what we did not hear meanwhile proves nothing (DESIGN D7). */
const STALL_MS = 250;
const NOBODY: ReadonlySet<string> = new Set();

export class Swim {
  readonly #core: Core;
  readonly #members: Members;
  readonly #pings = new PendingPings();
  readonly #relays: Relays;
  readonly #probe: Probe;
  readonly #gossip: GossipRound;
  readonly #pushPulls: PushPulls;
  readonly #rejoin: Rejoin;
  readonly #heal: Heal;
  readonly #firstContact: FirstContactWait;
  readonly #meta: MetaUpdates;
  readonly #leave: Leave;
  readonly #fast: FastPart | undefined;
  readonly #returned: Returned | undefined;
  readonly #reception: Reception;
  /** Verdicts before gossip, so that what is decided in a turn leaves in it. */
  readonly #timed: readonly { nextDeadlineMs(): number | undefined; tick(): void }[];

  constructor(options: SwimOptions) {
    if (!isUsableName(options.name)) throw new ArpeggioError("ERR_INTERNAL_ARGUMENT", `no node name: ${options.name}`);
    const core = new Core(options);
    this.#core = core;
    this.#members = new Members(core);
    this.#relays = new Relays(core, this.#pings);
    this.#probe = new Probe(core, this.#members, this.#pings);
    this.#gossip = new GossipRound(core);
    this.#pushPulls = new PushPulls(core, this.#members);
    this.#rejoin = new Rejoin(core, this.#pushPulls);
    this.#heal = new Heal(core, this.#pushPulls, this.#pings);
    this.#firstContact = new FirstContactWait(core);
    this.#meta = new MetaUpdates(core, this.#members);
    this.#leave = new Leave(core, this.#members);
    const detectsFast = options.detectsFast === true;
    this.#fast = detectsFast ? new FastPart(core, this.#members, this.#pings) : undefined;
    this.#returned = detectsFast ? new Returned(core, this.#pings) : undefined;
    this.#reception = new Reception(core, {
      members: this.#members,
      pings: this.#pings,
      relays: this.#relays,
      probe: this.#probe,
      pushPulls: this.#pushPulls,
      heal: this.#heal,
      fast: this.#fast,
      returned: this.#returned,
    });
    this.#timed = [
      this.#relays,
      ...(this.#fast === undefined ? [] : [this.#fast]),
      ...(this.#returned === undefined ? [] : [this.#returned]),
      this.#probe,
      this.#members,
      this.#firstContact,
      this.#meta,
      this.#heal,
      this.#pushPulls,
      this.#rejoin,
      this.#gossip,
      this.#leave,
    ];
    this.#members.watch((change, member) => {
      this.#rejoin.remember(member);
      this.#heal.changed(change, member);
      this.#returned?.changed(change, member);
      this.#fast?.changed(member);
    });
    this.#pushPulls.watch((endpoint, outcome) => this.#firstContact.pushPullDone(endpoint, outcome));
  }

  /** `nowMs` is monotonic, the time at which the event was read. Never throws on what strangers send. */
  handle(event: SwimEvent, nowMs: number): SwimEffect[] {
    this.#core.nowMs = Math.max(nowMs, this.#core.nowMs);
    if (this.#core.isOpen) this.#handleOpen(event);
    else this.#handleClosed(event);
    return this.#core.takeEffects();
  }

  /** When a `tick` is wanted next; undefined: not before another event. */
  nextDeadlineMs(): number | undefined {
    let nextMs: number | undefined;
    for (const part of this.#timed) {
      const deadlineMs = part.nextDeadlineMs();
      if (deadlineMs !== undefined && (nextMs === undefined || deadlineMs < nextMs)) nextMs = deadlineMs;
    }
    return nextMs;
  }

  /** Everybody known, ourselves, dead and left ones included, in the order in which they became known; empty before `open`. */
  members(): readonly Member[] {
    return this.#core.table.all();
  }

  /** Ourselves, as others are told. */
  get self(): Member {
    return this.#core.self;
  }

  /** 0: healthy; up to awarenessMaxMultiplier - 1. */
  healthScore(): number {
    return this.#core.awareness.score;
  }

  /** The fast detector; undefined when it is off. */
  get fast(): FastPart | undefined {
    return this.#fast;
  }

  /** Members that are alive by hearsay, and do not count before they have answered us. */
  get unproven(): ReadonlySet<string> {
    return this.#returned?.unproven ?? NOBODY;
  }

  counters(): SwimCounters {
    return { ...this.#core.counters };
  }

  /** Before `open` we neither answer nor send: a peer must not take a speaker for alive that cannot announce yet. */
  #handleClosed(event: SwimEvent): void {
    switch (event.kind) {
      case "open":
        return this.#open();
      case "set-meta":
        return this.#setMeta(event.meta, event.isUrgent);
      case "set-user-state":
        return this.#pushPulls.setUserState(event.bytes);
      case "known-peers":
        return this.#rejoin.setPeers(event.endpoints);
      case "request":
        return this.#core.emit({ kind: "close", connection: event.connection });
      case "leave":
        return this.#core.emit({ kind: "left", isComplete: true });
      case "datagram":
      case "send-failed":
      case "response":
      case "dial-failed":
      case "dial-opened":
      case "tick":
      case "join":
      case "send-user":
      case "ping-members":
      case "watch":
      case "neighbour-answered":
        return;
    }
  }

  #handleOpen(event: SwimEvent): void {
    switch (event.kind) {
      case "open":
        return;
      case "datagram":
        return this.#reception.datagram(event.from, event.messages);
      case "send-failed":
        this.#fast?.sendFailed(event.to);
        return this.#probe.sendFailed(event.to);
      case "request":
        return this.#reception.request(event.connection, event.from, event.message);
      case "response":
        return this.#reception.response(event.dial, event.message);
      case "dial-failed":
        this.#fast?.dialFailed(event.dial, event.failure);
        return this.#pushPulls.failed(event.dial, event.failure);
      case "dial-opened":
        return this.#fast?.dialOpened(event.dial);
      case "tick":
        return this.#tick();
      case "known-peers":
        return this.#rejoin.setPeers(event.endpoints);
      case "join":
        for (const endpoint of event.endpoints) this.#pushPulls.start(endpoint, true);
        return;
      case "set-meta":
        return this.#setMeta(event.meta, event.isUrgent);
      case "send-user":
        return this.#sendUser(event.to, event.payload);
      case "set-user-state":
        return this.#pushPulls.setUserState(event.bytes);
      case "ping-members":
        return this.#pingMembers(event.names);
      case "watch":
        return this.#fast?.setView(event.view);
      case "neighbour-answered":
        if (event.of === "node-address") return this.#fast?.hostAnswered(event.name);
        return this.#fast?.proved(event.name, "neighbour");
      case "leave":
        return this.#leave.start();
    }
  }

  #open(): void {
    this.#core.isOpen = true;
    this.#members.open();
    this.#probe.open();
    this.#gossip.open();
    this.#pushPulls.open();
    this.#firstContact.open(this.#rejoin.open());
  }

  #setMeta(meta: Uint8Array, isUrgent: boolean): void {
    if (meta.length > MAX_META_BYTES) {
      throw new ArpeggioError("ERR_INTERNAL_ARGUMENT", `metadata of ${meta.length} bytes, at most ${MAX_META_BYTES}`);
    }
    this.#meta.set(meta, isUrgent);
  }

  #sendUser(to: readonly string[] | "all", payload: Uint8Array): void {
    const core = this.#core;
    const members = to === "all" ? core.table.all() : to.map((name) => core.table.get(name));
    const bytes = encodeMessage({ kind: "user", payload });
    for (const member of members) {
      if (member !== undefined && isOther(core, member)) core.sendParts(member, [bytes]);
    }
  }

  #pingMembers(names: readonly string[]): void {
    const core = this.#core;
    for (const node of names) {
      const endpoint = endpointOf(core, node);
      if (endpoint === undefined) continue;
      const seqNo = core.nextSeqNo();
      this.#pings.add(seqNo, { kind: "asked", node }, core.nowMs + core.timing.probeIntervalMs);
      core.send(endpoint, core.pingOf(node, seqNo));
    }
  }

  #tick(): void {
    const { nowMs } = this.#core;
    // Only what accuses is asked: news that waits for the next gossip round makes nothing late.
    const dueMs = Math.min(this.#probe.nextDeadlineMs() ?? nowMs, this.#members.nextDeadlineMs() ?? nowMs);
    const lateMs = nowMs - dueMs;
    if (lateMs > STALL_MS) {
      this.#members.postpone(lateMs);
      this.#probe.abandon();
    }
    for (const part of this.#timed) part.tick();
    this.#pings.sweep(this.#core.nowMs);
  }
}
