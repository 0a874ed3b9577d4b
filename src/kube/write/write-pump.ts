/** Sends what a source plans, within a queue's limits, and judges the answers. Nobody waits for it. */
import { type Clock, type Timer, waitUntil } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { ApiAnswer, ApiServer } from "../api-server.ts";
import { judge, messageOf, type Verdict } from "./answers.ts";
import type { PlannedWrite, WriteSource } from "./planned-write.ts";
import type { WriteQueue } from "./write-queue.ts";

export interface WritePumpOptions {
  readonly api: ApiServer;
  readonly clock: Clock;
  readonly log: Log;
  readonly queue: WriteQueue;
  readonly source: WriteSource;
  /** Where the objects lie, for the sentence about a missing right. */
  readonly place: string;
}

export interface WritePumpStatus {
  /** Names that are looked at, or wait for it. */
  readonly pending: number;
  /** Requests that changed something. */
  readonly written: number;
  /** Answers that were not as wished for, and requests without one. */
  readonly failed: number;
  readonly isApiAway: boolean;
  /** A sentence, and its wall time; both stay when all is well again. */
  readonly lastError?: string;
  readonly lastErrorWallMs?: number;
  /** Sentences. */
  readonly missingRights: readonly string[];
}

/** A right is granted by somebody; until then one question a minute is enough. */
const FORBIDDEN_MS = 60_000;
/** The same object will be refused again, unless something changes meanwhile. */
const REFUSED_MS = 5_000;

export class WritePump {
  readonly #options: WritePumpOptions;
  readonly #missingRights = new Set<string>();
  readonly #refusals = new Set<string>();
  /** What was written last, while its name still goes on. */
  readonly #done = new Map<string, string>();
  #timer: Timer | undefined;
  #isClosed = false;
  #hasFreshToken = false;
  #isAway = false;
  #written = 0;
  #failed = 0;
  #lastError: { readonly lastError: string; readonly lastErrorWallMs: number } | undefined;

  constructor(options: WritePumpOptions) {
    this.#options = options;
  }

