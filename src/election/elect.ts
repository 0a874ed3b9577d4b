/** One leader for every address group, the same on every node that knows the same (DESIGN D3, D5). Pure, but for the rank memory. */
import type { AddressGroup } from "../desired/group.ts";
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
} from "./decision.ts";
import { judgeMember, REFUSAL_ORDER, type Standing, type Verdict } from "./eligibility.ts";
import { judgeByMetallb, shareOut, splitByService } from "./metallb-rule.ts";
import { groupProfiler, type Profiler } from "./profile.ts";
import { type RankMemory, rankHash } from "./rank-memory.ts";

/**
 * Decides every group. Decisions come in the order of the groups. Groups that look alike to the rule share their verdicts, and
 * ranks are remembered, so that 10,000 groups are affordable at every change.
 */
export function decide(groups: readonly AddressGroup[], view: ElectionView, memory: RankMemory): Decision[] {
  const electorate = new Electorate(view, memory);
  const decisions =
    view.rule === "arpeggio-1"
      ? groups.map((group) => electorate.decide(group))
      : groups.flatMap((group) => decideByService(group, electorate));
  memory.prune(electorate.keys);
  return decisions;
}

/** Most components are one Service, and one election. */
function decideByService(group: AddressGroup, electorate: Electorate): readonly Decision[] {
  const elections = splitByService(group).map((part) => electorate.decide(part));
  return elections.length === 1 ? elections : shareOut(elections);
}

/** What groups of one profile have in common. */
interface Verdicts {
  /** By rank slot; undefined for who is no candidate, or no member any more. */
  readonly standings: readonly (Standing | undefined)[];
  /** Best first; mostly there is one. */
  readonly classes: readonly Standing[];
  readonly refusals: readonly Refusal[];
}

class Electorate {
  readonly keys = new Set<Ip>();
  readonly #view: ElectionView;
  readonly #memory: RankMemory;
  readonly #members: readonly MemberView[];
  readonly #slots: readonly number[];
  readonly #names: string[] = [];
  readonly #profileOf: Profiler;
  readonly #verdicts = new Map<string, Verdicts>();

  constructor(view: ElectionView, memory: RankMemory) {
    this.#view = view;
    this.#memory = memory;
    this.#members = view.members.toSorted((a, b) => compareText(a.name, b.name));
    this.#slots = memory.slotsOf(this.#members.map(({ name }) => name));
    for (const [index, slot] of this.#slots.entries()) this.#names[slot] = this.#members[index]?.name ?? "";
    this.#profileOf = groupProfiler(view, memory.holdings);
  }

  decide(group: AddressGroup): Decision {
    this.keys.add(group.key);
    const { rule } = this.#view;
    const verdicts = this.#verdictsOn(group);
    const { refusals } = verdicts;
    const candidates = this.#ranked(group.key, verdicts);
    const [leader, second] = candidates;
    const reason = reasonOf(leader, second, refusals);
    return {
      group,
      rule,
      candidates,
      refusals,
      ...(leader === undefined ? {} : { leader: leader.node }),
      ...(second === undefined ? {} : { second: second.node }),
      reason,
    };
  }

  #verdictsOn(group: AddressGroup): Verdicts {
    const profile = this.#profileOf(group);
    let verdicts = this.#verdicts.get(profile);
    if (verdicts === undefined) {
      verdicts = this.#judgeAll(group);
      this.#verdicts.set(profile, verdicts);
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
    return this.#view.rule === "arpeggio-1"
      ? judgeMember(group, member, this.#view)
      : judgeByMetallb(group, member, this.#view);
  }

  /** The first candidates in order: class by class, each by ascending hash. */
  #ranked(key: Ip, verdicts: Verdicts): readonly Candidate[] {
    const ranks = this.#memory.ranksOf(key);
    const slots: number[] = [];
    const { classes, standings } = verdicts;
    for (let first = 0; first < classes.length && slots.length < CANDIDATES_KEPT; ) {
      let end = first + 1;
      while (end < classes.length && ranksAlike(classes[first], classes[end])) end++;
      const alike = classes.slice(first, end);
      for (const slot of ranks.order) {
        if (slots.length === CANDIDATES_KEPT) break;
        const standing = standings[slot];
        if (standing !== undefined && alike.includes(standing)) slots.push(slot);
      }
      first = end;
    }
    const { candidates } = ranks;
    const isSame =
      slots.length === candidates.length &&
      slots.every((slot, index) => isCandidate(candidates[index], this.#names[slot], standings[slot]));
    if (!isSame) ranks.candidates = slots.map((slot) => this.#candidate(key, slot, standings[slot], candidates));
    return ranks.candidates;
  }

  /** The one already known, if nothing about it changed: its hash is expensive. */
  #candidate(key: Ip, slot: number, standing: Standing | undefined, known: readonly Candidate[]): Candidate {
    const node = this.#names[slot] ?? "";
    const before = known.find((candidate) => candidate.node === node);
    if (before !== undefined && isCandidate(before, node, standing)) return before;
    const { tier, tierReason, score, endpointClass } = standing ?? NO_STANDING;
    const hash = before?.hash ?? rankHash(node, key);
    return { node, tier, ...(tierReason === undefined ? {} : { tierReason }), score, endpointClass, hash };
  }
}

const NO_STANDING: Standing = { tier: 5, score: 0, endpointClass: "any" };
const CLASS_ORDER: readonly Candidate["endpointClass"][] = ["any", "ready", "terminating"];

/** Tier, score, endpoint class; why the tier is what it is does not order. */
function compareStandings(a: Standing, b: Standing): number {
  return (
    a.tier - b.tier || b.score - a.score || CLASS_ORDER.indexOf(a.endpointClass) - CLASS_ORDER.indexOf(b.endpointClass)
  );
}

function ranksAlike(a: Standing | undefined, b: Standing | undefined): boolean {
  return a !== undefined && b !== undefined && compareStandings(a, b) === 0;
}

function isCandidate(
  candidate: Candidate | undefined,
  node: string | undefined,
  standing: Standing | undefined,
): boolean {
  return (
    candidate !== undefined &&
    candidate.node === node &&
    candidate.tier === standing?.tier &&
    candidate.tierReason === standing.tierReason &&
    candidate.score === standing.score &&
    candidate.endpointClass === standing.endpointClass
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
