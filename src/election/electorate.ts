/** How the members of one view decide any group (DESIGN D3, D5). Pure, but for the rank memory. */
import { isDeepStrictEqual } from "node:util";
import type { AddressGroup } from "../desired/group.ts";
import { policyOf } from "../desired/policy.ts";
import { compareText } from "../desired/text-order.ts";
import {
  CANDIDATES_KEPT,
  type Candidate,
  type Decision,
  type DecisionReason,
  type ElectionView,
  type MemberView,
  type Refusal,
  type StickyHold,
  type Tier,
} from "./decision.ts";
import { judgeMember, NO_PLACE, REFUSAL_ORDER, type Standing, type Verdict, type Verdicts } from "./eligibility.ts";
import { type Holders, holdersOf, isSameHolders, NO_HOLDERS, termOf } from "./holders.ts";
import { judgeByMetallb, shareOut, splitByService } from "./metallb-rule.ts";
import { isBehind, pickBest } from "./pick-best.ts";
import { groupProfiler, type Profiler } from "./profile.ts";
import type { KeyRanks, LastDecision, RankMemory } from "./rank-memory.ts";

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
  /** How verdicts on one profile differ from those of before. */
  readonly #changes = new Map<Verdicts, { readonly before: Verdicts; readonly slots: readonly number[] }>();
  /** Scratch of `#candidates`. */
  readonly #picked = new Uint32Array(CANDIDATES_KEPT);

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
    if (isHeldAlike && last.decision.refusals === refusals && this.#isPickedAgain(ranks.heads, last, verdicts)) {
      last.verdicts = verdicts;
      return last.decision;
    }
    const { candidates, insteadOf, lastSlot } = this.#candidates(group, ranks, verdicts, held);
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
    ranks.last = { verdicts, held, decision, lastSlot };
    return decision;
  }

  /** Nobody whose standing has changed was among the candidates that the decision names, or is now. */
  #isPickedAgain(heads: Uint32Array, { verdicts: before, lastSlot }: LastDecision, after: Verdicts): boolean {
    if (lastSlot === undefined) return false;
    let known = this.#changes.get(after);
    if (known?.before !== before) {
      known = { before, slots: changedSlots(before, after) };
      this.#changes.set(after, known);
    }
    return known.slots.every(
      (slot) => isBehind(slot, lastSlot, before.places, heads) && isBehind(slot, lastSlot, after.places, heads),
    );
  }

  /** Undefined: the group is not sticky, or MetalLB's rule is in force, whose speakers know no holders. */
  #holdersOf(group: AddressGroup): Holders | undefined {
    if (this.view.rule !== "arpeggio-1" || !policyOf(group).isSticky) return undefined;
    const { holders } = this.view;
    return holders === undefined ? NO_HOLDERS : holdersOf(group.addresses, holders);
  }

  /** The slot of the first holder in the best tier: whatever else orders candidates does not take the group away from it. */
  #keeperOf(held: Holders, { candidates }: Verdicts, bestTier: Tier): number | undefined {
    for (const { node } of held) {
      const slot = this.#slots.find((each) => this.#names[each] === node);
      if (slot !== undefined && candidates[slot]?.tier === bestTier) return slot;
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
    const candidates = Array.from(this.#names, (): Candidate | undefined => undefined);
    const refusals: Refusal[] = [];
    for (const [index, member] of this.#members.entries()) {
      const verdict = this.#judge(group, member);
      if (typeof verdict === "string") {
        refusals.push({ node: member.name, reason: verdict });
        continue;
      }
      const slot = this.#slots[index] ?? 0;
      candidates[slot] = this.#memory.candidateOf(slot, verdict);
    }
    return { candidates, places: placesOf(candidates), refusals };
  }

  #judge(group: AddressGroup, member: MemberView): Verdict {
    return this.view.rule === "arpeggio-1"
      ? judgeMember(group, member, this.view)
      : judgeByMetallb(group, member, this.view);
  }

  /** The candidates of the decision: the list of last time where it is the same. */
  #candidates(group: AddressGroup, ranks: KeyRanks, verdicts: Verdicts, held: Holders | undefined): Picked {
    const picked = this.#picked;
    let count = pickBest(verdicts.places, ranks.heads, picked, (slot, other) =>
      this.#memory.comesFirst(group.key, slot, other),
    );
    const best = count === 0 ? undefined : verdicts.candidates[picked[0] ?? 0];
    const keeper = held === undefined || best === undefined ? undefined : this.#keeperOf(held, verdicts, best.tier);
    const isKept = keeper !== undefined && best?.node !== this.#names[keeper];
    if (isKept) count = putFirst(picked, count, keeper);
    const candidates = candidatesAt(picked, count, verdicts, ranks.last?.decision.candidates ?? []);
    if (isKept && best !== undefined) return { candidates, insteadOf: best.node };
    return count < CANDIDATES_KEPT ? { candidates } : { candidates, lastSlot: picked[count - 1] };
  }
}

function changedSlots({ candidates: before }: Verdicts, { candidates: after }: Verdicts): readonly number[] {
  const slots = Array.from({ length: Math.max(before.length, after.length) }, (_, slot) => slot);
  return slots.filter((slot) => before[slot] !== after[slot]);
}

function placesOf(candidates: readonly (Candidate | undefined)[]): Uint16Array {
  const sorted = candidates.filter((candidate) => candidate !== undefined).toSorted(compareStandings);
  const places = new Map<Candidate, number>();
  let last: Candidate | undefined;
  let place = -1;
  for (const candidate of sorted) {
    if (last === undefined || compareStandings(last, candidate) !== 0) place++;
    last = candidate;
    places.set(candidate, place);
  }
  return Uint16Array.from(candidates, (candidate) =>
    candidate === undefined ? NO_PLACE : (places.get(candidate) ?? NO_PLACE),
  );
}

function candidatesAt(
  slots: Uint32Array,
  count: number,
  { candidates }: Verdicts,
  before: readonly Candidate[],
): readonly Candidate[] {
  if (count === before.length && before.every((known, place) => candidates[slots[place] ?? 0] === known)) return before;
  const picked: Candidate[] = [];
  for (let place = 0; place < count; place++) {
    const candidate = candidates[slots[place] ?? 0];
    if (candidate !== undefined) picked.push(candidate);
  }
  return picked.slice();
}

/** Of the others as many as there is room for; how many there are then. */
function putFirst(picked: Uint32Array, count: number, slot: number): number {
  const place = picked.subarray(0, count).indexOf(slot);
  const after = place >= 0 ? count : Math.min(count + 1, picked.length);
  picked.copyWithin(1, 0, place >= 0 ? place : after - 1);
  picked[0] = slot;
  return after;
}

interface Picked {
  readonly candidates: readonly Candidate[];
  /** Who would come first if the holder did not. */
  readonly insteadOf?: string;
  /** See `LastDecision`. */
  readonly lastSlot?: number | undefined;
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

const CLASS_ORDER: readonly Candidate["endpointClass"][] = ["any", "ready", "terminating", "fresh"];

/** Tier, score, endpoint class; why the tier is what it is does not order. */
function compareStandings(a: Standing, b: Standing): number {
  return (
    a.tier - b.tier || b.score - a.score || CLASS_ORDER.indexOf(a.endpointClass) - CLASS_ORDER.indexOf(b.endpointClass)
  );
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
