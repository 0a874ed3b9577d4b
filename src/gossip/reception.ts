/**
 * What the others say, by datagram and by stream: each message goes to the part that it is for. What none of them owns is done here: pings
 * are answered, and acks, which also say how their sender holds us, are told apart by who waits for them.
 */
import { decodeHeldAs, encodeHeldAs } from "./ack-payload.ts";
import { AckPiggyback } from "./ack-piggyback.ts";
import type { Core } from "./core.ts";
import type { FastPart } from "./fast/fast-part.ts";
import type { Returned } from "./fast/returned.ts";
import type { Heal } from "./heal.ts";
import { endpointOf, type Members } from "./members.ts";
import type { Ack, DatagramMessage, Endpoint, Ping, StreamMessage } from "./message.ts";
import type { PendingPings } from "./pending-pings.ts";
import type { Probe } from "./probe.ts";
import type { PushPulls } from "./push-pull.ts";
import type { Relays } from "./relay.ts";
import type { HeldAs, SwimEffect } from "./swim-event.ts";

/** Whom messages are for. */
export interface Addressees {
  readonly members: Members;
  readonly pings: PendingPings;
  readonly relays: Relays;
  readonly probe: Probe;
  readonly pushPulls: PushPulls;
  readonly heal: Heal;
  /** Undefined when the fast detector is off. */
  readonly fast: FastPart | undefined;
  readonly returned: Returned | undefined;
}

/** Never throws on what strangers send. */
export class Reception {
  readonly #core: Core;
  readonly #parts: Addressees;
  readonly #ackPiggyback = new AckPiggyback();

  constructor(core: Core, parts: Addressees) {
    this.#core = core;
    this.#parts = parts;
  }

  /** The messages of one datagram. */
  datagram(from: Endpoint, messages: readonly DatagramMessage[]): void {
    this.#parts.fast?.heard(from);
    for (const message of messages) {
      this.#parts.heal.heard(from, message.kind === "ping" ? message.source?.node : undefined);
      this.#message(from, message);
    }
    this.#parts.members.heard(from);
  }

  #message(from: Endpoint, message: DatagramMessage): void {
    switch (message.kind) {
      case "ping":
        return this.#answerPing(from, message);
      case "indirect-ping":
        return this.#parts.relays.start(from, message);
      case "ack":
        return this.#acked(message, this.#core.table.at(from)?.name);
      case "nack":
        return this.#parts.probe.nacked(message.seqNo);
      case "alive":
        return this.#parts.members.alive(message);
      case "suspect":
        this.#parts.members.suspect(message);
        return this.#parts.fast?.accused(message.node, message.incarnation, message.from);
      case "dead":
        return this.#parts.members.dead(message);
      case "user": {
        const name = this.#core.table.at(from)?.name;
        const said = { kind: "user-message", payload: message.payload } as const;
        return this.#core.emit(name === undefined ? said : { ...said, from: name });
      }
    }
  }

  /** A ping that names another node is not answered: it would hide that the node of that name is gone. */
  #answerPing(from: Endpoint, ping: Ping): void {
    const core = this.#core;
    if (ping.node !== "" && !core.isSelf(ping.node)) {
      core.counters.messagesRefused++;
      return;
    }
    const asker = ping.source?.node ?? core.table.at(from)?.name;
    const payload = asker === undefined ? new Uint8Array(0) : encodeHeldAs(this.#heldAs(asker));
    const ack = { kind: "ack", seqNo: ping.seqNo, payload } as const;
    const to = ping.source?.endpoint ?? from;
    if (asker !== undefined) this.#parts.fast?.pingedBy(asker);
    if (this.#ackPiggyback.takes(asker ?? to.ip, core.nowMs)) core.sendWithBroadcasts(to, ack);
    else core.send(to, ack);
  }

  #heldAs(name: string): HeldAs {
    const member = this.#core.table.get(name);
    return member === undefined
      ? { state: "unknown", incarnation: 0 }
      : { state: member.state, incarnation: member.incarnation };
  }

  /** `from`: the member that sent it, which may be a helper. */
  #acked(ack: Ack, from: string | undefined): void {
    const ping = this.#parts.pings.take(ack.seqNo);
    if (ping === undefined) return;
    if (from !== undefined) this.#parts.fast?.answered(from);
    if (from === ping.node) this.#parts.returned?.answered(ping.node);
    if (ping.kind === "watch-relayed") return this.#parts.fast?.proved(ping.node, "relayed");
    if (ping.kind === "relay") return this.#parts.relays.acked(ping.relay);
    const held = decodeHeldAs(ack.payload);
    if (ping.kind === "probe") this.#parts.probe.acked(ack.seqNo);
    else if (ping.kind === "heal") this.#parts.heal.heardName(ping.node);
    else if (ping.kind === "watch") this.#parts.fast?.proved(ping.node, "ack");
    else if (ping.kind === "asked") this.#core.emit(heldView(ping.node, held));
    if (held !== undefined) this.#answerView(ping.node, held);
  }

  /**
   * What an ack says of us is news like any other: a verdict is refuted at once, one who missed our latest word is sent
   * it again, one who forgot us is told everything.
   */
  #answerView(node: string, held: HeldAs): void {
    const core = this.#core;
    if (core.isLeaving) return;
    if (held.state === "unknown") {
      const endpoint = endpointOf(core, node);
      if (endpoint !== undefined) this.#parts.pushPulls.start(endpoint, true);
      return;
    }
    if (held.incarnation < core.self.incarnation) return this.#parts.members.announceSelfTo(node);
    const isRight = held.state === "alive" && held.incarnation === core.self.incarnation;
    if (!isRight) this.#parts.members.refute(verdictOf(held), held.incarnation, node);
  }

  /** The first message on a stream that another opened: it is answered, or the stream is closed. */
  request(connection: number, from: Endpoint, message: StreamMessage): void {
    const core = this.#core;
    switch (message.kind) {
      case "push-pull":
        return this.#parts.pushPulls.accept(connection, from, message);
      case "ping":
        if (message.node !== "" && !core.isSelf(message.node)) break;
        return core.emit({
          kind: "answer",
          connection,
          message: { kind: "ack", seqNo: message.seqNo, payload: new Uint8Array(0) },
        });
      case "user":
        core.emit({ kind: "user-message", payload: message.payload });
        break;
      case "ack":
      case "error":
        core.counters.messagesRefused++;
        break;
    }
    core.emit({ kind: "close", connection });
  }

  /** The answer on a stream that we opened. */
  response(dial: number, message: StreamMessage): void {
    if (message.kind === "push-pull") return this.#parts.pushPulls.answered(dial, message);
    this.#parts.fast?.dialAnswered(dial, message);
    if (message.kind === "ack") this.#parts.probe.tcpAnswered(dial, message.seqNo);
    this.#parts.pushPulls.refused(dial);
  }
}

function verdictOf({ state }: HeldAs): "suspect" | "dead" | "stale-alive" {
  if (state === "suspect") return state;
  return state === "alive" ? "stale-alive" : "dead";
}

function heldView(from: string, held: HeldAs | undefined): SwimEffect {
  return held === undefined ? { kind: "ack-view", from } : { kind: "ack-view", from, held };
}
