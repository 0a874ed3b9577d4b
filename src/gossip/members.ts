/** Applies the member rules: changes the table, runs suspicions, passes news on, refutes what is said about ourselves. */

import type { Core } from "./core.ts";
import {
  isUsableAlive,
  isUsableName,
  type Judge,
  judgeAlive,
  judgeDead,
  judgeSuspect,
  refutingIncarnation,
  type UsableAlive,
  withPort,
} from "./member-rules.ts";
import { isMember } from "./member-table.ts";
import type { Alive, Dead, Endpoint, NodeRecord, Suspect } from "./message.ts";
import { encodeMessage } from "./message-codec.ts";
import { Suspicion, suspicionLimits } from "./suspicion.ts";
import type { Member, MemberChange, SwimEffect } from "./swim-event.ts";

type Verdict = Extract<SwimEffect, { kind: "refuted" }>["verdict"];

export class Members {
  readonly #core: Core;
  readonly #suspicions = new Map<string, Suspicion>();
  /** The highest incarnation of ours that somebody held dead, and we told of. */
  #deadIncarnation = -1;
  readonly #watchers: ((change: MemberChange, member: Member) => void)[] = [];

  constructor(core: Core) {
    this.#core = core;
  }

  /** Parts that keep books of their own (rejoin, heal) hear of every change. */
  watch(watcher: (change: MemberChange, member: Member) => void): void {
    this.#watchers.push(watcher);
  }

