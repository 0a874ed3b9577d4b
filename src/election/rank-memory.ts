/**
 * The order of nodes by SHA-256 of `node#key`, remembered for every key, so that a member change hashes only the new member
 * (DESIGN D3, budgets). A cache: what it holds never changes an answer. Owned by one caller of `decide`.
 */
import { isDeepStrictEqual } from "node:util";
import type { Ip } from "../net/ip.ts";
import type { Decision } from "./decision.ts";
import type { Verdicts } from "./eligibility.ts";
import type { Holders } from "./holders.ts";
import { ProfileMemory } from "./profile.ts";
import { rankHash, rankHead } from "./rank-hash.ts";

/** Nodes that are gone are kept for their return until they outnumber the living by so many. */
const GONE_NODES_KEPT = 16;

/** What is remembered of one key. */
export interface KeyRanks {
  /** Node slots by ascending hash, then name. */
  order: number[];
  /** First 52 bits of the hash, by slot. */
  heads: number[];
  /** Node set that `order` was completed for. */
  generation: number;
  /** The last decision, and what it followed from: given again while nothing changed. */
  last?: { readonly verdicts: Verdicts; readonly held: Holders | undefined; readonly decision: Decision };
}

export class RankMemory {
  readonly profiles = new ProfileMemory();
  readonly #slots = new Map<string, number>();
  readonly #names: string[] = [];
  #ranks = new Map<Ip, KeyRanks>();
  #generation = 0;
  #verdicts = new Map<string, Verdicts>();
  #hashes = 0;

  /** Changes when nodes get numbers. */
  get generation(): number {
    return this.#generation;
  }

  /** How many hashes were worked out for ranks so far: what takes most of a first decision's time. */
  get hashes(): number {
    return this.#hashes;
  }

  /** Numbers the nodes; `ranksOf` orders at least these. */
  slotsOf(nodes: readonly string[]): readonly number[] {
    if (this.#names.length > 2 * nodes.length + GONE_NODES_KEPT) this.#forgetNodes();
    return nodes.map((node) => {
      const known = this.#slots.get(node);
      if (known !== undefined) return known;
      this.#generation++;
      this.#slots.set(node, this.#names.length);
      return this.#names.push(node) - 1;
    });
  }

  /** Among the slots may be some of nodes that are gone. */
  ranksOf(key: Ip): KeyRanks {
    let ranks = this.#ranks.get(key);
    if (ranks === undefined) {
      ranks = { order: [], heads: [], generation: -1 };
      this.#ranks.set(key, ranks);
    }
    if (ranks.generation !== this.#generation) this.#complete(key, ranks);
    return ranks;
  }

  /** The verdicts of last time if they are equal, so that equal can be told by identity. */
  sameVerdicts(profile: string, verdicts: Verdicts): Verdicts {
    const same = keptFrom(this.#verdicts.get(profile), verdicts);
    this.#verdicts.set(profile, same);
    return same;
  }

  /** Forgets keys and profiles that are not in use, once there are many. */
  prune(keys: () => ReadonlySet<Ip>, groups: number): void {
    this.profiles.prune(groups);
    if (this.#verdicts.size > 2 * groups + 1_000) this.#verdicts = new Map();
    if (this.#ranks.size <= 2 * groups + 1_000) return;
    const used = keys();
    for (const key of this.#ranks.keys()) if (!used.has(key)) this.#ranks.delete(key);
  }

  #complete(key: Ip, ranks: KeyRanks): void {
    const isNew = ranks.order.length === 0;
    this.#hashes += this.#names.length - ranks.heads.length;
    for (let slot = ranks.heads.length; slot < this.#names.length; slot++) {
      ranks.heads.push(rankHead(this.#names[slot] ?? "", key));
      if (!isNew) this.#insert(key, ranks, slot);
    }
    if (isNew) this.#sort(key, ranks);
    // Copies have no room to grow, which would be most of what thousands of keys take.
    ranks.order = ranks.order.slice();
    ranks.heads = ranks.heads.slice();
    ranks.generation = this.#generation;
  }

  /** Sorts plain numbers, the slot in their last bits, because a comparison in our own code costs ten times as much; then in full. */
  #sort(key: Ip, ranks: KeyRanks): void {
    const slots = 2 ** Math.ceil(Math.log2(ranks.heads.length + 1));
    const coarse = Float64Array.from(ranks.heads, (head, slot) => head - (head % slots) + slot).toSorted();
    for (const value of coarse) {
      const slot = value % slots;
      let at = ranks.order.length;
      while (at > 0 && this.#compare(key, ranks, ranks.order[at - 1] ?? 0, slot) > 0) at--;
      if (at === ranks.order.length) ranks.order.push(slot);
      else ranks.order.splice(at, 0, slot);
    }
  }

  #insert(key: Ip, ranks: KeyRanks, slot: number): void {
    let low = 0;
    let high = ranks.order.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(key, ranks, ranks.order[middle] ?? 0, slot) < 0) low = middle + 1;
      else high = middle;
    }
    ranks.order.splice(low, 0, slot);
  }

  #compare(key: Ip, ranks: KeyRanks, a: number, b: number): number {
    const difference = (ranks.heads[a] ?? 0) - (ranks.heads[b] ?? 0);
    if (difference !== 0) return difference;
    const one = this.#names[a] ?? "";
    const other = this.#names[b] ?? "";
    const full = [rankHash(one, key), rankHash(other, key)] as const;
    if (full[0] !== full[1]) return full[0] < full[1] ? -1 : 1;
    return one < other ? -1 : 1;
  }

  /** Starts anew: rarer than once in as many changes as there are nodes. */
  #forgetNodes(): void {
    this.#slots.clear();
    this.#names.length = 0;
    this.#ranks = new Map();
    this.#verdicts = new Map();
    this.#generation++;
  }
}

function keptFrom(before: Verdicts | undefined, verdicts: Verdicts): Verdicts {
  if (before === undefined) return verdicts;
  if (isDeepStrictEqual(before, verdicts)) return before;
  return isDeepStrictEqual(before.refusals, verdicts.refusals) ? { ...verdicts, refusals: before.refusals } : verdicts;
}
