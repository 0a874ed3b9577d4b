/**
 * When something is said in an event: once for every transition, never for a report that says the same again. A machine without
 * I/O; times are milliseconds of one monotonic clock.
 */
import { type EventText, eventTexts } from "./event-texts.ts";
import type { ServiceReport } from "./service-report.ts";

/** What is to be said of one subject, in order. `id` tells it from what was said of the subject before and after. */
export interface PendingEvents {
  readonly id: number;
  readonly texts: readonly EventText[];
  /** When it happened: wall time, ms. */
  readonly wallMs: number;
}

interface Pending extends PendingEvents {
  /** Before this it was no news yet. */
  readonly newsMs: number;
  readonly dueMs: number;
}

/** A subject may say five at once, then one per two minutes, the latest: generic cell rate, one number per subject. */
const BURST = 5;
const PER_EVENT_MS = 120_000;
/** What is the matter must last: a Service that is being made has no endpoints for a moment. */
const TROUBLE_LASTS_MS = 2_000;
/** Subjects that wait; what comes on top is dropped, and counted. */
const MAX_PENDING = 10_000;

export class EventPolicy {
  readonly #node: string;
  /** What the last report of each Service says, in one text. */
  readonly #said = new Map<string, string>();
  readonly #pending = new Map<string, Pending>();
  /** When the bucket of a subject is full again. */
  readonly #fullAtMs = new Map<string, number>();
  #ids = 0;
  #dropped = 0;

  constructor(node: string) {
    this.#node = node;
  }

  /** Events that were overtaken by a later one of their subject, refused, or found no room. */
  get dropped(): number {
    return this.#dropped;
  }

  get pending(): number {
    return this.#pending.size;
  }

  /** `isKnown`: a former process of this node said it already, and nothing has happened since. */
  report(service: string, report: ServiceReport | undefined, isKnown: boolean, nowMs: number, wallMs: number): void {
    if (report === undefined) {
      this.#said.delete(service);
      this.#drop(service, nowMs);
      return;
    }
    const text = newsOf(report);
    if (this.#said.get(service) === text) return;
    this.#said.set(service, text);
    if (isKnown) this.#drop(service, nowMs);
    else
      this.#add(
        service,
        eventTexts(report, this.#node),
        report.kind === "leading" ? 0 : TROUBLE_LASTS_MS,
        nowMs,
        wallMs,
      );
  }

  /** Said of something else than a Service, by whoever knows that it is news. */
  say(subject: string, text: EventText, nowMs: number, wallMs: number): void {
    this.#add(subject, [text], 0, nowMs, wallMs);
  }

  /** What is to be said of this subject now. */
  due(subject: string, nowMs: number): PendingEvents | undefined {
    const pending = this.#pending.get(subject);
    return pending !== undefined && pending.dueMs <= nowMs ? pending : undefined;
  }

  /** What will never be said, because the server refuses it. */
  refused(subject: string, id: number): void {
    this.#dropped++;
    this.said(subject, id);
  }

  /** Nothing of it can be said: what it is about is not there. */
  abandon(subject: string, id: number): void {
    const pending = this.#pending.get(subject);
    if (pending?.id !== id) return;
    this.#dropped += pending.texts.length;
    this.#pending.delete(subject);
  }

  /** When `due` has something to say; undefined: nothing waits. */
  dueMs(subject: string): number | undefined {
    return this.#pending.get(subject)?.dueMs;
  }

  /** One of the texts was said, or will never be. */
  said(subject: string, id: number): void {
    const pending = this.#pending.get(subject);
    if (pending?.id !== id) return;
    const texts = pending.texts.slice(1);
    if (texts.length > 0) this.#pending.set(subject, { ...pending, texts });
    else this.#pending.delete(subject);
  }

  #add(subject: string, texts: readonly EventText[], holdMs: number, nowMs: number, wallMs: number): void {
    this.#drop(subject, nowMs);
    if (this.#pending.size >= MAX_PENDING) {
      this.#dropped += texts.length;
      return;
    }
    this.#forgetFull(nowMs);
    const newsMs = nowMs + holdMs;
    const fullAtMs = Math.max(this.#fullAtMs.get(subject) ?? nowMs, nowMs) + PER_EVENT_MS;
    this.#fullAtMs.set(subject, fullAtMs);
    const dueMs = Math.max(newsMs, fullAtMs - BURST * PER_EVENT_MS);
    this.#pending.set(subject, { id: ++this.#ids, texts, wallMs, newsMs, dueMs });
  }

  /** What was overtaken before it was said gives its place in the bucket back. */
  #drop(subject: string, nowMs: number): void {
    const before = this.#pending.get(subject);
    if (before === undefined) return;
    this.#pending.delete(subject);
    this.#fullAtMs.set(subject, (this.#fullAtMs.get(subject) ?? nowMs) - PER_EVENT_MS);
    if (before.newsMs <= nowMs) this.#dropped += before.texts.length;
  }

  /** Keeps the table as small as what happened lately. */
  #forgetFull(nowMs: number): void {
    if (this.#fullAtMs.size < 2 * (this.#said.size + BURST)) return;
    for (const [subject, fullAtMs] of this.#fullAtMs) if (fullAtMs <= nowMs) this.#fullAtMs.delete(subject);
  }
}

/** Equal for two reports between which nothing happened that is worth an event: not for another rank or MAC. */
function newsOf(report: ServiceReport): string {
  const addresses = report.addresses.toSorted().join();
  switch (report.kind) {
    case "leading":
      return `leading ${addresses} since ${report.sinceMs}`;
    case "no-link":
      return `no-link ${addresses}`;
    case "not-announced":
      return `not-announced ${addresses} ${report.reason} ${report.sentence}`;
    default:
      return report satisfies never;
  }
}
