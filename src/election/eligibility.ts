/** How a member stands towards a group under `arpeggio-1`: the never-tests and the tier of DESIGN D3. Pure. */
import { NODE_LABELS, NODE_TAINTS } from "../../api/annotations.ts";
import type { AddressGroup, GroupService } from "../desired/group.ts";
import { anySelectorMatches, type Labels, selectorMatches } from "../desired/selectors.ts";
import type { AdvertisementFacts, NodeFacts } from "../desired/snapshot.ts";
import type {
  Candidate,
  Contradiction,
  ElectionView,
  MemberView,
  Refusal,
  RefusalReason,
  Tier,
  TierReason,
} from "./decision.ts";
import { type LinkTest, testLinks } from "./link-test.ts";
import type { NodeWord, WordFlag } from "./word.ts";

/** Everything that orders candidates before the hash does. */
export type Standing = Pick<Candidate, "tier" | "tierReason" | "score" | "endpointClass">;
export type Verdict = Standing | RefusalReason;

export const NO_PLACE = 0xffff;

/** How all members stand towards the groups of one profile. */
export interface Verdicts {
  /** By rank slot; undefined for who is no candidate, or no member any more. Equal ones are the same object, whatever the profile. */
  readonly candidates: readonly (Candidate | undefined)[];
  /** By rank slot: how many different standings come before this one's; `NO_PLACE` for who is no candidate. */
  readonly places: Uint16Array;
  readonly refusals: readonly Refusal[];
}

/** In the order of the tests: the test that removed the last member is the reason why nobody leads. */
export const REFUSAL_ORDER: readonly RefusalReason[] = [
  "not-ready",
  "network-unavailable",
  "excluded",
  "out-of-service",
  "no-node-object",
  "not-selected",
  "no-serving-endpoint",
  "no-local-endpoint",
  "endpoint-without-node",
  "not-common-to-group",
];

export function judgeMember(group: AddressGroup, member: MemberView, view: ElectionView): Verdict {
  const { word } = member;
  if (word === undefined || !word.flags.includes("ready")) return "not-ready";
  const node = nodeOf(member.name, view);
  if (isExcluded(word, node, member, view)) return "excluded";
  if (isOutOfService(word, node, member, view)) return "out-of-service";
  if (word.flags.includes("no-node-object")) return "no-node-object";
  if (node === undefined && !isPending("no-node-object", member, view)) return "no-node-object";
  const services = servedServices(group);
  const labels = node?.labels ?? labelsOfName(member.name);
  const refusals = services.map((service) => serviceRefusal(service, member.name, labels));
  const first = refusals.find((reason) => reason !== undefined);
  if (first !== undefined) return refusals.every((reason) => reason !== undefined) ? first : "not-common-to-group";
  return standingOf(services, member.name, labels, word);
}

/**
 * A Service that nothing serves anywhere does not count while another of its group is served: scaling one application to zero
 * must not silence its neighbours on the same address.
 */
export function servedServices(group: AddressGroup): readonly GroupService[] {
  const served = group.services.filter(({ hasServingEndpoint }) => hasServingEndpoint);
  return served.length > 0 ? served : group.services;
}

/** With the files source a member without a Node document counts as a Node of its name (DESIGN D2). */
export function nodeOf(name: string, view: ElectionView): NodeFacts | undefined {
  const known = view.nodes.get(name);
  if (known !== undefined || view.source === "kubernetes") return known;
  return {
    name,
    labels: labelsOfName(name),
    isUnschedulable: false,
    taintKeys: [],
    isNetworkUnavailable: false,
    isNotReady: false,
    wantsStepDown: false,
    ignoresCordon: false,
    internalIps: [],
  };
}

export function hasExcludeLabel(node: NodeFacts): boolean {
  return Object.hasOwn(node.labels, NODE_LABELS.excludeFromLoadBalancers);
}

/** Those that reach the Service and select the node. */
export function covering(service: GroupService, labels: Labels): readonly AdvertisementFacts[] {
  return service.advertisements.filter(({ nodeSelectors }) => anySelectorMatches(nodeSelectors, labels));
}

