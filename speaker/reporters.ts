/** Who says of an address that nobody leads it, so that one speaker does and not all. */
import { isSameList } from "../src/base/same-list.ts";
import type { NodeName } from "../src/desired/snapshot.ts";
import type { MemberView } from "../src/election/decision.ts";
import { rankHead } from "../src/election/rank-hash.ts";

/** Hashes for one turn, some milliseconds: when nothing is advertised any more, every address wants its reporter at once. */
const HASHES_AT_ONCE = 5_000;

/**
 * The first ready member of ours by SHA-256 of `node#ip`, eligible or not; MetalLB's speakers say nothing of the kind, so they
 * are passed over. Answers are remembered while the members are the same.
 */
export class Reporters {
  #names: readonly NodeName[] = [];
  #reporters = new Map<string, NodeName>();
  #hashesLeft = 0;
  #isShort = false;

  /** Begins a turn; false when those that may report are the same as in the last one. */
  begin(members: readonly MemberView[]): boolean {
    this.#hashesLeft = HASHES_AT_ONCE;
    this.#isShort = false;
    const names = members.filter(({ word }) => word?.flags.includes("ready")).map(({ name }) => name);
    names.sort();
    if (isSameList(names, this.#names)) return false;
    this.#names = names;
    this.#reporters = new Map();
    return true;
  }

  /** Undefined: there is none, or the turn's share of hashes is used up. */
  of(subject: string): NodeName | undefined {
    const known = this.#reporters.get(subject);
    if (known !== undefined) return known;
    this.#isShort = this.#hashesLeft <= 0;
    if (this.#isShort) return undefined;
    this.#hashesLeft -= this.#names.length;
    let first: NodeName | undefined;
    let lowest = Number.POSITIVE_INFINITY;
    for (const name of this.#names) {
      const head = rankHead(name, subject);
      if (head >= lowest) continue;
      first = name;
      lowest = head;
    }
    if (first !== undefined) this.#reporters.set(subject, first);
    return first;
  }

  /** Forgets what is not asked for any more. */
  prune(subjects: number): void {
    if (this.#reporters.size > 2 * subjects + 1_000) this.#reporters = new Map();
  }

  /** Somebody was not answered in this turn. */
  get isShort(): boolean {
    return this.#isShort;
  }
}
