/** Indirect pings on behalf of others: ping the target, pass its ack on, or say nack (memberlist net.go:598-678). */
import type { Core } from "./core.ts";
import { withPort } from "./member-rules.ts";
import type { Ack, Endpoint, IndirectPing, Ping } from "./message.ts";
import type { PendingPings } from "./pending-pings.ts";

interface Relay {
  readonly requester: Endpoint;
  readonly requesterSeqNo: number;
  readonly wantsNack: boolean;
  readonly deadlineMs: number;
}

const MAX_RELAYS = 1_024;

export class Relays {
  readonly #core: Core;
  readonly #pings: PendingPings;
  /** In order of their deadlines, because each gets the same time. */
  readonly #relays = new Map<number, Relay>();
  #last = 0;

  constructor(core: Core, pings: PendingPings) {
    this.#core = core;
    this.#pings = pings;
  }

  start(from: Endpoint, request: IndirectPing): void {
    const core = this.#core;
    if (this.#relays.size >= MAX_RELAYS) {
      core.counters.messagesRefused++;
      return;
    }
    const relay = ++this.#last;
    const deadlineMs = core.nowMs + core.timing.probeTimeoutMs;
    const seqNo = core.nextSeqNo();
    this.#relays.set(relay, {
      requester: request.source?.endpoint ?? from,
      requesterSeqNo: request.seqNo,
      wantsNack: request.wantsNack,
      deadlineMs,
    });
    this.#pings.add(seqNo, { kind: "relay", relay, node: request.node }, deadlineMs);
    this.#send(withPort(request.target, core.self.endpoint.port), core.pingOf(request.node, seqNo), request.wantsNack);
  }

  acked(relay: number): void {
    const waiting = this.#relays.get(relay);
    if (waiting === undefined) return;
    this.#relays.delete(relay);
    const ack = { kind: "ack", seqNo: waiting.requesterSeqNo, payload: new Uint8Array(0) } as const;
    this.#send(waiting.requester, ack, waiting.wantsNack);
  }

  /** Whoever wants no nack asks often (the fast detector): what waits in the queue would be spent on few. */
  #send(to: Endpoint, message: Ping | Ack, wantsNack: boolean): void {
    if (wantsNack) this.#core.sendWithBroadcasts(to, message);
    else this.#core.send(to, message);
  }

  nextDeadlineMs(): number | undefined {
    for (const { deadlineMs } of this.#relays.values()) return deadlineMs;
    return undefined;
  }

  tick(): void {
    for (const [relay, waiting] of this.#relays) {
      if (waiting.deadlineMs > this.#core.nowMs) return;
      this.#relays.delete(relay);
      if (!waiting.wantsNack) continue;
      this.#core.sendWithBroadcasts(waiting.requester, { kind: "nack", seqNo: waiting.requesterSeqNo });
    }
  }
}
