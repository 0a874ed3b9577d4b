/** How the members of one view decide any group (DESIGN D3, D5). Pure, but for the rank memory. */
import { isDeepStrictEqual } from "node:util";
import type { AddressGroup } from "../desired/group.ts";
import { policyOf } from "../desired/policy.ts";
import { compareText } from "../desired/text-order.ts";
import type { Ip } from "../net/ip.ts";
import {
  CANDIDATES_KEPT,
  type Candidate,
  type Decision,
  type DecisionReason,
  type ElectionView,
  type MemberView,
  type Refusal,
  type StickyHold,
} from "./decision.ts";
import { judgeMember, REFUSAL_ORDER, type Standing, type Verdict, type Verdicts } from "./eligibility.ts";
import { type Holders, holdersOf, isSameHolders, NO_HOLDERS, termOf } from "./holders.ts";
import { judgeByMetallb, shareOut, splitByService } from "./metallb-rule.ts";
import { groupProfiler, type Profiler } from "./profile.ts";
import { rankHash } from "./rank-hash.ts";
import type { KeyRanks, RankMemory } from "./rank-memory.ts";

/** Members under one view, and what they are to any group. What was worked out before is kept in the memory, whoever asks. */
export class Electorate {
  readonly view: ElectionView;
  readonly #memory: RankMemory;
  readonly #members: readonly MemberView[];
  readonly #slots: readonly number[];
  readonly #names: string[] = [];
  readonly #profileOf: Profiler;
  readonly #verdicts = new Map<string, Verdicts>();
  /** One group of each profile. */
  readonly #examples = new Map<string, { readonly group: AddressGroup; readonly verdicts: Verdicts }>();
  readonly #placesAndPrefixes: string;
  /** Scratch of `#candidates`. */
  readonly #picked: number[] = [];

