/**
 * One speaker as a holder: asks every voter for the addresses that it wants to answer for, and knows until when it may. A lease counts
 * from when it was asked for, so that it ends here before it ends at the voters. Pure, but for its own state.
 */
import type { Random } from "../../base/random.ts";
import type { Ip } from "../../net/ip.ts";
import {
  ASK_AGAIN_MS,
  type AskedPage,
  type GrantedPage,
  LEASE_MS,
  type LeaseGrant,
  MARGIN_MS,
  PAGE_ADDRESSES,
  PAGES_KEPT,
  RENEW_MS,
} from "./lease-messages.ts";
import { majorityOf, type VoterSet } from "./voter-sets.ts";

/** Two who ask at once may each get half of the votes: whoever got no lease for so long gives them back, and asks again later. */
export const GIVE_BACK_MS = 1_500;
const PAUSE_LEAST_MS = 100;
const PAUSE_MORE_MS = 1_000;
/** A lease that ends later than this is not worked out anew: by then more votes have come. */
const AMPLE_MS = 450;

interface Vote {
  readonly askedMs: number;
  readonly version: number;
  readonly denied: ReadonlySet<Ip>;
}

interface Page {
  readonly number: number;
  version: number;
  /** With the version in which each came last: older votes were not about it. */
  readonly addresses: Map<Ip, number>;
  changedMs: number;
  readonly votes: Map<string, Vote>;
  /** Votes came since it was judged. */
  isNew: boolean;
  /** Of what is held, the earliest end. */
  leastUntilMs: number;
  hasWaiting: boolean;
}

interface Want {
  readonly ip: Ip;
  /** Undefined while it pauses. */
  page: Page | undefined;
  /** Since when there is no lease. */
  waitsSinceMs: number;
  /** Since when it is asked for, after a pause too. */
  asksSinceMs: number;
  pausedUntilMs: number;
  untilMs: number;
  isHeld: boolean;
}

interface Voter {
  nextMs: number;
  /** When it was last heard, whatever it said. */
  heardAskedMs: number;
  /** Versions whose contents it has. */
  readonly knows: Map<number, number>;
}

export interface Question {
  readonly to: string;
  readonly pages: readonly AskedPage[];
}

const NEVER = Number.NEGATIVE_INFINITY;

export class LeaseHolder {
  readonly #random: Random;
  readonly #wants = new Map<Ip, Want>();
  /** What has no lease. */
  readonly #waiting = new Set<Want>();
  readonly #pages: Page[] = [];
  readonly #voters = new Map<string, Voter>();
  #sets: readonly VoterSet[] = [];
  #gained: Ip[] = [];
  #lost: Ip[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  /** When the lease ends, by our clock; in the past or -Infinity when there is none. */
  untilMs(ip: Ip): number {
    return this.#wants.get(ip)?.untilMs ?? NEVER;
  }

  /** Undefined when it has one, or is not wanted. */
  waitsSinceMs(ip: Ip): number | undefined {
    const want = this.#wants.get(ip);
    return want === undefined || want.isHeld ? undefined : want.waitsSinceMs;
  }

