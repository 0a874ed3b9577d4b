/** From decisions to what this node does on the wire (DESIGN D8). Pure. */
import type { Duty, DutyBasis } from "../src/announcer/ports.ts";
import { isSameList } from "../src/base/same-list.ts";
import { policyOf } from "../src/desired/policy.ts";
import { anySelectorMatches, type Labels } from "../src/desired/selectors.ts";
import type { NodeName } from "../src/desired/snapshot.ts";
import type { Candidate, Decision } from "../src/election/decision.ts";
import { rankHash } from "../src/election/rank-hash.ts";
import type { Ip } from "../src/net/ip.ts";
import type { LeadershipByIp } from "./leadership.ts";

export interface DutyView {
  readonly self: NodeName;
  /** Own incarnation in gossip, part of every claim. */
  readonly incarnation: number;
  readonly leadership: LeadershipByIp;
  /** Addresses this node answers for now, as leader or until the new leader shows itself. */
  readonly answering: ReadonlySet<Ip>;
  /** A death verdict about this node was refuted: others have taken over, so nothing is handed over, it stops at once. */
  readonly wasReplaced: boolean;
  /** It goes, and nobody was there to take over: whoever is heard as the holder of an address is next. */
  readonly saysGoodbye: boolean;
  /** Addresses that this node has taken although another leads them in its eyes (DESIGN D9). */
  readonly orphans: ReadonlyMap<Ip, unknown>;
  /** Members with a word of their own, alive or suspect: they send and read claims. The same set while they are the same. */
  readonly ours: ReadonlySet<string>;
  /** Leases can be asked for: gossip is on. */
  readonly hasLeases: boolean;
  /** Labels of the own Node: an advertisement that does not select this node names no links for it. */
  readonly ownLabels: Labels;
}

/** A decision names its best candidates only; whoever is not among them claims nothing. */
const LAST_CANDIDATE: Omit<Candidate, "node"> = { tier: 5, score: 0, endpointClass: "any" };
const LAST_HASH = "f".repeat(64);

const NO_DUTIES: readonly Duty[] = [];
const NO_INTERFACES: readonly string[] = [];

/** What a decision means for this node, whatever the history: worked out once for each decision. */
interface Prepared {
  readonly incarnation: number;
  readonly ownLabels: Labels;
  /** Undefined when this node is refused. */
  readonly base: Pick<Duty, "group" | "interfaces" | "basis" | "second" | "needsLease"> | undefined;
  /** In the order of the group's addresses; undefined: none yet. */
  readonly duties: (Duty | undefined)[];
}

/** Duties of last time, given again as the same objects while nothing about them changed. Owned by one caller of `dutiesOf`, who forgets decisions that are gone. */
export type DutyMemory = Map<Decision, Prepared>;

export function dutiesOf(
  decisions: readonly Decision[],
  view: DutyView,
  memory: DutyMemory = new Map(),
): readonly Duty[] {
  return decisions.flatMap((decision) => dutiesOfOne(decision, view, memory));
}

export function dutiesOfOne(decision: Decision, view: DutyView, memory: DutyMemory): readonly Duty[] {
  const { leader, second, group } = decision;
  const concerns =
    leader === view.self ||
    second === view.self ||
    group.addresses.some((ip) => view.answering.has(ip) || view.orphans.has(ip));
  if (!concerns) return NO_DUTIES;
  const { base, duties: before } = preparedFor(decision, view, memory);
  // Refused (no endpoint, excluded, not selected, no member): an ineligible node stops at once.
  if (base === undefined) return NO_DUTIES;
  const duties: Duty[] = [];
  for (const [place, ip] of group.addresses.entries()) {
    const role = roleOf(ip, decision, view, base.needsLease === true);
    if (role === undefined) continue;
    // Whoever may think that it leads what was orphaned is to hear of it.
    const others = role === "lead" && leader !== view.self ? [...view.ours] : undefined;
    const previousLeader = role === "lead" ? claimedFrom(ip, decision, view) : undefined;
    const nextLeader = role === "moved" && leader !== view.self ? leader : undefined;
    const sendsClaims = nextLeader === undefined ? undefined : view.ours.has(nextLeader);
    const known = before[place];
    const isSame =
      known?.role === role &&
      known.previousLeader === previousLeader &&
      known.nextLeader?.sendsClaims === sendsClaims &&
      isSameList(known.others ?? [], others ?? []);
    const duty: Duty = isSame
      ? known
      : {
          ip,
          ...base,
          role,
          ...(previousLeader === undefined ? {} : { previousLeader }),
          ...(others === undefined ? {} : { others }),
          ...(nextLeader === undefined || sendsClaims === undefined
            ? {}
            : { nextLeader: { node: nextLeader, sendsClaims } }),
        };
    before[place] = duty;
    duties.push(duty);
  }
  // A copy has no room to grow, which thousands of lists would keep.
  return duties.slice();
}