  constructor(view: ElectionView, memory: RankMemory) {
    this.view = view;
    this.#memory = memory;
    this.#members = view.members.toSorted((a, b) => compareText(a.name, b.name));
    this.#slots = memory.slotsOf(this.#members.map(({ name }) => name));
    for (const [index, slot] of this.#slots.entries()) this.#names[slot] = this.#members[index]?.name ?? "";
    this.#profileOf = groupProfiler(view, memory.profiles);
    this.#placesAndPrefixes = `${memory.generation} ${memory.profiles.prefixes}`;
  }

  /** How many groups there are that do not look alike. */
  get profiles(): number {
    return this.#examples.size;
  }

  /** Under `arpeggio-1` one decision; under `metallb-1` as many as the group's Services disagree on. */
  decide(group: AddressGroup): readonly Decision[] {
    if (this.view.rule === "arpeggio-1") return [this.#elect(group)];
    const elections = splitByService(group).map((part) => this.#elect(part));
    // Most components are one Service, and one election.
    return elections.length === 1 ? elections : shareOut(elections);
  }

  /** Whether every group that the other has decided would be decided the same here. */
  agreesWith(other: Electorate): boolean {
    const { rule, holders } = other.view;
    if (this.view.rule !== rule || !isDeepStrictEqual(this.view.holders, holders)) return false;
    if (this.#placesAndPrefixes !== other.#placesAndPrefixes) return false;
    for (const { group, verdicts } of other.#examples.values()) if (this.#verdictsOn(group) !== verdicts) return false;
    return true;
  }

  #elect(group: AddressGroup): Decision {
    const { rule } = this.view;
    const verdicts = this.#verdictsOn(group);
    const ranks = this.#memory.ranksOf(group.key);
    const held = this.#holdersOf(group);
    const last = ranks.last?.decision.group === group && ranks.last.decision.rule === rule ? ranks.last : undefined;
    const isHeldAlike = last !== undefined && isSameHeld(last.held, held);
    // The same question as before has the same answer; most do when one member changes.
    if (isHeldAlike && last.verdicts === verdicts) return last.decision;
    const { refusals } = verdicts;
    const keeper = held === undefined ? undefined : this.#keeperOf(held, verdicts);
    const { candidates, insteadOf } = this.#candidates(group.key, ranks, verdicts, keeper);
    const [leader, second] = candidates;
    const sticky = held === undefined ? undefined : stickyHold(leader?.node, held, insteadOf);
    const isSame =
      last?.decision.candidates === candidates &&
      last.decision.refusals === refusals &&
      isSameSticky(last.decision.sticky, sticky);
    const decision: Decision = isSame
      ? last.decision
      : {
          group,
          rule,
          candidates,
          refusals,
          ...(leader === undefined ? {} : { leader: leader.node }),
          ...(second === undefined ? {} : { second: second.node }),
          reason: insteadOf === undefined ? reasonOf(leader, second, refusals) : "sticky",
          ...(sticky === undefined ? {} : { sticky }),
        };
    ranks.last = { verdicts, held, decision };
    return decision;
  }

  /** Undefined: the group is not sticky, or MetalLB's rule is in force, whose speakers know no holders. */
  #holdersOf(group: AddressGroup): Holders | undefined {
    if (this.view.rule !== "arpeggio-1" || !policyOf(group).isSticky) return undefined;
    const { holders } = this.view;
    return holders === undefined ? NO_HOLDERS : holdersOf(group.addresses, holders);
  }

  /** The slot of the first holder in the best tier: whatever else orders candidates does not take the group away from it. */
  #keeperOf(held: Holders, { standings, classes }: Verdicts): number | undefined {
    for (const { node } of held) {
      const slot = this.#slots.find((each) => this.#names[each] === node);
      if (slot !== undefined && standings[slot]?.tier === classes[0]?.tier && classes.length > 0) return slot;
    }
    return undefined;
  }

  #verdictsOn(group: AddressGroup): Verdicts {
    const profile = this.#profileOf(group);
    let verdicts = this.#verdicts.get(profile);
    if (verdicts === undefined) {
      verdicts = this.#memory.sameVerdicts(profile, this.#judgeAll(group));
      this.#verdicts.set(profile, verdicts);
      this.#examples.set(profile, { group, verdicts });
    }
    return verdicts;
  }

  #judgeAll(group: AddressGroup): Verdicts {
    const standings: (Standing | undefined)[] = [];
    const classes = new Map<string, Standing>();
    const refusals: Refusal[] = [];
    for (const [index, member] of this.#members.entries()) {
      const verdict = this.#judge(group, member);
      if (typeof verdict === "string") {
        refusals.push({ node: member.name, reason: verdict });
        continue;
      }
      // Standings that rank alike become one value, so that a walk compares identities.
      const name = `${verdict.tier} ${verdict.tierReason} ${verdict.score} ${verdict.endpointClass}`;
      const standing = classes.get(name) ?? verdict;
      classes.set(name, standing);
      standings[this.#slots[index] ?? 0] = standing;
    }
    return {
      standings,
      classes: [...classes.values()].toSorted(compareStandings),
      refusals,
    };
  }

  #judge(group: AddressGroup, member: MemberView): Verdict {
    return this.view.rule === "arpeggio-1"
      ? judgeMember(group, member, this.view)
      : judgeByMetallb(group, member, this.view);
  }

  /** The candidates of the decision: those of last time where nothing about them changed, because a hash is expensive. */
  #candidates(key: Ip, ranks: KeyRanks, verdicts: Verdicts, keeper: number | undefined): Picked {
    const picked = this.#picked;
    pickBest(ranks.order, verdicts, picked);
    const [best] = picked;
    const insteadOf = keeper === undefined || keeper === best || best === undefined ? undefined : this.#names[best];
    if (insteadOf !== undefined && keeper !== undefined) putFirst(picked, keeper);
    return { candidates: this.#picks(key, ranks, verdicts), ...(insteadOf === undefined ? {} : { insteadOf }) };
  }

  #picks(key: Ip, ranks: KeyRanks, verdicts: Verdicts): readonly Candidate[] {
    const picked = this.#picked;
    const before = ranks.last?.decision.candidates ?? [];
    let isSame = picked.length === before.length;
    for (let place = 0; isSame && place < picked.length; place++) {
      isSame = this.#isStill(before[place], picked[place], verdicts);
    }
    if (isSame) return before;
    return picked.map((slot) => {
      const node = this.#names[slot] ?? "";
      const known = before.find((candidate) => candidate.node === node);
      if (known !== undefined && this.#isStill(known, slot, verdicts)) return known;
      const { tier, tierReason, score, endpointClass } = verdicts.standings[slot] ?? NO_STANDING;
      const hash = known?.hash ?? rankHash(node, key);
      return { node, tier, ...(tierReason === undefined ? {} : { tierReason }), score, endpointClass, hash };
    });
  }

