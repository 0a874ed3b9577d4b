/**
 * The hashes of `node#key` by which nodes are ranked, remembered for every key, so that a member change hashes only the new member
 * (DESIGN D3, budgets). A cache: what it holds never changes an answer. Owned by one caller of `decide`.
 */
import { isDeepStrictEqual } from "node:util";
import type { Ip } from "../net/ip.ts";
import type { Candidate, Decision } from "./decision.ts";
import type { Standing, Verdicts } from "./eligibility.ts";
import type { Holders } from "./holders.ts";
import { ProfileMemory } from "./profile.ts";
import { type RankHeads, rankHash, rankHeads } from "./rank-hash.ts";

/** Nodes that are gone are kept for their return until they outnumber the living by so many. */
const GONE_NODES_KEPT = 16;

/** Typed arrays have room for so many nodes more, so that few newcomers need another array. */
const HEADS_AT_ONCE = 8;
const NO_HEADS = new Uint32Array(0);
/** A node stands in few different ways at one time; what it stood in before is kept until there is much of it. */
const CANDIDATES_OF_A_NODE = 16;

export interface LastDecision {
  /** Under which the decision was made, or would be made again. */
  verdicts: Verdicts;
  readonly held: Holders | undefined;
  readonly decision: Decision;
  /** Of the last candidate that the decision has room for; absent when it names all, or one whom its hash would not have brought there. */
  readonly lastSlot: number | undefined;
}

/** What is remembered of one key. */
export interface KeyRanks {
  /** First 32 bits of the hash, by slot. Outside of the heap, where thousands of lists would be moved about. */
  heads: Uint32Array;
  /** How many of `heads` were worked out. */
  count: number;
  /** The last decision, and what it followed from: given again while nothing changed. */
  last?: LastDecision;
}

export class RankMemory {
  readonly profiles = new ProfileMemory();
  readonly #slots = new Map<string, number>();
  readonly #rankHeads: RankHeads;
  #names: string[] = [];
  #ranks = new Map<Ip, KeyRanks>();
  #generation = 0;
  #verdicts = new Map<string, Verdicts>();
  #candidates = new Map<string, Candidate>();
  #hashes = 0;

  constructor(heads: RankHeads = rankHeads) {
    this.#rankHeads = heads;
  }

  /** Changes when nodes get numbers. */
  get generation(): number {
    return this.#generation;
  }

  /** How many hashes were worked out for ranks so far: what takes most of a first decision's time. */
  get hashes(): number {
    return this.#hashes;
  }

  /** Numbers the nodes; `ranksOf` knows the heads of at least these. */
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
      ranks = { heads: NO_HEADS, count: 0 };
      this.#ranks.set(key, ranks);
    }
    if (ranks.count < this.#names.length) this.#complete(key, ranks);
    return ranks;
  }

  /** Of two slots whose heads are the same. */
  comesFirst(key: Ip, slot: number, other: number): boolean {
    const [one, two] = [this.#names[slot] ?? "", this.#names[other] ?? ""];
    const [hash, otherHash] = [rankHash(one, key), rankHash(two, key)];
    return hash === otherHash ? one < two : hash < otherHash;
  }

  /** The same object for the same, so that equal can be told by identity, and thousands of decisions share what they name. */
  candidateOf(slot: number, { tier, tierReason, score, endpointClass }: Standing): Candidate {
    const node = this.#names[slot] ?? "";
    const name = `${slot} ${tier} ${tierReason} ${score} ${endpointClass}`;
    let candidate = this.#candidates.get(name);
    if (candidate === undefined) {
      candidate = { node, tier, ...(tierReason === undefined ? {} : { tierReason }), score, endpointClass };
      this.#candidates.set(name, candidate);
    }
    return candidate;
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
    if (this.#candidates.size > CANDIDATES_OF_A_NODE * this.#names.length + 1_000) this.#candidates = new Map();
    if (this.#ranks.size <= 2 * groups + 1_000) return;
    const used = keys();
    for (const key of this.#ranks.keys()) if (!used.has(key)) this.#ranks.delete(key);
  }

  #complete(key: Ip, ranks: KeyRanks): void {
    const count = this.#names.length;
    if (count > ranks.heads.length) {
      const heads = new Uint32Array(HEADS_AT_ONCE * Math.ceil(count / HEADS_AT_ONCE));
      heads.set(ranks.heads);
      ranks.heads = heads;
    }
    this.#hashes += count - ranks.count;
    this.#rankHeads(this.#names, key, ranks.heads, ranks.count);
    ranks.count = count;
  }

  /** Starts anew: rarer than once in as many changes as there are nodes. */
  #forgetNodes(): void {
    this.#slots.clear();
    this.#names = [];
    this.#ranks = new Map();
    this.#verdicts = new Map();
    this.#candidates = new Map();
    this.#generation++;
  }
}

function keptFrom(before: Verdicts | undefined, verdicts: Verdicts): Verdicts {
  if (before === undefined) return verdicts;
  if (isDeepStrictEqual(before, verdicts)) return before;
  return isDeepStrictEqual(before.refusals, verdicts.refusals) ? { ...verdicts, refusals: before.refusals } : verdicts;
}
