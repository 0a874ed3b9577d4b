/** Keeps the ServiceL2Statuses as this node's reports want them: what is remembered between two looks of the planner. */
import { L2_STATUS_LABELS } from "../../../api/annotations.ts";
import { readL2Status } from "../read-watched.ts";
import type { WatchedL2Status, WatchedObjects } from "../watched.ts";
import type { Verdict } from "./answers.ts";
import { type L2StatusContent, type L2StatusWrite, planL2Status } from "./l2-status.ts";
import { labelValue } from "./label-value.ts";
import type { OwnPodSearch } from "./own-pod.ts";
import { OwnWrites } from "./own-writes.ts";
import type { Next, PlannedWrite, WriteSource } from "./planned-write.ts";
import {
  createRequest,
  deleteRequest,
  METALLB_API_VERSION,
  mergeRequest,
  mergeStatusRequest,
  readRequest,
} from "./resource-requests.ts";
import type { ServiceReport } from "./service-report.ts";

export interface L2StatusKeeperOptions {
  readonly nodeName: string;
  /** The speaker's own, where all statuses lie. */
  readonly namespace: string;
  readonly watched: WatchedObjects;
  readonly ownPod: OwnPodSearch;
  /** To look at this Service (`namespace/name`) again. */
  readonly mark: (service: string) => void;
}

const RESOURCE = "servicel2statuses";
/** A status of mine that others delete is made again after this, doubling: another speaker may believe that it leads. */
const REMAKE_MS = { first: 500, most: 60_000 };
/** An object that lasted this long was no part of such a quarrel. */
const LASTED_MS = 600_000;

/** What is remembered of one Service. */
interface Memory {
  report: ServiceReport | undefined;
  /** Since when there is no leading report. */
  notLeadingSinceMs: number;
  rankSinceMs: number;
  /** The Service was there at some time. */
  wasSeen: boolean;
  createdMs: number;
  createNotBeforeMs: number;
  remakeMs: number;
  readonly watched: Map<string, WatchedL2Status>;
  readonly own: OwnWrites<WatchedL2Status>;
}

export class L2StatusKeeper implements WriteSource {
  readonly #options: L2StatusKeeperOptions;
  readonly #memories = new Map<string, Memory>();
  /** What the watch showed last, by name. */
  #shown: ReadonlyMap<string, WatchedL2Status> | undefined;

  constructor(options: L2StatusKeeperOptions) {
    this.#options = options;
  }