  #isStill(candidate: Candidate | undefined, slot: number | undefined, { standings }: Verdicts): boolean {
    if (candidate === undefined || slot === undefined || candidate.node !== this.#names[slot]) return false;
    const standing = standings[slot];
    return (
      candidate.tier === standing?.tier &&
      candidate.score === standing.score &&
      candidate.tierReason === standing.tierReason &&
      candidate.endpointClass === standing.endpointClass
    );
  }
}

/** The slots of the first candidates, into `picked`: class by class, each by ascending hash. */
function pickBest(order: readonly number[], { classes, standings }: Verdicts, picked: number[]): void {
  picked.length = 0;
  for (let first = 0; first < classes.length && picked.length < CANDIDATES_KEPT; ) {
    let end = first + 1;
    while (end < classes.length && ranksAlike(classes[first], classes[end])) end++;
    for (const slot of order) {
      const standing = standings[slot];
      if (standing === undefined || !isBetween(classes, standing, first, end)) continue;
      if (picked.push(slot) === CANDIDATES_KEPT) return;
    }
    first = end;
  }
}

function isBetween(classes: readonly Standing[], standing: Standing, first: number, end: number): boolean {
  for (let index = first; index < end; index++) if (classes[index] === standing) return true;
  return false;
}

/** Of the others as many as there is room for. */
function putFirst(picked: number[], slot: number): void {
  const place = picked.indexOf(slot);
  if (place >= 0) picked.splice(place, 1);
  else if (picked.length === CANDIDATES_KEPT) picked.pop();
  picked.unshift(slot);
}

interface Picked {
  readonly candidates: readonly Candidate[];
  /** Who would come first if the holder did not. */
  readonly insteadOf?: string;
}

function stickyHold(leader: string | undefined, held: Holders, insteadOf: string | undefined): StickyHold {
  const holder = leader ?? held[0]?.node;
  return {
    ...(holder === undefined ? {} : { holder }),
    term: termOf(leader, held),
    ...(insteadOf === undefined ? {} : { insteadOf }),
  };
}

function isSameHeld(a: Holders | undefined, b: Holders | undefined): boolean {
  return a === undefined || b === undefined ? a === b : isSameHolders(a, b);
}

function isSameSticky(a: StickyHold | undefined, b: StickyHold | undefined): boolean {
  return a === b || (a?.term === b?.term && a?.holder === b?.holder && a?.insteadOf === b?.insteadOf);
}

const NO_STANDING: Standing = { tier: 5, score: 0, endpointClass: "any" };
const CLASS_ORDER: readonly Candidate["endpointClass"][] = ["any", "ready", "terminating", "fresh"];

/** Tier, score, endpoint class; why the tier is what it is does not order. */
function compareStandings(a: Standing, b: Standing): number {
  return (
    a.tier - b.tier || b.score - a.score || CLASS_ORDER.indexOf(a.endpointClass) - CLASS_ORDER.indexOf(b.endpointClass)
  );
}

function ranksAlike(a: Standing | undefined, b: Standing | undefined): boolean {
  return a !== undefined && b !== undefined && compareStandings(a, b) === 0;
}

/** What put the leader before the second; without a leader, the test that removed the last member. */
function reasonOf(
  leader: Candidate | undefined,
  second: Candidate | undefined,
  refusals: readonly Refusal[],
): DecisionReason {
  if (leader === undefined) {
    const last = Math.max(-1, ...refusals.map(({ reason }) => REFUSAL_ORDER.indexOf(reason)));
    return REFUSAL_ORDER[last] ?? "no-members";
  }
  if (second === undefined) return "only-candidate";
  if (leader.tier !== second.tier) return "best-tier";
  if (leader.score !== second.score) return "preferred-node";
  return leader.endpointClass === second.endpointClass ? "lowest-hash" : "ready-endpoint";
}
