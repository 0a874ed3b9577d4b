/** This node's word, from its standing, its links and what the cluster asks for (DESIGN D4). Pure. */
import type { ClusterSnapshot } from "../desired/snapshot.ts";
import { type Range, rangeOfPrefix, rangesOverlap } from "../net/prefix.ts";
import { flagsOf, readySecondsOf, type StandingState } from "./standing.ts";
import type { JudgedLink } from "./usable-links.ts";
import type { NodeWord, Rule, WordLink, WordPrefix } from "./word.ts";

/** Words of gone members are kept so long: what is older, nobody could tell a node that has forgotten it. */
const TOLD_MINUTES = 15;

export interface OwnFacts {
  readonly standing: StandingState;
  readonly links: readonly JudgedLink[];
  /** Absent before the first snapshot. */
  readonly snapshot?: ClusterSnapshot;
  /** The cap: what this node may follow at most. */
  readonly highestRule: Rule;
  readonly ruleInUse: Rule;
}

/** Lists only links and prefixes that hold a pool range or are named by an advertisement: a word has 512 bytes. */
export function buildWord(facts: OwnFacts, nowMs: number): NodeWord {
  const { standing, highestRule, ruleInUse } = facts;
  const ranges = [...(facts.snapshot?.pools.values() ?? [])].flatMap((pool) => pool.ranges);
  const named = new Set([...(facts.snapshot?.advertisements.values() ?? [])].flatMap(({ interfaces }) => interfaces));
  const links: WordLink[] = [];
  const prefixes: WordPrefix[] = [];
  for (const { link, isUsable, isReturning, reason } of facts.links) {
    if (reason === "excluded" || reason === "not-selected") continue;
    const holding = link.prefixes.filter((prefix) => overlapsAny(rangeOfPrefix(prefix), ranges));
    if (holding.length === 0 && !named.has(link.name)) continue;
    // Once names matter every listed link carries its own: a word without any says "I have not read that advertisement yet".
    links.push({
      index: link.index,
      isUsable,
      ...(isReturning ? { isReturning } : {}),
      mac: link.mac,
      ...(named.size === 0 ? {} : { name: link.name }),
    });
    prefixes.push(...holding.map((prefix) => ({ linkIndex: link.index, prefix })));
  }
  const troubles = standing.troubles.filter(({ atMs }) => nowMs - atMs < TOLD_MINUTES * 60_000);
  const latest = troubles.at(-1);
  return {
    highestRule,
    ruleInUse,
    flags: flagsOf(standing, nowMs),
    readySeconds: readySecondsOf(standing, nowMs),
    restarts: troubles.filter(({ kind }) => kind === "restart").length,
    refutes: troubles.filter(({ kind }) => kind === "refuted-death").length,
    troubleAgeSeconds: latest === undefined ? 0 : coarseSeconds(nowMs - latest.atMs),
    links,
    prefixes,
    isTruncated: false,
  };
}

function overlapsAny(range: Range, ranges: readonly Range[]): boolean {
  return ranges.some((other) => rangesOverlap(range, other));
}

/** Whole minutes: each change of a word is gossiped, and nobody asks for more. */
function coarseSeconds(ageMs: number): number {
  return Math.floor(ageMs / 60_000) * 60;
}