  /** Services that this node leads. */
  get leading(): number {
    let count = 0;
    for (const { report } of this.#memories.values()) count += report?.kind === "leading" ? 1 : 0;
    return count;
  }

  report(service: string, report: ServiceReport | undefined, nowMs: number): void {
    const memory = this.#memoryOf(service, nowMs);
    const before = memory.report;
    memory.report = report;
    if (report?.kind !== before?.kind) memory.notLeadingSinceMs = nowMs;
    if (rankOf(report) !== rankOf(before)) memory.rankSinceMs = nowMs;
    if (report?.kind === "leading" && before?.kind !== "leading") memory.createNotBeforeMs = 0;
    this.#options.mark(service);
  }

  /** Marks the Services whose statuses changed. */
  watchedChanged(nowMs: number): void {
    const statuses = this.#options.watched.l2Statuses;
    if (statuses === undefined) return;
    if (this.#shown === undefined) this.markAll();
    const shown = this.#shown ?? new Map<string, WatchedL2Status>();
    for (const [name, before] of shown) {
      if (statuses.get(name) !== before) this.#changed(before, statuses.get(name), nowMs);
    }
    for (const [name, status] of statuses) {
      if (!shown.has(name)) this.#changed(undefined, status, nowMs);
    }
    this.#shown = new Map(statuses);
  }

  /** Something that concerns every status changed, such as who owns them. */
  markAll(): void {
    for (const [service, { report }] of this.#memories) if (report !== undefined) this.#options.mark(service);
  }

  next(service: string, nowMs: number): Next {
    const memory = this.#memories.get(service);
    if (memory === undefined || this.#options.watched.l2Statuses === undefined) return {};
    const pod = this.#options.ownPod.at(nowMs);
    if (!pod.isSettled) return { againAtMs: pod.againAtMs };
    const name = memory.own.toRead(nowMs);
    if (name !== undefined) return { write: this.#read(memory, name) };
    const [namespace = "", serviceName = ""] = service.split("/");
    const isThere = this.#options.watched.serviceUid(namespace, serviceName) !== undefined;
    if (isThere) memory.wasSeen = true;
    const { nodeName: node } = this.#options;
    const { report, notLeadingSinceMs, createNotBeforeMs, rankSinceMs } = memory;
    const plan = planL2Status({
      service,
      node,
      report,
      notLeadingSinceMs,
      createNotBeforeMs,
      rankSinceMs,
      nowMs,
      owner: pod.owner,
      isServiceGone: memory.wasSeen && !isThere,
      statuses: statusesOf(memory),
    });
    const [write] = plan.writes;
    if (write !== undefined) return { write: this.#planned(memory, write) };
    if (isForgettable(memory)) this.#memories.delete(service);
    return againAt(plan.againAtMs, memory.own.nextReadMs());
  }

  #changed(before: WatchedL2Status | undefined, after: WatchedL2Status | undefined, nowMs: number): void {
    for (const status of [before, after]) {
      if (status === undefined) continue;
      const service = serviceOf(status);
      if (service === undefined) continue;
      const memory = this.#memoryOf(service, nowMs);
      if (status === before) memory.watched.delete(status.name);
      else memory.watched.set(status.name, status);
      memory.own.newest(status.name, memory.watched.get(status.name));
      if (memory.report !== undefined || this.#isMine(status)) this.#options.mark(service);
    }
  }

  #isMine(status: WatchedL2Status): boolean {
    return status.labels[L2_STATUS_LABELS.node] === labelValue(this.#options.nodeName);
  }

  #memoryOf(service: string, nowMs: number): Memory {
    const known = this.#memories.get(service);
    if (known !== undefined) return known;
    const memory: Memory = {
      report: undefined,
      notLeadingSinceMs: nowMs,
      rankSinceMs: nowMs,
      wasSeen: false,
      createdMs: Number.NEGATIVE_INFINITY,
      createNotBeforeMs: 0,
      remakeMs: 0,
      watched: new Map(),
      own: new OwnWrites(),
    };
    this.#memories.set(service, memory);
    return memory;
  }

  #planned(memory: Memory, write: L2StatusWrite): PlannedWrite {
    const { name } = write;
    const known = statusesOf(memory).find((status) => status.name === name);
    const answered = (verdict: Verdict, body: unknown, nowMs: number): void => {
      if (verdict === "done" && write.kind === "create") rememberCreation(memory, nowMs);
      if (verdict === "conflict") memory.own.mustRead(name);
      else if (verdict === "gone" || (verdict === "done" && write.kind === "delete")) memory.own.gone(name, known?.uid);
      else if (verdict === "done") takeIn(memory, body, nowMs);
    };
    return { ...requestFor(write, this.#options.namespace), answered };
  }

  #read(memory: Memory, name: string): PlannedWrite {
    const request = readRequest(RESOURCE, this.#options.namespace, name);
    const known = statusesOf(memory).find((status) => status.name === name);
    const answered = (verdict: Verdict, body: unknown, nowMs: number): void => {
      if (verdict === "gone") memory.own.gone(name, memory.watched.get(name)?.uid ?? known?.uid);
      else if (verdict === "done") takeIn(memory, body, nowMs);
    };
    return { request, verb: "get", resource: RESOURCE, answered };
  }
}

function requestFor(write: L2StatusWrite, namespace: string): Omit<PlannedWrite, "answered"> {
  const { kind, name } = write;
  if (kind === "create") {
    const object = objectOf(name, namespace, write.content);
    return { request: createRequest(RESOURCE, namespace, object), verb: "create", resource: RESOURCE };
  }
  if (kind === "metadata") {
    const patch = { metadata: metadataOf(write.content) };
    return { request: mergeRequest(RESOURCE, namespace, name, patch), verb: "patch", resource: RESOURCE };
  }
  if (kind === "status") {
    const request = mergeStatusRequest(RESOURCE, namespace, name, write.status);
    return { request, verb: "patch", resource: `${RESOURCE}/status` };
  }
  return { request: deleteRequest(RESOURCE, namespace, name, write.uid), verb: "delete", resource: RESOURCE };
}

function serviceOf({ labels, status }: WatchedL2Status): string | undefined {
  const namespace = labels[L2_STATUS_LABELS.serviceNamespace] ?? status.serviceNamespace;
  const name = labels[L2_STATUS_LABELS.serviceName] ?? status.serviceName;
  return namespace === undefined || name === undefined ? undefined : `${namespace}/${name}`;
}

function statusesOf(memory: Memory): WatchedL2Status[] {
  const names = new Set([...memory.watched.keys(), ...memory.own.names]);
  return [...names].flatMap((name) => memory.own.newest(name, memory.watched.get(name)) ?? []);
}

function takeIn(memory: Memory, body: unknown, nowMs: number): void {
  const status = readL2Status(body);
  if (status !== undefined) memory.own.written(status, nowMs);
}

function rememberCreation(memory: Memory, nowMs: number): void {
  const lasted = nowMs - memory.createdMs >= LASTED_MS;
  memory.remakeMs = lasted ? REMAKE_MS.first : Math.min(memory.remakeMs * 2, REMAKE_MS.most);
  memory.createdMs = nowMs;
  memory.createNotBeforeMs = nowMs + memory.remakeMs;
}

function isForgettable(memory: Memory): boolean {
  return memory.report === undefined && memory.watched.size === 0 && memory.own.isEmpty;
}

function rankOf(report: ServiceReport | undefined): string {
  return report?.kind === "leading" ? `${report.rank}/${report.candidates}` : "";
}

function againAt(...times: readonly (number | undefined)[]): Next {
  const known = times.filter((time) => time !== undefined);
  return known.length > 0 ? { againAtMs: Math.min(...known) } : {};
}

function objectOf(name: string, namespace: string, content: L2StatusContent): unknown {
  const annotations = Object.entries(content.annotations).filter(([, text]) => text !== null);
  const metadata = { ...metadataOf(content), annotations: Object.fromEntries(annotations) };
  return {
    apiVersion: METALLB_API_VERSION,
    kind: "ServiceL2Status",
    metadata: { name, namespace, ...metadata },
    spec: {},
  };
}

function metadataOf({ labels, annotations, owners }: L2StatusContent): Readonly<Record<string, unknown>> {
  return { labels, annotations, ...(owners === undefined ? {} : { ownerReferences: owners }) };
}
