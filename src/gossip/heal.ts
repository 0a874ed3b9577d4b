/**
 * Heal (DESIGN D6): a member held dead is pinged on, one each 100 ms, for ten minutes; whatever is heard from it starts a
 * push/pull at once, in which both sides find the verdict and refute it.
 */
import type { Core } from "./core.ts";
import type { Endpoint } from "./message.ts";
import type { PendingPings } from "./pending-pings.ts";
import type { PushPulls } from "./push-pull.ts";
import type { Member, MemberChange } from "./swim-event.ts";

const PING_INTERVAL_MS = 100;
const PINGED_MS = 600_000;
/** A member that comes back this long after its death is still told apart from a new one. */
const REMEMBERED_MS = 24 * 3_600_000;
/** Between two push/pulls with one member that is heard but stays dead. */
const RETRY_MS = 1_000;
const MAX_LOST = 1_024;

interface Lost {
  readonly endpoint: Endpoint;
  readonly sinceMs: number;
  lastDialMs: number;
}

export class Heal {
  readonly #core: Core;
  readonly #pushPulls: PushPulls;
  readonly #pings: PendingPings;
  readonly #lost = new Map<string, Lost>();
  /** Names in the order in which they are pinged. */
  #round: string[] = [];
  #nextMs = Number.POSITIVE_INFINITY;

  constructor(core: Core, pushPulls: PushPulls, pings: PendingPings) {
    this.#core = core;
    this.#pushPulls = pushPulls;
    this.#pings = pings;
  }

  changed(change: MemberChange, member: Member): void {
    if (this.#core.isSelf(member.name)) return;
    if (change === "dead") this.#lose(member);
    else if (change === "left") this.#lost.delete(member.name);
    else if (change === "joined" && this.#lost.delete(member.name)) {
      this.#core.emit({ kind: "heard-again", name: member.name });
    }
  }

  /** A datagram came from this address, or from a node that gave this name. */
  heard(from: Endpoint, name: string | undefined): void {
    if (this.#lost.size === 0) return;
    if (name !== undefined) this.heardName(name);
    const known = this.#core.table.at(from);
    if (known !== undefined && known.name !== name) this.heardName(known.name);
  }

  heardName(name: string): void {
    const lost = this.#lost.get(name);
    const { nowMs, isLeaving } = this.#core;
    if (lost === undefined || isLeaving || nowMs - lost.lastDialMs < RETRY_MS) return;
    lost.lastDialMs = nowMs;
    this.#pushPulls.start(lost.endpoint, true);
  }

  nextDeadlineMs(): number | undefined {
    return Number.isFinite(this.#nextMs) ? this.#nextMs : undefined;
  }

  tick(): void {
    const core = this.#core;
    if (core.nowMs < this.#nextMs) return;
    const target = core.isLeaving ? undefined : this.#nextTarget();
    this.#nextMs = target === undefined ? Number.POSITIVE_INFINITY : core.nowMs + PING_INTERVAL_MS;
    if (target === undefined) return;
    const { name, endpoint } = target;
    const seqNo = core.nextSeqNo();
    this.#pings.add(seqNo, { kind: "heal", node: name }, core.nowMs + core.timing.probeIntervalMs);
    core.send(endpoint, core.pingOf(name, seqNo));
  }

  #lose(member: Member): void {
    const { nowMs } = this.#core;
    this.#forgetOld();
    if (this.#lost.size >= MAX_LOST) return;
    this.#lost.set(member.name, { endpoint: member.endpoint, sinceMs: nowMs, lastDialMs: Number.NEGATIVE_INFINITY });
    if (!Number.isFinite(this.#nextMs)) this.#nextMs = nowMs + PING_INTERVAL_MS;
  }

  #nextTarget(): { readonly name: string; readonly endpoint: Endpoint } | undefined {
    if (this.#round.length === 0) this.#round = [...this.#lost.keys()].filter((name) => this.#isPinged(name));
    for (let name = this.#round.shift(); name !== undefined; name = this.#round.shift()) {
      const lost = this.#lost.get(name);
      if (lost !== undefined && this.#isPinged(name)) return { name, endpoint: lost.endpoint };
    }
    // Everybody of this round came back; a new round has at least those that were lost meanwhile.
    const [name] = [...this.#lost.keys()].filter((candidate) => this.#isPinged(candidate));
    const lost = name === undefined ? undefined : this.#lost.get(name);
    return name === undefined || lost === undefined ? undefined : { name, endpoint: lost.endpoint };
  }

  #isPinged(name: string): boolean {
    const lost = this.#lost.get(name);
    return lost !== undefined && this.#core.nowMs - lost.sinceMs <= PINGED_MS;
  }

  #forgetOld(): void {
    for (const [name, { sinceMs }] of this.#lost) {
      if (this.#core.nowMs - sinceMs > REMEMBERED_MS) this.#lost.delete(name);
    }
  }
}