  waiting(): readonly Ip[] {
    return [...this.#waiting].map(({ ip }) => ip);
  }

  /** Of all that are held; Infinity: nothing is. */
  get earliestEndMs(): number {
    let earliestMs = Number.POSITIVE_INFINITY;
    for (const { leastUntilMs } of this.#pages) earliestMs = Math.min(earliestMs, leastUntilMs);
    return earliestMs;
  }

  /** Who has granted it, with the time by our clock when it was asked to. */
  votesFor(ip: Ip): ReadonlyMap<string, number> {
    const page = this.#wants.get(ip)?.page;
    const votes = [...(page?.votes ?? [])].filter(([, vote]) => page !== undefined && isFor(vote, page, ip));
    return new Map(votes.map(([voter, { askedMs }]) => [voter, askedMs]));
  }

  /** When a question was asked that the voter has answered; -Infinity: none. */
  heardAskedMs(voter: string): number {
    return this.#voters.get(voter)?.heardAskedMs ?? NEVER;
  }

  /** Sets that a majority is needed in, and whom to ask. */
  setVoters(sets: readonly VoterSet[], voters: ReadonlySet<string>): void {
    this.#sets = sets;
    for (const name of this.#voters.keys()) if (!voters.has(name)) this.#voters.delete(name);
    for (const name of voters) {
      if (!this.#voters.has(name)) this.#voters.set(name, { nextMs: NEVER, heardAskedMs: NEVER, knows: new Map() });
    }
    for (const page of this.#pages) page.isNew = true;
  }

  want(ip: Ip, nowMs: number): void {
    if (this.#wants.has(ip)) return;
    const want = {
      ip,
      page: undefined,
      waitsSinceMs: nowMs,
      asksSinceMs: nowMs,
      pausedUntilMs: NEVER,
      untilMs: NEVER,
      isHeld: false,
    };
    this.#wants.set(ip, want);
    this.#waiting.add(want);
    this.#enter(want, nowMs);
  }

  /** Gives it back; whoever calls has stopped answering. */
  release(ip: Ip, nowMs: number): void {
    const want = this.#wants.get(ip);
    if (want === undefined) return;
    this.#wants.delete(ip);
    this.#waiting.delete(want);
    this.#leave(want, nowMs);
  }

  /** What our own voter, or another, has granted. */
  hear(voter: string, { askedMs, pages }: LeaseGrant, nowMs: number): void {
    if (askedMs > nowMs) return;
    for (const page of pages) this.#hearPage(voter, page, askedMs);
    const known = this.#voters.get(voter);
    if (known !== undefined) {
      known.heardAskedMs = Math.max(known.heardAskedMs, askedMs);
      const knowsAll = this.#pages.every(({ number, version }) => (known.knows.get(number) ?? 0) >= version);
      if (knowsAll && this.#waiting.size === 0) known.nextMs = Math.max(known.nextMs, askedMs + RENEW_MS);
    }
    this.judge(nowMs);
  }

  #hearPage(voter: string, { number, version, denied }: GrantedPage, askedMs: number): void {
    const page = this.#pages[number];
    if (page === undefined || version > page.version) return;
    const known = this.#voters.get(voter);
    if (version === 0) {
      known?.knows.delete(number);
      if (known !== undefined) known.nextMs = NEVER;
      return;
    }
    known?.knows.set(number, Math.max(version, known.knows.get(number) ?? 0));
    const before = page.votes.get(voter);
    if (before !== undefined && (before.askedMs > askedMs || before.version > version)) return;
    page.votes.set(voter, { askedMs, version, denied: new Set(denied) });
    page.isNew = true;
  }

  /** Works out what is held. */
  judge(nowMs: number): void {
    for (const page of this.#pages) {
      const isShort = page.hasWaiting || page.leastUntilMs - nowMs < AMPLE_MS;
      if ((page.isNew && isShort) || nowMs >= page.leastUntilMs) this.#judgePage(page, nowMs);
    }
  }

  #judgePage(page: Page, nowMs: number): void {
    // Mostly all votes are for all of the page.
    const latest = Math.max(0, ...page.addresses.values());
    const untilMs = this.#leaseOf(page, ({ version, denied }) => version >= latest && denied.size === 0);
    const isEnough = untilMs - nowMs >= AMPLE_MS;
    page.leastUntilMs = Number.POSITIVE_INFINITY;
    page.hasWaiting = false;
    page.isNew = false;
    for (const ip of page.addresses.keys()) {
      const want = this.#wants.get(ip);
      if (want === undefined) continue;
      // Never shorter: what was granted stands until it is over.
      const leaseMs = isEnough ? untilMs : this.#leaseOf(page, (vote) => isFor(vote, page, ip));
      want.untilMs = Math.max(want.untilMs, leaseMs);
      this.#turn(want, nowMs < want.untilMs, nowMs);
      if (want.isHeld) page.leastUntilMs = Math.min(page.leastUntilMs, want.untilMs);
      else page.hasWaiting = true;
    }
  }

  #turn(want: Want, isHeld: boolean, nowMs: number): void {
    if (isHeld === want.isHeld) return;
    want.isHeld = isHeld;
    if (isHeld) {
      this.#waiting.delete(want);
      this.#gained.push(want.ip);
      return;
    }
    this.#waiting.add(want);
    want.waitsSinceMs = nowMs;
    want.asksSinceMs = nowMs;
    this.#lost.push(want.ip);
  }

  /** More than half of every set that is needed have granted it that late, at least. */
  #leaseOf({ votes }: Page, counts: (vote: Vote) => boolean): number {
    let untilMs = this.#sets.length === 0 ? NEVER : Number.POSITIVE_INFINITY;
    for (const set of this.#sets) {
      const asked: number[] = [];
      for (const member of set.members) {
        const vote = votes.get(member);
        if (vote !== undefined && counts(vote)) asked.push(vote.askedMs);
      }
      asked.sort((a, b) => b - a);
      untilMs = Math.min(untilMs, (asked[majorityOf(set) - 1] ?? NEVER) + LEASE_MS - MARGIN_MS);
    }
    return untilMs;
  }

  /** What has come to be held, or is held no longer, since this was asked for last. */
  takeChanges(): { readonly gained: readonly Ip[]; readonly lost: readonly Ip[] } {
    const changes = { gained: this.#gained, lost: this.#lost };
    this.#gained = [];
    this.#lost = [];
    return changes;
  }

  /** Questions that are due, one for each voter. `asksAnyway`: even if nothing is wanted. */
  due(nowMs: number, asksAnyway: boolean): readonly Question[] {
    this.#giveBack(nowMs);
    if (!asksAnyway && this.#isIdle(nowMs)) return [];
    const questions: Question[] = [];
    for (const [to, voter] of this.#voters) {
      if (voter.nextMs > nowMs) continue;
      const isSilent = nowMs - voter.heardAskedMs > LEASE_MS && voter.nextMs !== NEVER;
      voter.nextMs = nowMs + (isSilent ? RENEW_MS : ASK_AGAIN_MS);
      const pages = this.#pagesFor(voter.knows, nowMs);
      if (pages.length > 0 || asksAnyway) questions.push({ to, pages });
    }
    return questions;
  }

  /** Nothing is wanted, and what was released has been said or is over. */
  #isIdle(nowMs: number): boolean {
    return this.#wants.size === 0 && this.#pages.every(({ changedMs }) => nowMs - changedMs >= LEASE_MS);
  }

  #pagesFor(knows: ReadonlyMap<number, number>, nowMs: number): readonly AskedPage[] {
    return this.#pages.flatMap((page) => {
      const { number, version, addresses, changedMs } = page;
      const isKnown = knows.get(number) === version;
      if (addresses.size === 0 && (isKnown || nowMs - changedMs >= LEASE_MS)) return [];
      return [isKnown ? { number, version } : contentsOf(page)];
    });
  }

  nextDeadlineMs(nowMs: number, asksAnyway: boolean): number | undefined {
    if (!asksAnyway && this.#isIdle(nowMs)) return undefined;
    let nextMs = Number.POSITIVE_INFINITY;
    for (const voter of this.#voters.values()) nextMs = Math.min(nextMs, voter.nextMs);
    for (const want of this.#waiting) {
      nextMs = Math.min(nextMs, want.page === undefined ? want.pausedUntilMs : want.asksSinceMs + GIVE_BACK_MS);
    }
    for (const { isNew, leastUntilMs } of this.#pages) {
      // Votes that came since it was judged make it longer.
      const judgedMs = isNew && leastUntilMs - nowMs > AMPLE_MS ? leastUntilMs - AMPLE_MS : leastUntilMs;
      nextMs = Math.min(nextMs, judgedMs);
    }
    return nextMs === Number.POSITIVE_INFINITY ? undefined : nextMs;
  }

  /** What waits for too long pauses; what has paused is asked for again. */
  #giveBack(nowMs: number): void {
    for (const want of this.#waiting) {
      if (want.page === undefined && nowMs >= want.pausedUntilMs) {
        want.asksSinceMs = nowMs;
        this.#enter(want, nowMs);
      } else if (want.page !== undefined && nowMs - want.asksSinceMs >= GIVE_BACK_MS) {
        this.#leave(want, nowMs);
        want.pausedUntilMs = nowMs + PAUSE_LEAST_MS + this.#random.below(PAUSE_MORE_MS);
      }
    }
  }

  #enter(want: Want, nowMs: number): void {
    const free = this.#pages.find(({ addresses }) => addresses.size < PAGE_ADDRESSES);
    const page = free ?? this.#newPage();
    if (page === undefined) {
      want.pausedUntilMs = nowMs + PAUSE_MORE_MS;
      return;
    }
    want.page = page;
    this.#change(page, nowMs);
    page.addresses.set(want.ip, page.version);
    page.hasWaiting = true;
  }

  #leave(want: Want, nowMs: number): void {
    const { page } = want;
    want.page = undefined;
    want.untilMs = NEVER;
    if (page === undefined) return;
    page.addresses.delete(want.ip);
    page.isNew = true;
    this.#change(page, nowMs);
  }

  #newPage(): Page | undefined {
    const number = this.#pages.length;
    if (number >= PAGES_KEPT) return undefined;
    const page: Page = {
      number,
      version: 0,
      addresses: new Map(),
      changedMs: 0,
      votes: new Map(),
      isNew: false,
      leastUntilMs: Number.POSITIVE_INFINITY,
      hasWaiting: false,
    };
    this.#pages.push(page);
    return page;
  }

  #change(page: Page, nowMs: number): void {
    page.version++;
    page.changedMs = nowMs;
    for (const voter of this.#voters.values()) voter.nextMs = NEVER;
  }
}

function isFor({ version, denied }: Vote, { addresses }: Page, ip: Ip): boolean {
  return version >= (addresses.get(ip) ?? Number.POSITIVE_INFINITY) && !denied.has(ip);
}

function contentsOf({ number, version, addresses }: Page): AskedPage {
  return { number, version, addresses: [...addresses.keys()] };
}
