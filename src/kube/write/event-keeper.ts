/** Turns reports and problems into events: what they are about, and who says them. */
import { hash } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import type { ResourceProblem, WatchedObjects } from "../watched.ts";
import type { Verdict } from "./answers.ts";
import { type EventSubject, eventRequest } from "./event-object.ts";
import { EventPolicy, type PendingEvents } from "./event-policy.ts";
import { bgpNotServedText } from "./event-texts.ts";
import { firstByHash } from "./first-by-hash.ts";
import type { Next, WriteSource } from "./planned-write.ts";
import { METALLB_API_VERSION } from "./resource-requests.ts";
import type { ServiceReport } from "./service-report.ts";

export interface EventKeeperOptions {
  readonly nodeName: string;
  /** The reporting instance. */
  readonly instance: string;
  readonly watched: WatchedObjects;
  readonly clock: Clock;
  /** Tells the events of this process from those of its predecessors in the same pod. */
  readonly nonce: string;
  /** Names of the members that are alive, this node among them. */
  readonly aliveMembers: () => readonly string[];
  /** To look at this subject at that time. */
  readonly mark: (subject: string, atMs: number) => void;
}

/** So long the statuses may take to be listed before a leadership counts as new. */
const LISTING_MS = 60_000;
/** Until it knows the members, every speaker is the first of those it knows. */
const MEMBERS_SETTLE_MS = 10_000;
/** An event without the uid of its subject waits for it: the Services may not be listed yet. */
const UID_MS = { poll: 5_000, most: 60_000 };
const COMPONENT = "metallb-speaker";
const SERVICE_PREFIX = "service/";
const OBJECT_PREFIX = "object/";
const DIGITS = 16;

export class EventKeeper implements WriteSource {
  readonly #options: EventKeeperOptions;
  readonly #policy: EventPolicy;
  readonly #startedMs: number;
  /** Services that this node led before it started, by its own statuses; undefined: not listed yet. */
  #inherited: Set<string> | undefined;
  /** Reports that came before that was known. */
  readonly #early = new Map<
    string,
    { readonly report: ServiceReport; readonly nowMs: number; readonly wallMs: number }
  >();
  /** By uid. */
  readonly #notServed = new Map<
    string,
    { readonly problem: ResourceProblem; readonly sinceMs: number; isSaid: boolean }
  >();

  constructor(options: EventKeeperOptions) {
    this.#options = options;
    this.#policy = new EventPolicy(options.nodeName);
    this.#startedMs = options.clock.nowMs();
  }

  get dropped(): number {
    return this.#policy.dropped;
  }

  report(service: string, report: ServiceReport | undefined): void {
    const { clock } = this.#options;
    const [nowMs, wallMs] = [clock.nowMs(), clock.wallMs()];
    this.#takeInherited(nowMs);
    if (this.#inherited === undefined) {
      if (report === undefined) this.#early.delete(service);
      else this.#early.set(service, { report, nowMs, wallMs });
      this.#options.mark(SERVICE_PREFIX + service, this.#startedMs + LISTING_MS);
      return;
    }
    this.#report(service, report, nowMs, wallMs);
  }

  watchedChanged(): void {
    this.#takeInherited(this.#options.clock.nowMs());
  }

