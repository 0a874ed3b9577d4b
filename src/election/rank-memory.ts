/**
 * The order of nodes by SHA-256 of `node#key`, remembered for every key, so that a member change hashes only the new member
 * (DESIGN D3, budgets). A cache: what it holds never changes an answer. Owned by one caller of `decide`.
 */
import { hash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Ip } from "../net/ip.ts";
import type { Decision } from "./decision.ts";
import type { Verdicts } from "./eligibility.ts";
import { ProfileMemory } from "./profile.ts";

/** Nodes that are gone are kept for their return until they outnumber the living by so many. */
const GONE_NODES_KEPT = 16;
/** 13 hex digits are 52 bits: the longest piece of a hash that a number holds exactly. */
const PIECE_DIGITS = 13;

/** SHA-256 of `node#key`, lower-case hex: MetalLB's hash, so that both rank alike. */
export function rankHash(node: string, key: Ip): string {
  return hash("sha256", `${node}#${key}`, "hex");
}

/** What is remembered of one key. */
export interface KeyRanks {
  /** Node slots by ascending hash, then name. */
  readonly order: number[];
  /** First 52 bits of the hash, by slot. */
  readonly pieces: (number | undefined)[];
  /** Node set that `order` was completed for. */
  generation: number;
  /** The last decision, and what it followed from: given again while nothing changed. */
  last?: { readonly verdicts: Verdicts; readonly decision: Decision };
}

export class RankMemory {
  readonly profiles = new ProfileMemory();
  readonly #slots = new Map<string, number>();
  readonly #names: string[] = [];
  #ranks = new Map<Ip, KeyRanks>();
  #generation = 0;
  #verdicts: ReadonlyMap<string, Verdicts> = new Map();

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
      ranks = { order: [], pieces: [], generation: -1 };
      this.#ranks.set(key, ranks);
    }
    if (ranks.generation !== this.#generation) this.#complete(key, ranks);
    return ranks;
  }

  /** The verdicts of last time if they are equal, so that equal can be told by identity. */
  sameVerdicts(profile: string, verdicts: Verdicts): Verdicts {
    const before = this.#verdicts.get(profile);
    return before !== undefined && isDeepStrictEqual(before, verdicts) ? before : verdicts;
  }

  /** Forgets everything but what the last decisions used. */
  prune(keys: ReadonlySet<Ip>, verdicts: ReadonlyMap<string, Verdicts>): void {
    this.#verdicts = verdicts;
    this.profiles.prune(keys.size);
    if (this.#ranks.size <= keys.size) return;
    for (const key of this.#ranks.keys()) if (!keys.has(key)) this.#ranks.delete(key);
  }

  #complete(key: Ip, ranks: KeyRanks): void {
    const isNew = ranks.order.length === 0;
    for (let slot = ranks.pieces.length; slot < this.#names.length; slot++) {
      ranks.pieces.push(Number.parseInt(rankHash(this.#names[slot] ?? "", key).slice(0, PIECE_DIGITS), 16));
      if (isNew) ranks.order.push(slot);
      else this.#insert(key, ranks, slot);
    }
    if (isNew) ranks.order.sort((a, b) => this.#compare(key, ranks, a, b));
    ranks.generation = this.#generation;
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
    const difference = (ranks.pieces[a] ?? 0) - (ranks.pieces[b] ?? 0);
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
