/**
 * Rejoin (DESIGN D6): memberlist forgets whom it lost, so two halves of a healed partition would stay apart. Every ten
 * seconds each known address that is not a member's is dialled: configured peers, and members' addresses of the last day.
 */
import type { Core } from "./core.ts";
import { endpointKey, sameEndpoint } from "./endpoint-key.ts";
import { isMember } from "./member-table.ts";
import type { Endpoint } from "./message.ts";
import type { PushPulls } from "./push-pull.ts";
import type { Member } from "./swim-event.ts";

const REJOIN_INTERVAL_MS = 10_000;
/** Earlier by up to this: nodes that start together must not dial together for ever. */
const REJOIN_JITTER_MS = 2_000;
/** Less than a round, so that every round dials anew; a lost SYN is repeated after 1 and 3 s. */
const DIAL_TIMEOUT_MS = 5_000;
const REMEMBERED_MS = 24 * 3_600_000;
const MAX_REMEMBERED = 4_096;
/** Dials in one round; the rest waits its turn. */
const MAX_DIALS = 64;

interface Remembered {
  readonly endpoint: Endpoint;
  readonly lastMs: number;
}

export class Rejoin {
  readonly #core: Core;
  readonly #pushPulls: PushPulls;
  readonly #remembered = new Map<string, Remembered>();
  #peers: readonly Endpoint[] = [];
  #nextMs = Number.POSITIVE_INFINITY;
  #turn = 0;

  constructor(core: Core, pushPulls: PushPulls) {
    this.#core = core;
    this.#pushPulls = pushPulls;
  }

  /** Those configured, ourselves left out. */
  get peers(): readonly Endpoint[] {
    return this.#peers;
  }

  /** The complete list; newcomers are dialled at once. */
  setPeers(endpoints: readonly Endpoint[]): void {
    const before = new Set(this.#peers.map(endpointKey));
    const others = endpoints.filter((endpoint) => !sameEndpoint(endpoint, this.#core.self.endpoint));
    this.#peers = [...new Map(others.map((endpoint) => [endpointKey(endpoint), endpoint])).values()];
    if (!this.#core.isOpen) return;
    this.#dial(this.#peers.filter((endpoint) => !before.has(endpointKey(endpoint)) && this.#isMissing(endpoint)));
  }

  /** The first round. Returns whom it dialled. */
  open(): readonly Endpoint[] {
    return this.#round();
  }

  nextDeadlineMs(): number | undefined {
    return Number.isFinite(this.#nextMs) ? this.#nextMs : undefined;
  }

  tick(): void {
    if (this.#core.nowMs >= this.#nextMs) this.#round();
  }

  /** A member was seen, or was lost just now. */
  remember(member: Member): void {
    if (this.#core.isSelf(member.name)) return;
    const key = endpointKey(member.endpoint);
    this.#remembered.delete(key);
    this.#remembered.set(key, { endpoint: member.endpoint, lastMs: this.#core.nowMs });
    for (const oldest of this.#remembered.keys()) {
      if (this.#remembered.size <= MAX_REMEMBERED) break;
      this.#remembered.delete(oldest);
    }
  }

  #round(): readonly Endpoint[] {
    const core = this.#core;
    this.#nextMs = core.nowMs + REJOIN_INTERVAL_MS - core.random.below(REJOIN_JITTER_MS);
    if (core.isLeaving) return [];
    this.#forgetOld();
    const missing = this.#missing();
    const start = missing.length > MAX_DIALS ? this.#turn % missing.length : 0;
    this.#turn += MAX_DIALS;
    return this.#dial([...missing.slice(start), ...missing.slice(0, start)]);
  }

  #dial(endpoints: readonly Endpoint[]): readonly Endpoint[] {
    return endpoints.slice(0, MAX_DIALS).filter((endpoint) => this.#start(endpoint));
  }

  #start(endpoint: Endpoint): boolean {
    return this.#pushPulls.start(endpoint, true, Math.min(DIAL_TIMEOUT_MS, this.#core.timing.tcpTimeoutMs));
  }

  #missing(): readonly Endpoint[] {
    const known = new Map(this.#peers.map((endpoint) => [endpointKey(endpoint), endpoint]));
    for (const [key, { endpoint }] of this.#remembered) known.set(key, endpoint);
    return [...known.values()].filter((endpoint) => this.#isMissing(endpoint));
  }

  #isMissing(endpoint: Endpoint): boolean {
    const member = this.#core.table.at(endpoint);
    return member === undefined || !isMember(member);
  }

  #forgetOld(): void {
    for (const [key, { endpoint, lastMs }] of this.#remembered) {
      if (this.#core.nowMs - lastMs > REMEMBERED_MS && this.#isMissing(endpoint)) this.#remembered.delete(key);
    }
  }
}
