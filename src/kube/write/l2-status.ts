/**
 * What is to be written about one Service's ServiceL2Status, from what this node has to say and what is there: level-based, so
 * that a second look after every write gives what is left. Pure.
 */
import { hash } from "node:crypto";
import { L2_STATUS_ANNOTATIONS, L2_STATUS_LABELS } from "../../../api/annotations.ts";
import type { OwnerReference, WatchedL2Status } from "../watched.ts";
import { labelValue } from "./label-value.ts";
import type { LeadingReport, ServiceReport } from "./service-report.ts";

export interface L2StatusQuestion {
  /** `namespace/name` */
  readonly service: string;
  readonly node: string;
  /** Our own Pod; undefined when it is unknown: then no owner is set, and the owners of what is there already stay. */
  readonly owner: OwnerReference | undefined;
  readonly report: ServiceReport | undefined;
  /** Known to have been deleted. */
  readonly isServiceGone: boolean;
  /** All of this Service, whoever wrote them. */
  readonly statuses: readonly WatchedL2Status[];
  /** Since when this node has said that it does not lead, or since it looks. */
  readonly notLeadingSinceMs: number;
  /** Not before this is one that was deleted made again. */
  readonly createNotBeforeMs: number;
  /** Since when the report has had its rank. */
  readonly rankSinceMs: number;
  readonly nowMs: number;
}

export interface L2StatusContent {
  readonly labels: Readonly<Record<string, string>>;
  /** `null` removes. */
  readonly annotations: Readonly<Record<string, string | null>>;
  /** Undefined: as they are. */
  readonly owners: readonly OwnerReference[] | undefined;
}

export type L2StatusWrite =
  | { readonly kind: "create"; readonly name: string; readonly content: L2StatusContent }
  | { readonly kind: "metadata"; readonly name: string; readonly content: L2StatusContent }
  | { readonly kind: "status"; readonly name: string; readonly status: L2StatusFields }
  | { readonly kind: "delete"; readonly name: string; readonly uid: string };

export interface L2StatusFields {
  readonly node: string;
  readonly serviceName: string;
  readonly serviceNamespace: string;
  /** `null`: on whatever links hold the address. */
  readonly interfaces: readonly { readonly name: string }[] | null;
}

export interface L2StatusPlan {
  /** In this order; each is right only if those before it were done. */
  readonly writes: readonly L2StatusWrite[];
  /** When another look may give more, though nothing changed. */
  readonly againAtMs?: number;
}

/** Who lost an address leaves its status to the new leader for this long (which deletes it); nobody may have seen the loss at all. */
const LEFT_TO_LEADER_MS = 10_000;
/** Nobody leads, so nobody will delete it; shorter gaps are not worth three writes. */
const NOBODY_LEADS_MS = 2_000;
/** A change of rank alone waits: one node that comes or goes changes the rank line of every Service. */
const RANK_SETTLES_MS = 30_000;

/** The one name under which this node writes about a Service. */
export function l2StatusName(service: string, node: string): string {
  return `l2-${hash("sha256", `${service}/${node}`, "hex").slice(0, 10)}`;
}

export function planL2Status(question: L2StatusQuestion): L2StatusPlan {
  return question.report?.kind === "leading" ? planLeading(question, question.report) : planNotLeading(question);
}

function planLeading(question: L2StatusQuestion, report: LeadingReport): L2StatusPlan {
  const { service, node, statuses, createNotBeforeMs, nowMs } = question;
  const name = l2StatusName(service, node);
  const mine = statuses.find((status) => status.name === name);
  const others = statuses.filter((status) => status !== mine).map(deletion);
  const status: L2StatusWrite = { kind: "status", name, status: statusFields(service, node, report) };
  if (mine === undefined) {
    if (nowMs < createNotBeforeMs) return { writes: [], againAtMs: createNotBeforeMs };
    return { writes: [{ kind: "create", name, content: contentOf(question, report) }, status, ...others] };
  }
  // It never changes in place: somebody wrote another node's name into ours.
  if (mine.status.node !== undefined && mine.status.node !== node) return { writes: [deletion(mine)] };
  const metadata = planMetadata(question, report, mine);
  const statusWrites = hasStatus(mine, status.status) ? [] : [status];
  return { ...metadata, writes: [...metadata.writes, ...statusWrites, ...others] };
}

