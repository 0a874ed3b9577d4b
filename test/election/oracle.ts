/**
 * A second, naive implementation of DESIGN D3 and D5, written from the page and not from src/election: the judge of the real one
 * here and in the simulation. It shares types and address arithmetic with it, and nothing else.
 */
import { createHash } from "node:crypto";
import type { AddressGroup, GroupService } from "../../src/desired/group.ts";
import type { AdvertisementFacts, LabelSelector } from "../../src/desired/snapshot.ts";
import type { ElectionView, MemberView } from "../../src/election/decision.ts";
import type { WordFlag, WordLink } from "../../src/election/word.ts";
import { type Ip, ipToBigInt } from "../../src/net/ip.ts";
import { type Prefix, rangeOfPrefix } from "../../src/net/prefix.ts";

export interface Verdict {
  /** All candidates, best first. */
  readonly order: readonly string[];
  readonly leader?: string;
  /** Only when nobody leads. */
  readonly reason?: string;
}

/** Who should lead the group under the view's rule. Under `metallb-1` the group must hold one Service. */
export function oracle(group: AddressGroup, view: ElectionView): Verdict {
  const isMetallb = view.rule === "metallb-1";
  const rows: { node: string; rank: (number | string)[] }[] = [];
  const reasons: string[] = [];
  for (const member of view.members) {
    const why = isMetallb ? metallbRefusal(group, member, view) : refusal(group, member, view);
    if (why !== undefined) {
      reasons.push(why);
      continue;
    }
    const tier = isMetallb ? 1 : tierOf(group, member, view);
    const endings = isMetallb ? 0 : endingRank(group, member.name);
    const hash = createHash("sha256").update(`${member.name}#${group.key}`).digest("hex");
    rows.push({ node: member.name, rank: [tier, -score(group, member, view), endings, hash, member.name] });
  }
  rows.sort((a, b) => lexicographic(a.rank, b.rank));
  if (!isMetallb) keepHolder(group, view, rows);
  const order = rows.map(({ node }) => node);
  const [leader] = order;
  if (leader !== undefined) return { order, leader };
  const stages = [
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
  const last = stages.findLast((stage) => reasons.includes(stage));
  return { order, reason: last ?? "no-members" };
}

/** DESIGN D4: of those in the best tier, whoever held a sticky group last keeps it. */
function keepHolder(
  group: AddressGroup,
  view: ElectionView,
  rows: { node: string; rank: (number | string)[] }[],
): void {
  if (!group.services.some(({ advertisements }) => advertisements.some((ad) => ad.isSticky))) return;
  const bestTier = rows[0]?.rank[0];
  let keeper: { node: string; term: number } | undefined;
  for (const holder of group.addresses.flatMap((address) => view.holders?.get(address) ?? [])) {
    if (!rows.some(({ node, rank }) => node === holder.node && rank[0] === bestTier)) continue;
    const isLater = keeper === undefined || holder.term > keeper.term;
    if (isLater || (holder.term === keeper?.term && holder.node < keeper.node)) keeper = holder;
  }
  if (keeper === undefined) return;
  const at = rows.findIndex(({ node }) => node === keeper.node);
  rows.unshift(...rows.splice(at, 1));
}

function lexicographic(a: readonly (number | string)[], b: readonly (number | string)[]): number {
  for (const [index, left] of a.entries()) {
    const right = b[index] ?? "";
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}

const EXCLUDE = "node.kubernetes.io/exclude-from-external-load-balancers";
const OUT_OF_SERVICE = "node.kubernetes.io/out-of-service";

function says(member: MemberView, flag: WordFlag): boolean {
  return member.word !== undefined && member.word.flags.includes(flag);
}

/** The API view counts with the Kubernetes source, unless it is too young to be believed. */
function apiSays(
  member: MemberView,
  view: ElectionView,
  what: "excluded" | "out-of-service" | "no-node-object",
): boolean {
  if (view.source === "files") return false;
  if (view.notYetCounted?.get(member.name)?.has(what)) return false;
  const node = view.nodes.get(member.name);
  if (what === "no-node-object") return node === undefined;
  if (what === "excluded") return !view.ignoresExcludeLabel && Object.keys(node?.labels ?? {}).includes(EXCLUDE);
  return node?.taintKeys.includes(OUT_OF_SERVICE) ?? false;
}

function labelsOf(member: MemberView, view: ElectionView): ReadonlyMap<string, string> {
  const node = view.nodes.get(member.name);
  return new Map(Object.entries(node?.labels ?? { "kubernetes.io/hostname": member.name }));
}

function counted(group: AddressGroup): readonly GroupService[] {
  const served = group.services.filter((service) => service.hasServingEndpoint);
  return served.length === 0 ? group.services : served;
}

function refusal(group: AddressGroup, member: MemberView, view: ElectionView): string | undefined {
  if (!says(member, "ready")) return "not-ready";
  if (says(member, "excluded") || apiSays(member, view, "excluded")) return "excluded";
  if (says(member, "out-of-service") || apiSays(member, view, "out-of-service")) return "out-of-service";
  if (says(member, "no-node-object") || apiSays(member, view, "no-node-object")) return "no-node-object";
  const each = counted(group).map((service) => placeRefusal(service, member, view));
  const refusals = each.filter((reason) => reason !== undefined);
  if (refusals.length === 0) return undefined;
  return refusals.length === each.length ? refusals[0] : "not-common-to-group";
}

function placeRefusal(service: GroupService, member: MemberView, view: ElectionView): string | undefined {
  if (!service.advertisements.some((ad) => selects(ad, labelsOf(member, view)))) return "not-selected";
  if (!service.hasServingEndpoint) return "no-serving-endpoint";
  const isHere = service.readyNodes.has(member.name) || service.terminatingNodes.has(member.name);
  const mustBeHere = service.externalTrafficPolicy === "Local" && !service.isServedEverywhere;
  if (!mustBeHere || isHere) return undefined;
  return service.hasUnplacedEndpoint ? "endpoint-without-node" : "no-local-endpoint";
}

function metallbRefusal(group: AddressGroup, member: MemberView, view: ElectionView): string | undefined {
  const service = group.services[0];
  if (!service?.hasServingEndpoint) return "no-serving-endpoint";
  const node = view.nodes.get(member.name);
  if (node === undefined && view.source === "kubernetes") return "no-node-object";
  if (node?.isNetworkUnavailable) return "network-unavailable";
  if (node !== undefined && !view.ignoresExcludeLabel && Object.keys(node.labels).includes(EXCLUDE)) return "excluded";
  return placeRefusal(service, member, view);
}

function selects(ad: AdvertisementFacts, labels: ReadonlyMap<string, string>): boolean {
  return ad.nodeSelectors.length === 0 || ad.nodeSelectors.some((selector) => fits(selector, labels));
}

function fits(selector: LabelSelector, labels: ReadonlyMap<string, string>): boolean {
  const wanted = Object.entries(selector.matchLabels).every(([key, value]) => labels.get(key) === value);
  const expressions = selector.matchExpressions.every(({ key, operator, values }) => {
    const value = labels.get(key);
    if (operator === "Exists") return value !== undefined;
    if (operator === "DoesNotExist") return value === undefined;
    const isIn = value !== undefined && values.includes(value);
    return operator === "In" ? isIn : !isIn;
  });
  return wanted && expressions;
}

function score(group: AddressGroup, member: MemberView, view: ElectionView): number {
  const labels = labelsOf(member, view);
  const ads = new Set(counted(group).flatMap((service) => service.advertisements));
  const preferences = [...ads].filter((ad) => selects(ad, labels)).flatMap((ad) => ad.preferredNodes);
  return preferences.filter(({ preference }) => fits(preference, labels)).reduce((sum, { weight }) => sum + weight, 0);
}

function endingRank(group: AddressGroup, node: string): number {
  const local = counted(group).filter((service) => service.externalTrafficPolicy === "Local");
  if (local.some((service) => service.freshNodes?.has(node))) return 2;
  return local.some((service) => !service.isServedEverywhere && !service.readyNodes.has(node)) ? 1 : 0;
}

function tierOf(group: AddressGroup, member: MemberView, view: ElectionView): number {
  if (says(member, "leaving")) return 5;
  if (says(member, "network-unavailable") || !isLinked(group, member, view, () => true)) return 4;
  if (says(member, "cordoned") || says(member, "stepping-down")) return 3;
  const isSteady = isLinked(group, member, view, (link) => link.isReturning === undefined);
  return says(member, "settling") || says(member, "damped") || !isSteady ? 2 : 1;
}

function isLinked(
  group: AddressGroup,
  member: MemberView,
  view: ElectionView,
  counts: (link: WordLink) => boolean,
): boolean {
  const { word } = member;
  if (word === undefined || word.isTruncated) return true;
  const usable = word.links.filter((link) => link.isUsable && counts(link));
  const namesAreKnown = word.links.some((link) => link.name !== undefined);
  return counted(group).every((service) => {
    const ads = service.advertisements.filter((ad) => selects(ad, labelsOf(member, view)));
    const named = ads.flatMap((ad) => ad.interfaces);
    if (named.length > 0 && usable.some((link) => !namesAreKnown || named.includes(link.name ?? ""))) return true;
    if (ads.every((ad) => ad.interfaces.length > 0)) return false;
    const near = word.prefixes.filter(({ linkIndex }) => usable.some(({ index }) => index === linkIndex));
    return service.addresses.every((ip) => near.some(({ prefix }) => holds(prefix, ip)));
  });
}

function holds(prefix: Prefix, ip: Ip): boolean {
  const range = rangeOfPrefix(prefix);
  const isSameFamily = (range.family === 6) === ip.includes(":");
  return isSameFamily && ipToBigInt(ip) >= range.first && ipToBigInt(ip) <= range.last;
}