  alive(message: Alive): void {
    const core = this.#core;
    core.counters.aliveMessages++;
    if (!isUsableAlive(message)) return this.#refuse();
    const alive = { ...message, endpoint: withPort(message.endpoint, core.self.endpoint.port) };
    const known = core.table.get(alive.node);
    if (known === undefined && core.table.isFull) return this.#refuse();
    const verdict = judgeAlive(known, alive, this.#judge());
    switch (verdict.kind) {
      case "ignore":
        return;
      case "conflict":
        core.counters.nameConflicts++;
        core.emit({ kind: "name-conflict", member: verdict.member, other: alive.endpoint });
        return;
      case "refute":
        return this.refute("stale-alive", alive.incarnation);
      case "accept":
        return this.#acceptAlive(known, alive, verdict.change);
    }
  }

  suspect(suspect: Suspect): void {
    const core = this.#core;
    core.counters.suspectMessages++;
    if (!isUsableName(suspect.from)) return this.#refuse();
    const suspicion = this.#suspicions.get(suspect.node);
    const known = core.table.get(suspect.node);
    const verdict = judgeSuspect(known, suspect, suspicion !== undefined, this.#judge());
    switch (verdict.kind) {
      case "ignore":
        // The accuser missed our latest word: that refutes as well as a new one would.
        if (verdict.why === "stale" && core.isSelf(suspect.node) && !core.isLeaving) this.announceSelfTo(suspect.from);
        return;
      case "confirm":
        if (suspicion?.confirm(suspect.from) === true) core.broadcast(suspect.node, suspect);
        return;
      case "refute":
        return this.refute("suspect", suspect.incarnation, suspect.from);
      case "accept":
        if (known !== undefined) this.#acceptSuspect(known, suspect);
        return;
    }
  }

  /**
   * A suspect that is heard is told at once, so that it can refute. memberlist tells it with the next ping, which may come after the verdict: a
   * node whose cable was out for 3 s suspects others meanwhile, probes slowly afterwards, and was seen to hold them dead 4 s after it had
   * begun to, though it had heard them for two.
   */
  heard(from: Endpoint): void {
    const core = this.#core;
    if (this.#suspicions.size === 0 || core.isLeaving) return;
    const member = core.table.at(from);
    if (member === undefined || this.#suspicions.get(member.name)?.isToBeTold(core.nowMs) !== true) return;
    const { name: node, incarnation } = member;
    core.sendParts(member, [encodeMessage({ kind: "suspect", node, incarnation, from: core.self.name })]);
  }

  /** `finished` is called when the broadcast has been sent often enough. */
  dead(dead: Dead, finished?: () => void): void {
    const core = this.#core;
    core.counters.deadMessages++;
    if (!isUsableName(dead.from)) return this.#refuse();
    const known = core.table.get(dead.node);
    const verdict = judgeDead(known, dead, this.#judge());
    switch (verdict.kind) {
      case "ignore":
        return this.#hearOfOwnDeath(dead);
      case "refute":
        return this.refute(dead.from === dead.node ? "left" : "dead", dead.incarnation, dead.from);
      case "accept":
        if (known !== undefined) this.#acceptDead(known, dead, verdict.state, finished);
        return;
    }
  }

  /**
   * A process that goes on after a stop reads the suspicion first, and refutes it; the verdict behind it is stale by then, and
   * still the news that others have taken its place.
   */
  #hearOfOwnDeath({ node, incarnation, from }: Dead): void {
    const core = this.#core;
    if (node !== core.self.name || from === node || incarnation >= core.self.incarnation) return;
    this.#tellOwnDeath(incarnation, from);
  }

  /** Each death once. */
  #tellOwnDeath(incarnation: number, from?: string): void {
    if (incarnation <= this.#deadIncarnation) return;
    this.#deadIncarnation = incarnation;
    const said = { kind: "refuted", verdict: "dead", incarnation: this.#core.self.incarnation } as const;
    this.#core.emit(from === undefined ? said : { ...said, from });
  }

  /** A peer's table shows us dead: no accusation only, but the news that others lead in our place. */
  #shownDead(incarnation: number): void {
    const core = this.#core;
    if (core.isLeaving) return;
    if (incarnation >= core.self.incarnation) this.refute("dead", incarnation);
    else this.#tellOwnDeath(incarnation);
  }

  /** Records of a push/pull: a peer's "dead" is an accusation, not a verdict, so that the accused can refute it. */
  merge(records: readonly NodeRecord[]): void {
    for (const { name, endpoint, meta, incarnation, state, versions } of records) {
      const node = name;
      const from = this.#core.self.name;
      switch (state) {
        case "alive": {
          const alive: Alive = { kind: "alive", node, endpoint, meta, incarnation };
          this.alive(versions === undefined ? alive : { ...alive, versions });
          break;
        }
        case "left":
          this.dead({ kind: "dead", node, incarnation, from: node });
          break;
        case "dead":
          if (this.#core.isSelf(node)) this.#shownDead(incarnation);
          else this.suspect({ kind: "suspect", node, incarnation, from });
          break;
        case "suspect":
          this.suspect({ kind: "suspect", node, incarnation, from });
          break;
      }
    }
  }

  /** Raises our incarnation over what was said of us and tells everybody at once, those we hold dead included. */
  refute(verdict: Verdict, accusedIncarnation: number, from?: string): void {
    const core = this.#core;
    const incarnation = refutingIncarnation(core.self.incarnation, accusedIncarnation);
    if (incarnation === core.self.incarnation) return;
    if (verdict === "dead") this.#deadIncarnation = Math.max(this.#deadIncarnation, accusedIncarnation);
    core.counters.refutes++;
    core.awareness.change(1);
    core.putSelf({ incarnation });
    const said = { kind: "refuted", verdict, incarnation } as const;
    core.emit(from === undefined ? said : { ...said, from });
    this.#announceSelf(core.self.endpoint.ip);
    this.#changed("updated", core.self);
  }

  /** Tells everybody our new metadata, under a new incarnation. */
  changeMeta(meta: Uint8Array, isUrgent: boolean): void {
    const core = this.#core;
    core.putSelf({ meta, incarnation: refutingIncarnation(core.self.incarnation, 0) });
    if (isUrgent) this.#announceSelf(core.self.name);
    else core.broadcast(core.self.name, core.aliveOf(core.self));
    this.#changed("updated", core.self);
  }

  /** Once more, to one that was not reached. */
  announceSelfTo(name: string): void {
    const core = this.#core;
    const member = core.table.get(name);
    if (member !== undefined) core.sendParts(member, [encodeMessage(core.aliveOf(core.self))]);
  }

  /** The first announcement of ourselves. */
  open(): void {
    const core = this.#core;
    core.putSelf({ sinceMs: core.nowMs });
    core.broadcast(core.self.name, core.aliveOf(core.self));
    this.#changed("joined", core.self);
  }

  /** Members and those held dead, but not those that left: whoever could act on news about us. */
  audience(): readonly Member[] {
    return this.#core.table.all().filter((member) => member.state !== "left" && !this.#core.isSelf(member.name));
  }

  nextDeadlineMs(): number | undefined {
    let nextMs: number | undefined;
    for (const { deadlineMs } of this.#suspicions.values()) {
      if (nextMs === undefined || deadlineMs < nextMs) nextMs = deadlineMs;
    }
    return nextMs;
  }

  tick(): void {
    const core = this.#core;
    for (const [node, suspicion] of this.#suspicions) {
      if (suspicion.deadlineMs > core.nowMs) continue;
      this.#suspicions.delete(node);
      core.counters.suspicionsExpired++;
      if (suspicion.isUnconfirmed) core.counters.suspicionsUnconfirmed++;
      const incarnation = core.table.get(node)?.incarnation ?? 0;
      this.dead({ kind: "dead", node, incarnation, from: core.self.name });
    }
  }

  /** We stood still: the accused could not be heard meanwhile. */
  postpone(byMs: number): void {
    for (const suspicion of this.#suspicions.values()) suspicion.postpone(byMs);
  }

  #acceptAlive(known: Member | undefined, alive: UsableAlive, change: MemberChange): void {
    const core = this.#core;
    this.#suspicions.delete(alive.node);
    core.broadcast(alive.node, alive);
    const { node: name, endpoint, incarnation, meta, versions } = alive;
    const sinceMs = known?.state === "alive" ? known.sinceMs : core.nowMs;
    const member: Member = { name, endpoint, state: "alive", incarnation, meta, versions, sinceMs };
    core.table.put(member);
    this.#changed(change, member);
  }

  #acceptSuspect(known: Member, suspect: Suspect): void {
    const core = this.#core;
    core.broadcast(suspect.node, suspect);
    const limits = suspicionLimits(core.timing, core.table.size);
    this.#suspicions.set(known.name, new Suspicion(limits, suspect.from, core.nowMs));
    const member: Member = { ...known, state: "suspect", incarnation: suspect.incarnation, sinceMs: core.nowMs };
    core.table.put(member);
    this.#changed("suspected", member);
  }

  #acceptDead(known: Member, dead: Dead, state: "dead" | "left", finished?: () => void): void {
    const core = this.#core;
    this.#suspicions.delete(known.name);
    const member: Member = { ...known, state, incarnation: dead.incarnation, sinceMs: core.nowMs };
    if (core.isSelf(known.name)) core.putSelf(member);
    else core.table.put(member);
    core.broadcast(dead.node, dead, finished);
    this.#changed(state, member);
  }

  /** Directly to everybody now, and through the queue for whom that does not reach. */
  #announceSelf(broadcastName: string): void {
    const core = this.#core;
    const alive = encodeMessage(core.aliveOf(core.self));
    core.queue.add(broadcastName, alive);
    for (const member of this.audience()) core.sendParts(member, [alive]);
  }

  #changed(change: MemberChange, member: Member): void {
    this.#core.emit({ kind: "member-changed", change, member });
    for (const watcher of this.#watchers) watcher(change, member);
  }

  #refuse(): void {
    this.#core.counters.messagesRefused++;
  }

  #judge(): Judge {
    const { self, isLeaving, nowMs, timing } = this.#core;
    return { selfName: self.name, isLeaving, nowMs, deadNodeReclaimMs: timing.deadNodeReclaimMs };
  }
}

/** Alive or suspect, and not ourselves. */
export function isOther(core: Core, member: Member): boolean {
  return isMember(member) && !core.isSelf(member.name);
}

/** Where a message to a name goes; undefined for a name that is no other member. */
export function endpointOf(core: Core, name: string): Endpoint | undefined {
  const member = core.table.get(name);
  return member !== undefined && isOther(core, member) ? member.endpoint : undefined;
}
