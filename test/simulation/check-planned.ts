/** Invariant 5: in planned moves somebody answers at every instant, and two answer together only for the flip. */
import type { Ip } from "../../src/net/ip.ts";
import { type Answerer, type Findings, type Witness } from "./witness.ts";

/** Two may answer together for this long (SIMULATION 5); one repeat of the claim (20 ms) fits in. */
const OVERLAP_MS = 50;
/** A node that may not lead any more stops at once (DESIGN D8): the next one has heard of it within a delivery. */
const STOPPED_GAP_MS = 500;
/** Where nobody could lead, whoever can again begins within a delivery of the news (200 ms) and one of his word. */
const BEGIN_MS = 500;

export interface PlannedRules {
  /** The cluster is there: before, nobody has handed anything to anybody. */
  readonly isBegun: (atMs: number) => boolean;
  /** Whether somebody could lead this address now, and has been able to since it was first answered. */
  readonly hasCandidate: (ip: Ip) => boolean;
  /** Something happened lately that makes its answerer stop at once. */
  readonly mayStop: (atMs: number) => boolean;
}

interface AddressStory {
  answerers: ReadonlySet<string>;
  /** Since when nobody, or more than one, answers. */
  sinceMs: number;
  wasAnswered: boolean;
  /** Since when somebody could lead it. */
  candidateSinceMs: number | undefined;
}

export class PlannedMoveChecker implements Witness {
  readonly #rules: PlannedRules;
  readonly #findings: Findings;
  readonly #stories = new Map<Ip, AddressStory>();

  constructor(rules: PlannedRules, findings: Findings) {
    this.#rules = rules;
    this.#findings = findings;
  }

  answered(atMs: number, ip: Ip, heard: readonly Answerer[]): void {
    if (!this.#rules.isBegun(atMs)) return;
    const answerers = new Set(heard.map(({ node }) => node));
    const story = this.#stories.get(ip);
    if (story === undefined) {
      this.#stories.set(ip, {
        answerers,
        sinceMs: atMs,
        wasAnswered: answerers.size > 0,
        candidateSinceMs: undefined,
      });
      return;
    }
    if (answerers.size === 1 && story.answerers.size >= 1 && !isSubset(answerers, story.answerers)) {
      this.#findings.count("5 moved in one step");
    }
    if (answerers.size === 2 && story.answerers.size === 1) this.#findings.count("5 both answer");
    if (Math.sign(answerers.size - 1) !== Math.sign(story.answerers.size - 1)) story.sinceMs = atMs;
    story.answerers = answerers;
    story.wasAnswered ||= answerers.size > 0;
    this.#judge(atMs, ip, story);
  }

  #judge(atMs: number, ip: Ip, story: AddressStory): void {
    const { answerers, sinceMs } = story;
    const lastedMs = atMs - sinceMs;
    if (answerers.size > 1 && lastedMs > OVERLAP_MS) {
      this.#findings.violated(
        5,
        atMs,
        `${[...answerers].join(" and ")} answer for ${ip} for ${lastedMs.toFixed(1)} ms`,
      );
    }
    if (answerers.size > 0) return;
    if (!this.#rules.hasCandidate(ip)) story.candidateSinceMs = undefined;
    else story.candidateSinceMs ??= atMs;
    if (story.candidateSinceMs === undefined || !story.wasAnswered) return;
    const gapMs = atMs - Math.max(sinceMs, story.candidateSinceMs);
    if (gapMs <= this.#allowedGapMs(atMs, story.candidateSinceMs > sinceMs)) return;
    this.#findings.violated(5, atMs, `nobody answers for ${ip} in a planned move, for ${gapMs.toFixed(1)} ms`);
  }

  #allowedGapMs(atMs: number, hadNoCandidate: boolean): number {
    if (hadNoCandidate) return BEGIN_MS;
    if (!this.#rules.mayStop(atMs)) return -1;
    this.#findings.count("5 stopped at once");
    return STOPPED_GAP_MS;
  }
}

function isSubset(some: ReadonlySet<string>, all: ReadonlySet<string>): boolean {
  return [...some].every((name) => all.has(name));
}
