/** Invariants 2 and 3: once settled, exactly the oracle's choice answers, or nobody, and everybody says why. */
import { isSameList } from "../../src/base/same-list.ts";
import { derive } from "../../src/desired/derive.ts";
import type { ClusterSnapshot, NodeFacts } from "../../src/desired/snapshot.ts";
import type { MemberView } from "../../src/election/decision.ts";
import type { HoldersByIp } from "../../src/election/holders.ts";
import type { NodeWord, WordFlag } from "../../src/election/word.ts";
import type { Ip } from "../../src/net/ip.ts";
import { prefixHolds } from "../../src/net/prefix.ts";
import { oracle, type Verdict } from "../election/oracle.ts";
import { EXCLUDE_LABEL, OUT_OF_SERVICE_TAINT } from "./cluster.ts";
import type { Machine } from "./machine.ts";
import { type Answerer, type Findings, type Witness } from "./witness.ts";

export interface LeaderRules {
  readonly machines: readonly Machine[];
  readonly snapshot: () => ClusterSnapshot;
  readonly nowMs: () => number;
  /** From when on the world is settled; undefined while it is disturbed. */
  readonly settledFromMs: () => number | undefined;
}

export class LeaderChecker implements Witness {
  readonly #rules: LeaderRules;
  readonly #findings: Findings;
  /** Truth changes rarely, and every address is asked for often. */
  #snapshot: ClusterSnapshot | undefined;
  #known:
    | { readonly atMs: number; readonly truth: readonly unknown[]; readonly verdicts: ReadonlyMap<Ip, Verdict> }
    | undefined;

  constructor(rules: LeaderRules, findings: Findings) {
    this.#rules = rules;
    this.#findings = findings;
  }

  /** Whether somebody could lead `ip`, as things really stand. */
  hasCandidate(ip: Ip): boolean {
    return this.#verdictOn(ip)?.leader !== undefined;
  }

  answered(atMs: number, ip: Ip, answerers: readonly Answerer[]): void {
    const settledFromMs = this.#rules.settledFromMs();
    if (settledFromMs === undefined || atMs < settledFromMs) return;
    const verdict = this.#verdictOn(ip);
    if (verdict === undefined) return;
    const { leader } = verdict;
    const names = [...new Set(answerers.map(({ node }) => node))];
    if (leader === undefined) {
      this.#judgeNobody(atMs, ip, names, verdict);
      return;
    }
    this.#findings.count("2 settled");
    const isReached = this.#rules.machines.some(
      ({ name, cards }) => name === leader && cards.some((card) => isNear(card, ip)),
    );
    // A leader none of whose links is up, or in the address's prefix, leads because everybody is so; it may be mute.
    const isRight = names.length === 1 ? names[0] === leader : names.length === 0 && !isReached;
    if (isRight) return;
    this.#findings.violated(
      2,
      atMs,
      `${names.join(" and ") || "nobody"} answers for ${ip}, and ${leader} should (order ${verdict.order.join(" ")})`,
    );
  }

  #judgeNobody(atMs: number, ip: Ip, names: readonly string[], { reason }: Verdict): void {
    this.#findings.count("3 nobody");
    if (names.length > 0)
      this.#findings.violated(
        3,
        atMs,
        `${names.join(" and ")} answers for ${ip}, for which nobody may stand: ${reason}`,
      );
    for (const machine of this.#rules.machines) {
      if (!machine.isAwake || machine.isLeaving) continue;
      const held = machine.view()?.decisions.find(({ addresses }) => addresses.includes(ip));
      if (held !== undefined && held.leader === undefined && held.reason === reason) continue;
      this.#findings.violated(
        3,
        atMs,
        `${machine.name} says ${held?.leader ?? held?.reason ?? "nothing"} of ${ip}, and it is ${reason}`,
      );
    }
  }

  #verdictOn(ip: Ip): Verdict | undefined {
    const snapshot = this.#rules.snapshot();
    const nowMs = this.#rules.nowMs();
    if (this.#known?.atMs === nowMs && this.#snapshot === snapshot) return this.#known.verdicts.get(ip);
    // Settled, all of them remember the same (invariant 16).
    const holders = this.#rules.machines
      .find(({ isAwake, tenant }) => isAwake && tenant !== undefined)
      ?.view()?.holders;
    const truth = [holders, ...this.#rules.machines.flatMap(factsOf)];
    if (this.#known === undefined || !isSameList(this.#known.truth, truth) || this.#snapshot !== snapshot) {
      const members = this.#rules.machines.flatMap((machine) => memberOf(machine, snapshot) ?? []);
      this.#snapshot = snapshot;
      this.#known = { atMs: nowMs, truth, verdicts: verdictsOf(snapshot, members, holders) };
    } else this.#known = { ...this.#known, atMs: nowMs };
    return this.#known.verdicts.get(ip);
  }
}