  mark(name: string, atMs?: number): void {
    if (this.#isClosed) return;
    const nowMs = this.#options.clock.nowMs();
    this.#options.queue.mark(name, nowMs, atMs);
    this.#arm(nowMs);
  }

  status(): WritePumpStatus {
    return {
      pending: this.#options.queue.size,
      written: this.#written,
      failed: this.#failed,
      isApiAway: this.#isAway,
      ...this.#lastError,
      missingRights: [...this.#missingRights].toSorted(),
    };
  }

  /** Writes what is due, for so long at most, then closes. */
  async drain(limitMs: number): Promise<void> {
    await waitUntil(this.#options.clock, () => this.#options.queue.isAtRest, limitMs);
    this.close();
  }

  /** Requests under way are not waited for; their answers are dropped. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  #arm(nowMs: number): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    const nextMs = this.#options.queue.nextMs(nowMs);
    if (nextMs === undefined) return;
    this.#timer = this.#options.clock.schedule(nextMs - nowMs, () => this.#run());
  }

  #run(): void {
    if (this.#isClosed) return;
    const { clock, queue, source } = this.#options;
    const nowMs = clock.nowMs();
    for (let name = queue.take(nowMs); name !== undefined; name = queue.take(nowMs)) {
      const { write, againAtMs } = source.next(name, nowMs);
      if (write === undefined) {
        this.#done.delete(name);
        queue.idle(name, nowMs, againAtMs);
      } else {
        this.#begin(name, write, nowMs);
      }
    }
    this.#arm(nowMs);
  }

  #begin(name: string, write: PlannedWrite, nowMs: number): void {
    const { api, queue } = this.#options;
    if (this.#done.get(name) === JSON.stringify(write.request)) {
      // Accepted, and not kept: an admission hook or an old CRD. Without this it would be written for ever.
      this.#done.delete(name);
      this.#fail(write, "the API server accepts it and does not keep it");
      queue.failed(name, nowMs, FORBIDDEN_MS);
      return;
    }
    api.request(write.request).then(
      (answer) => this.#answered(name, write, answer),
      (error: unknown) => this.#unanswered(name, error),
    );
  }

  #answered(name: string, write: PlannedWrite, answer: ApiAnswer): void {
    if (this.#isClosed) return;
    const nowMs = this.#options.clock.nowMs();
    const verdict = judge(answer);
    if (verdict === "done") this.#succeeded(name, write);
    else this.#fail(write, sentenceOf(answer));
    write.answered(verdict, answer.body, nowMs);
    this.#settle(name, write, verdict, answer, nowMs);
    this.#arm(nowMs);
  }

  #settle(name: string, write: PlannedWrite, verdict: Verdict, answer: ApiAnswer, nowMs: number): void {
    const { api, queue } = this.#options;
    switch (verdict) {
      case "done":
        queue.progressed(name, write.request.method !== "GET");
        return;
      case "gone":
      case "conflict":
        queue.failed(name, nowMs);
        return;
      case "forbidden":
        this.#miss(write);
        queue.failed(name, nowMs, FORBIDDEN_MS);
        return;
      case "refused":
        this.#refuse(write, answer);
        queue.failed(name, nowMs, REFUSED_MS);
        return;
      case "unauthorized":
        api.refreshCredentials();
        // The token file may have been replaced just now: once at once, then as if the server were away.
        queue.postponed(name, nowMs, this.#hasFreshToken ? undefined : 0);
        this.#hasFreshToken = true;
        return;
      case "busy":
        this.#sayAway(sentenceOf(answer));
        queue.postponed(name, nowMs, msOf(answer.retryAfterSeconds));
        return;
    }
  }

  #unanswered(name: string, error: unknown): void {
    if (this.#isClosed) return;
    const { clock, queue } = this.#options;
    const nowMs = clock.nowMs();
    const sentence = error instanceof Error ? error.message : String(error);
    this.#countFailure(sentence);
    this.#sayAway(sentence);
    queue.postponed(name, nowMs);
    this.#arm(nowMs);
  }

  #succeeded(name: string, write: PlannedWrite): void {
    if (this.#isAway) this.#options.log.info("API server takes writes again");
    this.#isAway = false;
    this.#hasFreshToken = false;
    this.#missingRights.delete(this.#right(write));
    this.#refusals.delete(`${write.verb} ${write.resource}`);
    if (write.request.method === "GET") return;
    this.#written++;
    this.#done.set(name, JSON.stringify(write.request));
  }

  #sayAway(error: string): void {
    if (!this.#isAway) this.#options.log.warn("API server takes no writes", { error });
    this.#isAway = true;
  }

  #fail(write: PlannedWrite, sentence: string): void {
    this.#countFailure(`${write.verb} ${write.resource}: ${sentence}`);
  }

  #countFailure(lastError: string): void {
    this.#failed++;
    this.#lastError = { lastError, lastErrorWallMs: this.#options.clock.wallMs() };
  }

  #miss(write: PlannedWrite): void {
    const right = this.#right(write);
    if (this.#missingRights.has(right)) return;
    this.#missingRights.add(right);
    this.#options.log.warn("missing right", { verb: write.verb, resource: write.resource, place: this.#options.place });
  }

  #refuse(write: PlannedWrite, answer: ApiAnswer): void {
    const what = `${write.verb} ${write.resource}`;
    if (this.#refusals.has(what)) return;
    this.#refusals.add(what);
    this.#options.log.warn("API server refuses a write", { ...fieldsOf(write), error: sentenceOf(answer) });
  }

  #right(write: PlannedWrite): string {
    return `may not ${write.verb} ${write.resource} ${this.#options.place}`;
  }
}

function fieldsOf({ verb, resource }: PlannedWrite): { readonly verb: string; readonly resource: string } {
  return { verb, resource };
}

function sentenceOf(answer: ApiAnswer): string {
  return messageOf(answer.body) || `HTTP ${answer.status}`;
}

function msOf(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1_000;
}
