/** Events about objects that are given: each is said, in order, unless one subject has too much to say. Whoever gives them knows that they are news. */
import { hash } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import type { Verdict } from "./answers.ts";
import { type EventReporter, type EventSubject, eventRequest, type SaidText } from "./event-object.ts";
import type { Next, WriteSource } from "./planned-write.ts";

export interface SubjectEventsOptions {
  readonly reporter: EventReporter;
  readonly clock: Clock;
  /** Tells the events of this process from those of its predecessors in the same pod. */
  readonly nonce: string;
  /** Whether this process may say anything; asked before each. */
  readonly maySay: () => boolean;
  /** To look at this subject at that time. */
  readonly mark: (subject: string, atMs: number) => void;
}

interface Waiting {
  readonly about: EventSubject;
  readonly texts: readonly { readonly id: number; readonly text: SaidText; readonly wallMs: number }[];
}

/** A subject may say five at once, then one per two minutes: generic cell rate, one number per subject. */
const BURST = 5;
const PER_EVENT_MS = 120_000;
/** Of one subject: of more the oldest are dropped. */
const MAX_WAITING = 5;
/** What comes on top is dropped, and counted. */
const MAX_SUBJECTS = 20_000;
const FORGET_AT = 1_000;
const DIGITS = 16;

export class SubjectEvents implements WriteSource {
  readonly #options: SubjectEventsOptions;
  /** By uid. */
  readonly #waiting = new Map<string, Waiting>();
  /** When the bucket of a subject is full again. */
  readonly #fullAtMs = new Map<string, number>();
  /** So large that table must grow before it is gone through. */
  #forgetAt = FORGET_AT;
  #ids = 0;
  #dropped = 0;

  constructor(options: SubjectEventsOptions) {
    this.#options = options;
  }

  /** Events that found no room, or were refused. */
  get dropped(): number {
    return this.#dropped;
  }

  say(about: EventSubject, text: SaidText): void {
    const { clock, mark } = this.#options;
    const { texts = [] } = this.#waiting.get(about.uid) ?? {};
    if (texts.length === 0 && this.#waiting.size >= MAX_SUBJECTS) {
      this.#dropped++;
      return;
    }
    const all = [...texts, { id: ++this.#ids, text, wallMs: clock.wallMs() }];
    this.#dropped += Math.max(0, all.length - MAX_WAITING);
    this.#waiting.set(about.uid, { about, texts: all.slice(-MAX_WAITING) });
    mark(about.uid, clock.nowMs());
  }

  /** Nothing of what waits is said. */
  clear(): void {
    this.#waiting.clear();
  }

  next(subject: string, nowMs: number): Next {
    const { about, texts = [] } = this.#waiting.get(subject) ?? {};
    const [first] = texts;
    if (about === undefined || first === undefined || !this.#options.maySay()) return {};
    const dueMs = (this.#fullAtMs.get(subject) ?? nowMs) - (BURST - 1) * PER_EVENT_MS;
    if (dueMs > nowMs) return { againAtMs: dueMs };
    const { reporter, nonce } = this.#options;
    const digits = hash("sha256", `${nonce}/${first.id}`, "hex").slice(0, DIGITS);
    const request = eventRequest(about, first.text, { ...reporter, wallMs: first.wallMs, digits });
    const answered = (verdict: Verdict, _body: unknown, atMs: number): void =>
      this.#answered(subject, first.id, verdict, atMs);
    return { write: { request, verb: "create", resource: "events", answered } };
  }

  #answered(subject: string, id: number, verdict: Verdict, nowMs: number): void {
    switch (verdict) {
      case "done":
      // There already: the answer to the first attempt was lost.
      case "conflict":
        break;
      case "gone":
      case "refused":
      case "forbidden":
        this.#dropped++;
        break;
      case "busy":
      case "unauthorized":
        return;
      default:
        verdict satisfies never;
    }
    this.#fill(subject, nowMs);
    const waiting = this.#waiting.get(subject);
    const texts = waiting?.texts.filter((each) => each.id !== id) ?? [];
    if (waiting !== undefined && texts.length > 0) this.#waiting.set(subject, { ...waiting, texts });
    else this.#waiting.delete(subject);
  }

  #fill(subject: string, nowMs: number): void {
    if (this.#fullAtMs.size >= this.#forgetAt) {
      for (const [key, fullAtMs] of this.#fullAtMs) if (fullAtMs <= nowMs) this.#fullAtMs.delete(key);
      this.#forgetAt = Math.max(FORGET_AT, 2 * this.#fullAtMs.size);
    }
    this.#fullAtMs.set(subject, Math.max(this.#fullAtMs.get(subject) ?? nowMs, nowMs) + PER_EVENT_MS);
  }
}