/** Sum of the weights that fit the node, over advertisements that select it, each counted once. */
export function scoreOf(advertisements: readonly AdvertisementFacts[], labels: Labels): number {
  let score = 0;
  for (const { preferredNodes } of new Set(advertisements)) {
    for (const { weight, preference } of preferredNodes) if (selectorMatches(preference, labels)) score += weight;
  }
  return score;
}

function labelsOfName(name: string): Labels {
  return { [NODE_LABELS.hostname]: name };
}

/** The node's own word decides; the API may add to it, with the Kubernetes source only. */
function isExcluded(word: NodeWord, node: NodeFacts | undefined, member: MemberView, view: ElectionView): boolean {
  if (word.flags.includes("excluded")) return true;
  if (view.source !== "kubernetes" || view.ignoresExcludeLabel || node === undefined) return false;
  return hasExcludeLabel(node) && !isPending("excluded", member, view);
}

function isOutOfService(word: NodeWord, node: NodeFacts | undefined, member: MemberView, view: ElectionView): boolean {
  if (word.flags.includes("out-of-service")) return true;
  if (view.source !== "kubernetes" || node === undefined) return false;
  return node.taintKeys.includes(NODE_TAINTS.outOfService) && !isPending("out-of-service", member, view);
}

function isPending(contradiction: Contradiction, member: MemberView, view: ElectionView): boolean {
  return view.notYetCounted?.get(member.name)?.has(contradiction) === true;
}

function serviceRefusal(service: GroupService, node: string, labels: Labels): RefusalReason | undefined {
  if (covering(service, labels).length === 0) return "not-selected";
  if (!service.hasServingEndpoint) return "no-serving-endpoint";
  if (service.externalTrafficPolicy === "Cluster" || service.isServedEverywhere) return undefined;
  return localRefusal(service, node);
}

/** Under policy Local: why no endpoint on the node serves. One that names no node might be there, which is worth knowing. */
export function localRefusal(service: GroupService, node: string): RefusalReason | undefined {
  if (service.readyNodes.has(node) || service.terminatingNodes.has(node)) return undefined;
  return service.hasUnplacedEndpoint ? "endpoint-without-node" : "no-local-endpoint";
}

function standingOf(services: readonly GroupService[], node: string, labels: Labels, word: NodeWord): Standing {
  const covered = services.map((service) => ({ service, advertisements: covering(service, labels) }));
  const tests = covered.map(({ service, advertisements }) => testLinks(word, advertisements, service.addresses));
  const links = LINK_TESTS.find((test) => tests.includes(test)) ?? "usable";
  const score = scoreOf(
    covered.flatMap(({ advertisements }) => advertisements),
    labels,
  );
  return { ...tierOf(word, links), score, endpointClass: endpointClassOf(services, node) };
}

/** Worst first: a node that is cordoned and leaving is leaving. */
const FLAG_TIERS: readonly { readonly flag: WordFlag & TierReason; readonly tier: Tier }[] = [
  { flag: "leaving", tier: 5 },
  { flag: "network-unavailable", tier: 4 },
  { flag: "cordoned", tier: 3 },
  { flag: "stepping-down", tier: 3 },
  { flag: "settling", tier: 2 },
  { flag: "damped", tier: 2 },
];

/** Worst first: a group is answered as badly as the worst of its Services. */
const LINK_TESTS: readonly LinkTest[] = ["none", "returning", "usable"];

function tierOf(word: NodeWord, links: LinkTest): Pick<Standing, "tier" | "tierReason"> {
  const worst = FLAG_TIERS.find(({ flag }) => word.flags.includes(flag));
  if (links === "none" && (worst === undefined || worst.tier < 4)) return { tier: 4, tierReason: "no-usable-link" };
  if (worst !== undefined) return { tier: worst.tier, tierReason: worst.flag };
  return links === "returning" ? { tier: 2, tierReason: "link-returning" } : { tier: 1 };
}

/** The worst over the group's Services with policy Local; Cluster does not care where. */
function endpointClassOf(services: readonly GroupService[], node: string): Candidate["endpointClass"] {
  const local = services.filter(({ externalTrafficPolicy }) => externalTrafficPolicy === "Local");
  if (local.length === 0) return "any";
  if (local.some(({ freshNodes }) => freshNodes?.has(node) === true)) return "fresh";
  const isReady = local.every((service) => service.isServedEverywhere || service.readyNodes.has(node));
  return isReady ? "ready" : "terminating";
}
