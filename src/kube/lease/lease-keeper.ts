/** The machine of lease.ts with its requests, its timer and the watch's news: one process of several may act, and knows at any moment whether it is the one. */
import type { Clock, Timer } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { ApiAnswer, ApiRequest, ApiServer } from "../api-server.ts";
import { initialLease, isHolder, type LeaseEffect, type LeaseEvent, leaseDeadlineMs, stepLease } from "./lease.ts";
import { buildLease, type LeaseObject, readLease } from "./lease-object.ts";

export interface LeaseKeeperOptions {
  readonly api: Pick<ApiServer, "request" | "refreshCredentials">;
  readonly namespace: string;
  readonly name: string;
  /** Of this process alone. */
  readonly identity: string;
  readonly clock: Clock;
  readonly log: Log;
  /** It holds the Lease now, or does not any more. */
  readonly onChange: () => void;
}

/** Less than what is left of a holder's time after a request that hangs and one more attempt. */
const REQUEST_LIMIT_MS = 3_000;
const GIVE_BACK_LIMIT_MS = 1_000;
const CONFLICT = 409;
const NOT_FOUND = 404;
const UNAUTHORIZED = 401;

export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  #state;
  #timer: Timer | undefined;
  #hasHeld = false;
  #isClosed = false;
  #failure: string | undefined;
  #answered: () => void = () => {};

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
    this.#state = initialLease(options.identity);
  }

  /** By the clock at this very moment, however long this process stood still. */
  get isHolder(): boolean {
    return isHolder(this.#state, this.#options.clock.nowMs());
  }

  /** As it was heard of last; undefined: never, or there is none. */
  get lease(): LeaseObject | undefined {
    return this.#state.observed?.lease;
  }

  /** A sentence: why the last request about it failed; undefined when it did not. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** By a list or a watch; undefined: there is none. Nothing is asked for before the first time. */
  observe(lease: LeaseObject | undefined): void {
    this.#step({ kind: "observed", lease });
  }

  /** Gives it back, if it is held, and does not take it again. Resolves when that was answered, or after a second. */
  async release(): Promise<void> {
    const wasWriting = this.#state.writing !== undefined;
    const isHeld = this.isHolder;
    this.#step({ kind: "release" });
    if (!isHeld && !wasWriting) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#answered = () => {
      if (this.#state.writing === undefined) resolve();
    };
    const limit = this.#options.clock.schedule(GIVE_BACK_LIMIT_MS, resolve);
    await promise;
    limit.cancel();
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  #step(event: LeaseEvent): void {
    if (this.#isClosed) return;
    const { clock } = this.#options;
    const { state, effects } = stepLease(this.#state, event, { nowMs: clock.nowMs(), wallMs: clock.wallMs() });
    this.#state = state;
    for (const effect of effects) void this.#do(effect);
    this.#setTimer();
    this.#answered();
    const holds = this.isHolder;
    if (holds === this.#hasHeld) return;
    this.#hasHeld = holds;
    this.#options.onChange();
  }

  #setTimer(): void {
    const { clock } = this.#options;
    this.#timer?.cancel();
    const dueMs = leaseDeadlineMs(this.#state);
    this.#timer =
      dueMs === undefined ? undefined : clock.schedule(dueMs - clock.nowMs(), () => this.#step({ kind: "tick" }));
  }

  async #do(effect: LeaseEffect): Promise<void> {
    const answer = await this.#ask(effect.kind === "read" ? this.#readRequest() : this.#writeRequest(effect));
    if (effect.kind === "read") {
      const lease = answer?.status === NOT_FOUND ? undefined : leaseOf(answer);
      if (lease !== undefined || answer?.status === NOT_FOUND) this.#step({ kind: "observed", lease });
      return;
    }
    const lease = leaseOf(answer);
    if (lease !== undefined) return this.#step({ kind: "written", lease });
    const why = answer?.status === CONFLICT ? "conflict" : answer?.status === NOT_FOUND ? "absent" : "failed";
    this.#step({ kind: "not-written", why });
  }

  /** Undefined: no answer. */
  async #ask(request: ApiRequest): Promise<ApiAnswer | undefined> {
    const { api } = this.#options;
    try {
      const answer = await api.request({ ...request, limitMs: REQUEST_LIMIT_MS });
      if (answer.status === UNAUTHORIZED) api.refreshCredentials();
      const isWell = answer.status < 400 || answer.status === CONFLICT || answer.status === NOT_FOUND;
      this.#say(isWell ? undefined : `${request.method} ${request.path}: HTTP ${answer.status}`);
      return answer;
    } catch (error) {
      this.#say(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }

  /** Said once, until all is well again. */
  #say(failure: string | undefined): void {
    if (failure !== undefined && this.#failure === undefined) this.#options.log.warn("lease fails", { error: failure });
    if (failure === undefined && this.#failure !== undefined) this.#options.log.info("lease is well again");
    this.#failure = failure;
  }

  #readRequest(): ApiRequest {
    return { method: "GET", path: `${this.#folder()}/${this.#options.name}` };
  }

  #writeRequest({ record, resourceVersion }: Extract<LeaseEffect, { kind: "write" }>): ApiRequest {
    const body = buildLease(this.#options, record, resourceVersion);
    if (resourceVersion === undefined) return { method: "POST", path: this.#folder(), body };
    return { method: "PUT", path: `${this.#folder()}/${this.#options.name}`, body };
  }

  #folder(): string {
    return `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(this.#options.namespace)}/leases`;
  }
}

function leaseOf(answer: ApiAnswer | undefined): LeaseObject | undefined {
  return answer !== undefined && answer.status >= 200 && answer.status < 300 ? readLease(answer.body) : undefined;
}
