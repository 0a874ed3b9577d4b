/**
 * Failure detection: one member after the other is pinged; without an ack in time through others and over TCP; without
 * any answer by the end of the interval it is suspected (memberlist state.go:232-521, Lifeguard).
 */

import type { Core } from "./core.ts";
import { sameEndpoint } from "./endpoint-key.ts";
import { isMember } from "./member-table.ts";
import type { Members } from "./members.ts";
import type { Endpoint } from "./message.ts";
import { encodeMessage } from "./message-codec.ts";
import type { PendingPings } from "./pending-pings.ts";
import type { Member } from "./swim-event.ts";

const PMAX_WITH_TCP_PING = 3;
const PMAX_WITH_NACK = 4;

interface Running {
  readonly target: Member;
  readonly seqNo: number;
  /** When others are asked; undefined once they were. */
  indirectAtMs: number | undefined;
  /** When the verdict falls: the probe interval, stretched by our health score. */
  readonly endMs: number;
  nacksExpected: number;
  nacks: number;
  dial: number | undefined;
  answeredOverTcp: boolean;
}

export class Probe {
  readonly #core: Core;
  readonly #members: Members;
  readonly #pings: PendingPings;
  #nextMs = Number.POSITIVE_INFINITY;
  #index = 0;
  #running: Running | undefined;

  constructor(core: Core, members: Members, pings: PendingPings) {
    this.#core = core;
    this.#members = members;
    this.#pings = pings;
  }

  open(): void {
    const { timing, random } = this.#core;
    if (timing.probeIntervalMs > 0) this.#nextMs = this.#core.nowMs + random.below(timing.probeIntervalMs);
  }

  /** A probe that runs holds the next one back, however long it takes. */
  nextDeadlineMs(): number | undefined {
    if (this.#running !== undefined) return this.#running.indirectAtMs ?? this.#running.endMs;
    return Number.isFinite(this.#nextMs) ? this.#nextMs : undefined;
  }

  tick(): void {
    const running = this.#running;
    const { nowMs } = this.#core;
    if (running !== undefined && running.indirectAtMs !== undefined && nowMs >= running.indirectAtMs) {
      this.#askOthers(running);
    }
    if (running !== undefined && nowMs >= running.endMs) this.#end(running);
    if (this.#running !== undefined || nowMs < this.#nextMs) return;
    const { probeIntervalMs } = this.#core.timing;
    // Ticks that were missed are not made up for.
    this.#nextMs += probeIntervalMs * (1 + Math.floor((nowMs - this.#nextMs) / probeIntervalMs));
    this.#start();
  }

  acked(seqNo: number): void {
    if (this.#running?.seqNo === seqNo) this.#succeed();
  }

  nacked(seqNo: number): void {
    if (this.#running?.seqNo === seqNo) this.#running.nacks++;
  }

  tcpAnswered(dial: number, seqNo: number): void {
    if (this.#running?.dial === dial && this.#running.seqNo === seqNo) this.#running.answeredOverTcp = true;
  }

  /** The system refused to deliver: waiting for the ack is pointless. */
  sendFailed(to: Endpoint): void {
    const running = this.#running;
    if (running?.indirectAtMs === undefined || !sameEndpoint(running.target.endpoint, to)) return;
    this.#askOthers(running);
  }

  /** We stood still past the deadline: whatever did not arrive says nothing about the target. */
  abandon(): void {
    this.#running = undefined;
  }

  #start(): void {
    const target = this.#nextTarget();
    if (target === undefined) return;
    const core = this.#core;
    const seqNo = core.nextSeqNo();
    const endMs = core.nowMs + core.awareness.scale(core.timing.probeIntervalMs);
    core.counters.probes++;
    if (core.awareness.score > 0) core.counters.probesDegraded++;
    this.#running = {
      target,
      seqNo,
      indirectAtMs: core.nowMs + Math.min(core.timing.probeTimeoutMs, core.timing.probeIntervalMs),
      endMs,
      nacksExpected: 0,
      nacks: 0,
      dial: undefined,
      answeredOverTcp: false,
    };
    this.#pings.add(seqNo, { kind: "probe", node: target.name }, endMs);
    const ping = core.pingOf(target.name, seqNo);
    if (target.state === "alive") return core.sendWithBroadcasts(target.endpoint, ping);
    // A suspect hears the accusation together with the ping, so that it can refute.
    const suspect = {
      kind: "suspect",
      incarnation: target.incarnation,
      node: target.name,
      from: core.self.name,
    } as const;
    core.sendParts(target, [encodeMessage(ping), encodeMessage(suspect)]);
  }

  /**
   * Walks the shuffled list; at its end the dead are reaped and it is shuffled anew. The rest of it and once all of it:
   * memberlist gives up earlier, so that of two nodes each sometimes pings nobody for an interval.
   */
  #nextTarget(): Member | undefined {
    const core = this.#core;
    for (let checks = 0; checks <= 2 * core.table.size; checks++) {
      const candidate = core.table.probed(this.#index);
      if (candidate === undefined) {
        core.table.reap(core.nowMs - core.timing.gossipToTheDeadMs);
        this.#index = 0;
        continue;
      }
      this.#index++;
      if (isMember(candidate) && !core.isSelf(candidate.name)) return candidate;
    }
    return undefined;
  }

  #askOthers(running: Running): void {
    const core = this.#core;
    const { target, seqNo, endMs } = running;
    running.indirectAtMs = undefined;
    const helpers = core.table.pick(
      core.timing.indirectChecks,
      (member) => member.state === "alive" && member.name !== target.name && !core.isSelf(member.name),
    );
    for (const helper of helpers) {
      const wantsNack = helper.versions.protocolMax >= PMAX_WITH_NACK;
      if (wantsNack) running.nacksExpected++;
      const { name: node, endpoint } = target;
      core.sendWithBroadcasts(helper.endpoint, {
        kind: "indirect-ping",
        seqNo,
        target: endpoint,
        node,
        wantsNack,
        source: core.source(),
      });
    }
    if (core.timing.disablesTcpPings || target.versions.protocolMax < PMAX_WITH_TCP_PING) return;
    const timeoutMs = Math.max(1, endMs - core.nowMs);
    running.dial = core.dial(target.endpoint, core.pingOf(target.name, seqNo), timeoutMs);
  }

  #end(running: Running): void {
    if (running.answeredOverTcp) return this.#succeed();
    const core = this.#core;
    this.#running = undefined;
    core.counters.probesFailed++;
    const { nacksExpected, nacks, target } = running;
    // A helper that stays silent hints at our own network: then the next probe waits longer before it judges.
    core.awareness.change(nacksExpected > 0 ? Math.max(0, nacksExpected - nacks) : 1);
    // The incarnation of the start: a refutation that came meanwhile makes this accusation stale.
    const { name: node, incarnation } = target;
    this.#members.suspect({ kind: "suspect", node, incarnation, from: core.self.name });
  }

  #succeed(): void {
    if (this.#running === undefined) return;
    this.#running = undefined;
    this.#core.awareness.change(-1);
  }
}
