/** What a node says of itself (DESIGN D4): the election's only source of facts about our members. Bytes: src/gossip/word.ts. */
import type { Mac } from "../net/mac.ts";
import type { Prefix } from "../net/prefix.ts";

/** Ordered from the lowest; the lowest that every member can is in force (DESIGN D5). */
export const RULES = ["metallb-1", "arpeggio-1"] as const;
export type Rule = (typeof RULES)[number];

/** Bit n of the flags field is the n-th of these. */
export const WORD_FLAGS = [
  "ready",
  "settling",
  "stepping-down",
  "cordoned",
  "network-unavailable",
  "excluded",
  "out-of-service",
  "damped",
  "leaving",
  "no-node-object",
] as const;
export type WordFlag = (typeof WORD_FLAGS)[number];

export interface WordLink {
  readonly index: number;
  readonly isUsable: boolean;
  /** Usable, but back for a short time only: other nodes' links come first. Absent: it is not. */
  readonly isReturning?: true;
  readonly mac: Mac;
  /** Only when an advertisement names links. */
  readonly name?: string;
}

export interface WordPrefix {
  readonly linkIndex: number;
  readonly prefix: Prefix;
}

export interface NodeWord {
  /** The highest rule that the node can follow. */
  readonly highestRule: Rule;
  readonly ruleInUse: Rule;
  /** In the order of `WORD_FLAGS`, each at most once. */
  readonly flags: readonly WordFlag[];
  /** Time since the node became ready, coarse: 0, 5, 10, 30, 60, 300, 600, 3600, or 86400 s. */
  readonly readySeconds: number;
  /** Own restarts without a leave, and refuted death verdicts, of the last quarter of an hour, with the age of the latest. */
  readonly restarts: number;
  readonly refutes: number;
  readonly troubleAgeSeconds: number;
  readonly links: readonly WordLink[];
  readonly prefixes: readonly WordPrefix[];
  /** Something did not fit: what is not listed is then unknown, never none. */
  readonly isTruncated: boolean;
}
