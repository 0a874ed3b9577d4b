/**
 * One speaker as a voter: grants every address to one node at a time, until a lease after the last grant. Pure, but for its own state.
 * The time that it is given must have been read after the question was.
 */
import type { NodeName } from "../../desired/snapshot.ts";
import type { Ip } from "../../net/ip.ts";
import {
  type AskedPage,
  type GrantedPage,
  type GrantRefusal,
  LEASE_MS,
  type LeaseAsk,
  type LeaseGrant,
  PAGE_ADDRESSES,
  PAGES_KEPT,
} from "./lease-messages.ts";

/** Whoever has not asked for so long is forgotten, with its pages. */
const ASKER_KEPT_MS = 5 * LEASE_MS;

interface KnownPage {
  readonly version: number;
  readonly addresses: readonly Ip[];
  /** As it was answered last. */
  askedMs: number;
  denied: readonly Ip[];
}

interface Asker {
  readonly node: NodeName;
  readonly session: number;
  readonly pages: Map<number, KnownPage>;
  voterSets: readonly number[];
  heardMs: number;
}

/** Which sets of expected speakers this voter has. */
export interface VoterView {
  readonly newestId: number;
  readonly allows: (ids: readonly number[]) => boolean;
}

export interface Answered {
  readonly grant: LeaseGrant;
  /** To others who wait for what was released just now. */
  readonly more: readonly { readonly to: NodeName; readonly grant: LeaseGrant }[];
}

export class LeaseVoter {
  readonly #self: NodeName;
  readonly #startedMs: number;
  readonly #granted = new Map<Ip, { readonly asker: Asker; untilMs: number }>();
  readonly #askers = new Map<string, Asker>();

  constructor(self: NodeName, nowMs: number) {
    this.#self = self;
    this.#startedMs = nowMs;
  }

  /** Who has the address from this voter now. */
  grantedTo(ip: Ip, nowMs: number): NodeName | undefined {
    const granted = this.#granted.get(ip);
    return granted === undefined || granted.untilMs <= nowMs ? undefined : granted.asker.node;
  }

  answer(ask: LeaseAsk, view: VoterView, nowMs: number): Answered {
    const asker = this.#askerOf(ask, nowMs);
    const released = ask.pages.flatMap((page) => this.#learn(asker, page));
    const refusal = this.#refusalOf(ask.voterSets, view, nowMs);
    const pages =
      refusal === undefined ? ask.pages.flatMap((page) => this.#grant(asker, page, ask.askedMs, nowMs)) : [];
    const more = released.length === 0 ? [] : this.#passOn(new Set(released), asker, view, nowMs);
    return { grant: this.#message(asker, ask.askedMs, view, pages, refusal), more };
  }

  /** What this process granted in a life before is not known to it: nothing, until that has ended. */
  #refusalOf(voterSets: readonly number[], view: VoterView, nowMs: number): GrantRefusal | undefined {
    if (nowMs < this.#startedMs + LEASE_MS) return "starting";
    return view.allows(voterSets) ? undefined : "other-voters";
  }

  #askerOf({ node, session, voterSets }: LeaseAsk, nowMs: number): Asker {
    this.#forgetSilent(nowMs);
    const key = `${session} ${node}`;
    const asker = this.#askers.get(key) ?? { node, session, pages: new Map(), voterSets, heardMs: nowMs };
    this.#askers.set(key, asker);
    asker.heardMs = nowMs;
    asker.voterSets = voterSets;
    return asker;
  }

  #forgetSilent(nowMs: number): void {
    for (const [key, asker] of this.#askers) {
      if (nowMs - asker.heardMs <= ASKER_KEPT_MS) continue;
      this.#askers.delete(key);
      for (const [ip, granted] of this.#granted) if (granted.asker === asker) this.#granted.delete(ip);
    }
  }

  /** Takes new contents; gives what they release. */
  #learn(asker: Asker, { number, version, addresses }: AskedPage): readonly Ip[] {
    const known = asker.pages.get(number);
    if (addresses === undefined || number >= PAGES_KEPT || addresses.length > PAGE_ADDRESSES) return [];
    if (known !== undefined && known.version >= version) return [];
    asker.pages.set(number, { version, addresses, askedMs: 0, denied: [] });
    const kept = new Set(addresses);
    const released = known?.addresses.filter((ip) => !kept.has(ip) && this.#granted.get(ip)?.asker === asker) ?? [];
    for (const ip of released) this.#granted.delete(ip);
    return released;
  }

  /** Nothing for what is older than what is known: it was overtaken. */
  #grant(asker: Asker, { number, version }: AskedPage, askedMs: number, nowMs: number): readonly GrantedPage[] {
    const page = asker.pages.get(number);
    if (page === undefined || page.version < version) return [{ number, version: 0, denied: [] }];
    if (page.version > version) return [];
    const denied = page.addresses.filter((ip) => !this.#take(ip, asker, nowMs));
    page.askedMs = Math.max(page.askedMs, askedMs);
    page.denied = denied;
    return [{ number, version, denied }];
  }

  #take(ip: Ip, asker: Asker, nowMs: number): boolean {
    const granted = this.#granted.get(ip);
    if (granted?.asker === asker) granted.untilMs = nowMs + LEASE_MS;
    else if (granted === undefined || granted.untilMs <= nowMs)
      this.#granted.set(ip, { asker, untilMs: nowMs + LEASE_MS });
    else return false;
    return true;
  }

  /** Answers once more to who was denied it a moment ago: what it asked for then is free now. */
  #passOn(released: ReadonlySet<Ip>, releaser: Asker, view: VoterView, nowMs: number): Answered["more"] {
    return [...this.#askers.values()].flatMap((asker) => {
      const isWaiting = asker !== releaser && this.#refusalOf(asker.voterSets, view, nowMs) === undefined;
      if (!isWaiting) return [];
      return [...asker.pages].flatMap(([number, { version, denied, askedMs }]) => {
        // An older question would give a lease that is over.
        if (!denied.some((ip) => released.has(ip)) || nowMs - asker.heardMs > LEASE_MS / 2) return [];
        const pages = this.#grant(asker, { number, version }, askedMs, nowMs);
        return [{ to: asker.node, grant: this.#message(asker, askedMs, view, pages, undefined) }];
      });
    });
  }

  #message(
    { session }: Asker,
    askedMs: number,
    { newestId }: VoterView,
    pages: readonly GrantedPage[],
    refusal: GrantRefusal | undefined,
  ): LeaseGrant {
    const said = { kind: "lease-grant", node: this.#self, session, askedMs, voterSet: newestId, pages } as const;
    return refusal === undefined ? said : { ...said, refusal };
  }
}
