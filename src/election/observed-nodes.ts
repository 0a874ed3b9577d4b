/**
 * What the API says of nodes against their own word counts after 10 s (DESIGN D4): watches lag, and observers must not disagree.
 * Pure: `(state, nodes, members, now) → state`; its `nodes` and `notYetCounted` go into the ElectionView.
 */
import { NODE_TAINTS } from "../../api/annotations.ts";
import type { NodeFacts, NodeName, SourceKind } from "../desired/snapshot.ts";
import type { Contradiction, MemberView } from "./decision.ts";
import { hasExcludeLabel } from "./eligibility.ts";

/** DESIGN D4. */
export const CONTRADICTION_MS = 10_000;

export interface ObservedNodes {
  /** The source's nodes, and those just deleted whose members still say that they are ready. */
  readonly nodes: ReadonlyMap<string, NodeFacts>;
  readonly notYetCounted: ReadonlyMap<NodeName, ReadonlySet<Contradiction>>;
  /** Since when each contradiction stands. */
  readonly sinceMs: ReadonlyMap<NodeName, ReadonlyMap<Contradiction, number>>;
}

export const NO_OBSERVED_NODES: ObservedNodes = { nodes: new Map(), notYetCounted: new Map(), sinceMs: new Map() };

export function observeNodes(
  state: ObservedNodes,
  source: SourceKind,
  nodes: ReadonlyMap<string, NodeFacts>,
  members: readonly MemberView[],
  nowMs: number,
): ObservedNodes {
  // The files of another host say nothing about that host.
  if (source === "files") return { ...NO_OBSERVED_NODES, nodes };
  const sinceMs = new Map<NodeName, Map<Contradiction, number>>();
  const notYetCounted = new Map<NodeName, ReadonlySet<Contradiction>>();
  const held = new Map(nodes);
  for (const member of members) {
    const standing = contradictionsOf(member, nodes.get(member.name));
    if (standing.length === 0) continue;
    const before = state.sinceMs.get(member.name);
    const since = new Map(standing.map((contradiction) => [contradiction, before?.get(contradiction) ?? nowMs]));
    sinceMs.set(member.name, since);
    const young = standing.filter((contradiction) => nowMs < (since.get(contradiction) ?? nowMs) + CONTRADICTION_MS);
    if (young.length > 0) notYetCounted.set(member.name, new Set(young));
    const last = state.nodes.get(member.name);
    if (young.includes("no-node-object") && last !== undefined) held.set(member.name, last);
  }
  return { nodes: held, notYetCounted, sinceMs };
}

/** When a contradiction begins to count. */
export function observedNodesDeadlineMs(state: ObservedNodes, nowMs: number): number | undefined {
  const ends = [...state.sinceMs.values()]
    .flatMap((since) => [...since.values()])
    .map((beganMs) => beganMs + CONTRADICTION_MS)
    .filter((endMs) => endMs > nowMs);
  return ends.length === 0 ? undefined : Math.min(...ends);
}

/** For a member without a word the API counts at once: it says nothing that could be contradicted. */
function contradictionsOf({ word }: MemberView, node: NodeFacts | undefined): Contradiction[] {
  if (word === undefined) return [];
  if (node === undefined) return word.flags.includes("no-node-object") ? [] : ["no-node-object"];
  const found: Contradiction[] = [];
  if (hasExcludeLabel(node) && !word.flags.includes("excluded")) found.push("excluded");
  if (node.taintKeys.includes(NODE_TAINTS.outOfService) && !word.flags.includes("out-of-service")) {
    found.push("out-of-service");
  }
  return found;
}