  problemsChanged(problems: readonly ResourceProblem[]): void {
    const nowMs = this.#options.clock.nowMs();
    const known = new Map(this.#notServed);
    this.#notServed.clear();
    for (const problem of problems) {
      if (problem.problem !== "not-served" || problem.uid === "") continue;
      const entry = known.get(problem.uid) ?? { problem, sinceMs: nowMs, isSaid: false };
      this.#notServed.set(problem.uid, entry);
      if (!entry.isSaid) this.#options.mark(OBJECT_PREFIX + problem.uid, entry.sinceMs + MEMBERS_SETTLE_MS);
    }
  }

  next(subject: string, nowMs: number): Next {
    this.#takeInherited(nowMs);
    this.#sayNotServed(subject, nowMs);
    const pending = this.#policy.due(subject, nowMs);
    const [text] = pending?.texts ?? [];
    if (pending === undefined || text === undefined) {
      const againAtMs = this.#policy.dueMs(subject);
      return againAtMs === undefined ? {} : { againAtMs };
    }
    const about = this.#subjectOf(subject);
    if (about === undefined) return this.#waitForUid(subject, pending, nowMs);
    const { instance, nonce } = this.#options;
    const digits = hash("sha256", `${nonce}/${pending.id}/${pending.texts.length}`, "hex").slice(0, DIGITS);
    const request = eventRequest(about, text, { component: COMPONENT, instance, wallMs: pending.wallMs, digits });
    const answered = (verdict: Verdict): void => this.#answered(subject, pending, verdict);
    return { write: { request, verb: "create", resource: "events", answered } };
  }

  #report(service: string, report: ServiceReport | undefined, nowMs: number, wallMs: number): void {
    const wasLeading = this.#inherited?.delete(service) === true;
    const isKnown = wasLeading && report?.kind === "leading";
    const subject = SERVICE_PREFIX + service;
    this.#policy.report(subject, report, isKnown, nowMs, wallMs);
    const dueMs = this.#policy.dueMs(subject);
    if (dueMs !== undefined) this.#options.mark(subject, dueMs);
  }

  /** A leadership is no transition after a restart, if the status that the former process left says so. */
  #takeInherited(nowMs: number): void {
    const { watched, nodeName } = this.#options;
    if (this.#inherited !== undefined) return;
    if (watched.l2Statuses === undefined && nowMs < this.#startedMs + LISTING_MS) return;
    const inherited = new Set<string>();
    for (const { status } of watched.l2Statuses?.values() ?? []) {
      if (status.node === nodeName) inherited.add(`${status.serviceNamespace}/${status.serviceName}`);
    }
    this.#inherited = inherited;
    for (const [service, { report, nowMs: atMs, wallMs }] of this.#early) this.#report(service, report, atMs, wallMs);
    this.#early.clear();
  }

  #sayNotServed(subject: string, nowMs: number): void {
    const { nodeName, aliveMembers, clock } = this.#options;
    const uid = subject.startsWith(OBJECT_PREFIX) ? subject.slice(OBJECT_PREFIX.length) : "";
    const entry = this.#notServed.get(uid);
    if (entry === undefined || entry.isSaid || nowMs < entry.sinceMs + MEMBERS_SETTLE_MS) return;
    if (firstByHash(new Set([nodeName, ...aliveMembers()]), uid) !== nodeName) return;
    entry.isSaid = true;
    this.#policy.say(subject, bgpNotServedText(entry.problem.kind, entry.problem.name), nowMs, clock.wallMs());
  }

  #subjectOf(subject: string): EventSubject | undefined {
    if (subject.startsWith(OBJECT_PREFIX)) {
      const problem = this.#notServed.get(subject.slice(OBJECT_PREFIX.length))?.problem;
      if (problem === undefined) return undefined;
      const { kind, namespace, name, uid } = problem;
      return { apiVersion: METALLB_API_VERSION, kind, namespace, name, uid };
    }
    const [namespace = "", name = ""] = subject.slice(SERVICE_PREFIX.length).split("/");
    const uid = this.#options.watched.serviceUid(namespace, name);
    return uid === undefined ? undefined : { apiVersion: "v1", kind: "Service", namespace, name, uid };
  }

  #waitForUid(subject: string, pending: PendingEvents, nowMs: number): Next {
    const dueMs = this.#policy.dueMs(subject) ?? nowMs;
    if (nowMs < dueMs + UID_MS.most) return { againAtMs: nowMs + UID_MS.poll };
    this.#policy.abandon(subject, pending.id);
    return {};
  }

  #answered(subject: string, { id }: PendingEvents, verdict: Verdict): void {
    switch (verdict) {
      case "done":
      // There already: the answer to the first attempt was lost.
      case "conflict":
        this.#policy.said(subject, id);
        return;
      case "gone":
      case "refused":
      case "forbidden":
        this.#policy.refused(subject, id);
        return;
      case "busy":
      case "unauthorized":
        return;
    }
  }
}
