/** Who watches a leader node (DESIGN D7): the same choice on every node that holds the same view. Pure. */
import { rankHash } from "../../election/rank-hash.ts";
import { FAST_TIMING } from "./fast-timing.ts";

/** Hashes kept; a hundred nodes that all lead have ten thousand pairs. */
const MAX_HASHES = 50_000;

/** A node that leads at least one address. */
export interface LeaderNode {
  readonly node: string;
  /** Second in rank for one of its addresses, each once. */
  readonly seconds: readonly string[];
}

/** Remembers hashes, because views change often and names rarely. */
export class WatcherChoice {
  readonly #most: number;
  readonly #hashes = new Map<string, string>();

  constructor({ watchers } = FAST_TIMING) {
    this.#most = watchers;
  }

  /**
   * At most three of `eligible`, best first: of the seconds the lowest SHA-256 of `watcher#leader`, then of the others. Fewer when
   * there are fewer; never the leader itself.
   */
  watchersOf({ node, seconds }: LeaderNode, eligible: readonly string[]): readonly string[] {
    const others = eligible.filter((name) => name !== node);
    const isSecond = new Set(seconds);
    const ranked = others.map((name) => ({ name, rank: `${isSecond.has(name) ? 0 : 1}${this.#hashOf(name, node)}` }));
    ranked.sort((a, b) => (a.rank < b.rank ? -1 : 1));
    return ranked.slice(0, this.#most).map(({ name }) => name);
  }

  #hashOf(watcher: string, leader: string): string {
    const key = `${watcher}#${leader}`;
    const known = this.#hashes.get(key);
    if (known !== undefined) return known;
    if (this.#hashes.size >= MAX_HASHES) this.#hashes.clear();
    const hash = rankHash(watcher, leader);
    this.#hashes.set(key, hash);
    return hash;
  }
}