/** Strict addresses are answered only with a lease; MetalLB's speakers, which rule while one of them is a member, know of none. */
export function needsLease({ group, rule }: Decision, { hasLeases }: Pick<DutyView, "hasLeases">): boolean {
  return hasLeases && rule === "arpeggio-1" && policyOf(group).isStrict;
}

function roleOf(ip: Ip, { leader, second }: Decision, view: DutyView, isLeased: boolean): Duty["role"] | undefined {
  if (leader === view.self && view.saysGoodbye) return view.answering.has(ip) ? "moved" : undefined;
  if (leader === view.self || (leader !== undefined && view.orphans.has(ip))) return "lead";
  // Of a strict address the next leader gets its lease only when this one has stopped.
  if (isLeased) return second === view.self ? "second" : undefined;
  if (leader !== undefined && view.answering.has(ip) && !view.wasReplaced) return "moved";
  return second === view.self ? "second" : undefined;
}

/** Who led before, or should lead, if it reads claims. */
function claimedFrom(ip: Ip, { leader }: Decision, { leadership, self, ours }: DutyView): NodeName | undefined {
  const previous = leader === self ? leadership.get(ip)?.previousLeader : leader;
  return previous !== undefined && previous !== self && ours.has(previous) ? previous : undefined;
}

function preparedFor(decision: Decision, view: DutyView, memory: DutyMemory): Prepared {
  const { incarnation, ownLabels, self } = view;
  const known = memory.get(decision);
  if (known?.incarnation === incarnation && known.ownLabels === ownLabels) return known;
  const { group, second, candidates, refusals } = decision;
  const own = candidates.find(({ node }) => node === self);
  const base = refusals.some(({ node }) => node === self)
    ? undefined
    : {
        group: group.key,
        interfaces: interfacesOf(decision, ownLabels),
        basis: basisOf(decision, own, view),
        ...(second === undefined ? {} : { second }),
        ...(needsLease(decision, view) ? { needsLease: true as const } : {}),
      };
  const prepared = { incarnation, ownLabels, base, duties: group.addresses.map(() => undefined) };
  memory.set(decision, prepared);
  return prepared;
}

/** Union over the advertisements that reach the group and select this node; one that names no link allows every link. */
export function interfacesOf({ group }: Decision, labels: Labels): readonly string[] {
  const advertisements = group.services
    .flatMap((service) => service.advertisements)
    .filter(({ nodeSelectors }) => anySelectorMatches(nodeSelectors, labels));
  if (advertisements.some(({ interfaces }) => interfaces.length === 0)) return NO_INTERFACES;
  return [...new Set(advertisements.flatMap(({ interfaces }) => interfaces))].toSorted();
}

function basisOf({ group, rule, sticky, leader }: Decision, own: Candidate | undefined, view: DutyView): DutyBasis {
  const { self, incarnation } = view;
  const { tier, score, endpointClass } = own ?? LAST_CANDIDATE;
  const hash = own === undefined ? LAST_HASH : rankHash(self, group.key);
  // Whoever stands in for the leader (an orphan's taker) stands behind it when it comes, and does not hold what the leader follows.
  const term = sticky === undefined ? 0 : Math.max(0, leader === self ? sticky.term : sticky.term - 2);
  return { incarnation, rule, term, tier, score, endpointClass, hash };
}