function verdictsOf(
  snapshot: ClusterSnapshot,
  members: readonly MemberView[],
  holders: HoldersByIp | undefined,
): ReadonlyMap<Ip, Verdict> {
  const { groups } = derive(snapshot, { loadBalancerClass: "", checksAdmission: true });
  const verdicts = new Map<Ip, Verdict>();
  const view = {
    rule: "arpeggio-1",
    source: snapshot.source,
    members,
    nodes: snapshot.nodes,
    ignoresExcludeLabel: false,
    ...(holders === undefined ? {} : { holders }),
  } as const;
  for (const group of groups) {
    const verdict = oracle(group, view);
    for (const ip of group.addresses) verdicts.set(ip, verdict);
  }
  return verdicts;
}

/** What `memberOf` goes by, beside the snapshot. */
function factsOf(machine: Machine): readonly unknown[] {
  const own = machine.isAwake ? machine.tenant?.flags() : undefined;
  if (own === undefined) return [undefined];
  const { isReady, isSettling, isDamped, returningLinks } = own;
  const cards = machine.cards.flatMap(({ index, mac, hasCarrier, prefixes }) => [index, mac, hasCarrier, prefixes]);
  return [isReady, isSettling, isDamped, machine.isLeaving, ...returningLinks, "cards", ...cards];
}

/** The word that the machine ought to say, from what was done to it. What it remembers of its past is its own to know. */
function memberOf(machine: Machine, snapshot: ClusterSnapshot): MemberView | undefined {
  if (!machine.isAwake) return undefined;
  const own = machine.tenant?.flags();
  if (own === undefined) return undefined;
  const flags: WordFlag[] = [
    ...(own.isReady ? (["ready"] as const) : []),
    ...(own.isSettling ? (["settling"] as const) : []),
    ...flagsOfNode(snapshot.nodes.get(machine.name)),
    ...(own.isDamped ? (["damped"] as const) : []),
    ...(machine.isLeaving ? (["leaving"] as const) : []),
  ];
  const word: NodeWord = {
    highestRule: "arpeggio-1",
    ruleInUse: "arpeggio-1",
    flags,
    readySeconds: 0,
    restarts: 0,
    refutes: 0,
    troubleAgeSeconds: 0,
    links: machine.cards.map(({ index, mac, hasCarrier }) => ({
      index,
      mac,
      isUsable: hasCarrier,
      ...(own.returningLinks.includes(index) ? { isReturning: true as const } : {}),
    })),
    prefixes: machine.cards.flatMap((card) => card.prefixes.map((prefix) => ({ linkIndex: card.index, prefix }))),
    isTruncated: false,
  };
  return { name: machine.name, word };
}

function flagsOfNode(node: NodeFacts | undefined): WordFlag[] {
  if (node === undefined) return [];
  return [
    ...(node.wantsStepDown ? (["stepping-down"] as const) : []),
    ...(node.isUnschedulable || node.taintKeys.includes("ToBeDeletedByClusterAutoscaler")
      ? (["cordoned"] as const)
      : []),
    ...(node.isNetworkUnavailable ? (["network-unavailable"] as const) : []),
    ...(EXCLUDE_LABEL in node.labels ? (["excluded"] as const) : []),
    ...(node.taintKeys.includes(OUT_OF_SERVICE_TAINT) ? (["out-of-service"] as const) : []),
  ];
}

/** Whether a card that is up is in a segment of the address. */
export function isNear(card: Machine["cards"][number], ip: Ip): boolean {
  return card.isUp && card.prefixes.some((prefix) => prefixHolds(prefix, ip));
}