function planMetadata(question: L2StatusQuestion, report: LeadingReport, mine: WatchedL2Status): L2StatusPlan {
  const content = contentOf(question, report);
  const { [L2_STATUS_ANNOTATIONS.rank]: rank, ...others } = content.annotations;
  const isRanked = mine.annotations[L2_STATUS_ANNOTATIONS.rank] === rank;
  const isSame =
    hasTexts(mine.labels, content.labels) && hasTexts(mine.annotations, others) && hasOwners(mine, content.owners);
  if (isSame && isRanked) return { writes: [] };
  const rankSettlesMs = question.rankSinceMs + RANK_SETTLES_MS;
  if (isSame && question.nowMs < rankSettlesMs) return { writes: [], againAtMs: rankSettlesMs };
  return { writes: [{ kind: "metadata", name: mine.name, content }] };
}

function planNotLeading(question: L2StatusQuestion): L2StatusPlan {
  const label = labelValue(question.node);
  const mine = question.statuses.filter((status) => status.labels[L2_STATUS_LABELS.node] === label);
  if (mine.length === 0) return { writes: [] };
  const dueMs = question.isServiceGone ? 0 : question.notLeadingSinceMs + graceMs(question.report);
  return question.nowMs < dueMs ? { writes: [], againAtMs: dueMs } : { writes: mine.map(deletion) };
}

function graceMs(report: ServiceReport | undefined): number {
  return report === undefined ? LEFT_TO_LEADER_MS : NOBODY_LEADS_MS;
}

function contentOf({ service, node, owner }: L2StatusQuestion, report: LeadingReport): L2StatusContent {
  const { namespace, name } = partsOf(service);
  const macs = report.links.map((link) => `${link.name}=${link.mac}`).toSorted();
  return {
    labels: {
      [L2_STATUS_LABELS.node]: labelValue(node),
      [L2_STATUS_LABELS.serviceName]: labelValue(name),
      [L2_STATUS_LABELS.serviceNamespace]: labelValue(namespace),
    },
    annotations: {
      [L2_STATUS_ANNOTATIONS.since]: new Date(report.sinceMs).toISOString(),
      [L2_STATUS_ANNOTATIONS.reason]: report.reason,
      [L2_STATUS_ANNOTATIONS.previousNode]: report.previousNode ?? null,
      [L2_STATUS_ANNOTATIONS.mac]: macs.join(","),
      [L2_STATUS_ANNOTATIONS.rank]: `${report.rank}/${report.candidates}`,
    },
    owners: owner === undefined ? undefined : [owner],
  };
}

function statusFields(service: string, node: string, report: LeadingReport): L2StatusFields {
  const { namespace, name } = partsOf(service);
  const interfaces = report.restrictedTo.toSorted().map((link) => ({ name: link }));
  return {
    node,
    serviceName: name,
    serviceNamespace: namespace,
    interfaces: interfaces.length > 0 ? interfaces : null,
  };
}

function hasStatus({ status }: WatchedL2Status, wanted: L2StatusFields): boolean {
  const links = wanted.interfaces?.map((item) => item.name) ?? [];
  return (
    status.node === wanted.node &&
    status.serviceName === wanted.serviceName &&
    status.serviceNamespace === wanted.serviceNamespace &&
    links.join() === (status.interfaces ?? []).join()
  );
}

function hasTexts(texts: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string | null>>): boolean {
  return Object.entries(wanted).every(([key, text]) => (texts[key] ?? null) === text);
}

function hasOwners({ owners }: WatchedL2Status, wanted: readonly OwnerReference[] | undefined): boolean {
  if (wanted === undefined) return true;
  return owners.length === wanted.length && wanted.every((owner, index) => owners[index]?.uid === owner.uid);
}

function deletion({ name, uid }: WatchedL2Status): L2StatusWrite {
  return { kind: "delete", name, uid };
}

function partsOf(service: string): { readonly namespace: string; readonly name: string } {
  const slash = service.indexOf("/");
  return { namespace: service.slice(0, slash), name: service.slice(slash + 1) };
}
