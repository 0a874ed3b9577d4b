/**
 * Whose majority a strict address needs while the list of expected speakers changes. Speakers read the list at different times, so a
 * new one is taken beside the old one: until the old one can be dropped, both need a majority. It is dropped when everybody who stays,
 * and more than half of the old list, has said for a lease that it has the new one too: from then on nobody has a majority by the old list
 * alone. Voters grant only to who needs a majority in every set that they have themselves. Pure.
 */
import { hash } from "node:crypto";
import { LEASE_MS } from "./lease-messages.ts";

/** A new list waits while so many have not been dropped. */
export const SETS_KEPT = 8;
/** For so long whoever asks goes on needing a dropped set, so that voters who have not dropped it yet grant on. */
export const LINGER_MS = 3_000;
/** 48 bits: a number holds them exactly. */
const ID_DIGITS = 12;

export interface VoterSet {
  /** The same for equal members, on every node. */
  readonly id: number;
  readonly members: ReadonlySet<string>;
}

export function voterSetOf(members: Iterable<string>): VoterSet {
  const sorted = [...new Set(members)].toSorted();
  const id = Number.parseInt(hash("sha256", sorted.join("\n"), "hex").slice(0, ID_DIGITS), 16);
  return { id, members: new Set(sorted) };
}

/** More than half. */
export function majorityOf({ members }: Pick<VoterSet, "members">): number {
  return Math.floor(members.size / 2) + 1;
}

export class VoterSets {
  /** The newest last. */
  #sets: VoterSet[] = [];
  #newestSinceMs = Number.NEGATIVE_INFINITY;
  /** Who has the newest set as its newest too, and said so when it had been ours already; with the time when that was heard. */
  readonly #confirmed = new Map<string, number>();
  #lingering: { readonly set: VoterSet; readonly untilMs: number }[] = [];

  get newest(): VoterSet | undefined {
    return this.#sets.at(-1);
  }

  /** A list has not been dropped yet. */
  get isChanging(): boolean {
    return this.#sets.length > 1;
  }

  /** Whether a voter may grant to one that needs a majority in each of these. */
  allows(ids: readonly number[]): boolean {
    return this.#sets.length > 0 && this.#sets.every(({ id }) => ids.includes(id));
  }

  /** In each of them whoever asks needs a majority; empty: nothing is known, and nobody has one. */
  needed(nowMs: number): readonly VoterSet[] {
    this.#lingering = this.#lingering.filter(({ untilMs }) => nowMs < untilMs);
    return [...this.#lingering.map(({ set }) => set), ...this.#sets];
  }

  /** The list as it is read now. True: something has changed. */
  expect(members: Iterable<string>, nowMs: number): boolean {
    const wanted = voterSetOf(members);
    if (wanted.members.size === 0 || wanted.id === this.newest?.id) return false;
    const others = this.#sets.filter(({ id }) => id !== wanted.id);
    if (others.length >= SETS_KEPT) return false;
    this.#sets = [...others, wanted];
    this.#lingering = this.#lingering.filter(({ set }) => set.id !== wanted.id);
    this.#newestSinceMs = nowMs;
    this.#confirmed.clear();
    return true;
  }

  /** What a voter said of its newest set, when it was asked at `askedMs` by our clock. */
  hear(voter: string, voterSet: number, askedMs: number, nowMs: number): void {
    if (!this.isChanging || askedMs <= this.#newestSinceMs) return;
    if (voterSet !== this.newest?.id) this.#confirmed.delete(voter);
    else if (!this.#confirmed.has(voter)) this.#confirmed.set(voter, nowMs);
    this.#drop(nowMs);
  }

  #drop(nowMs: number): void {
    const newest = this.newest;
    if (newest === undefined) return;
    // What they granted by the old list alone is over then.
    const confirms = (voter: string): boolean =>
      nowMs - (this.#confirmed.get(voter) ?? Number.POSITIVE_INFINITY) >= LEASE_MS;
    const isOver = (set: VoterSet): boolean => {
      if (set === newest) return false;
      const members = [...set.members];
      const isHeldByMost = members.filter(confirms).length >= majorityOf(set);
      return isHeldByMost && members.filter((member) => newest.members.has(member)).every(confirms);
    };
    const over = this.#sets.filter(isOver);
    if (over.length === 0) return;
    this.#sets = this.#sets.filter((set) => !over.includes(set));
    this.#lingering.push(...over.map((set) => ({ set, untilMs: nowMs + LINGER_MS })));
  }
}
