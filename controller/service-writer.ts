/** Writes what the allocator asks for about Services, some at a time, and says what became of each. */
import { ALLOCATED_CONDITION, SERVICE_ANNOTATIONS } from "../api/annotations.ts";
import type { Effect, WriteAnswer } from "../src/allocator/ports.ts";
import type { StatusChange } from "../src/allocator/reconcile.ts";
import { type Clock, type Timer, waitUntil } from "../src/base/clock.ts";
import { ArpeggioError } from "../src/base/errors.ts";
import type { Log } from "../src/base/log.ts";
import type { ApiAnswer, ApiRequest, EndableApiServer } from "../src/kube/api-server.ts";
import { serviceOf } from "./cluster-objects.ts";

type Write = Extract<Effect, { kind: "write" }>;
type Answer = WriteAnswer extends infer Each
  ? Each extends WriteAnswer
    ? Omit<Each, "kind" | "key" | "id">
    : never
  : never;

export interface ServiceWriterOptions {
  readonly api: EndableApiServer;
  readonly clock: Clock;
  readonly log: Log;
  /** Asked at the last moment before each write. */
  readonly mayWrite: () => boolean;
  readonly answered: (answer: WriteAnswer) => void;
}

/** Counts are this process's. */
export interface ServiceWriterStatus {
  /** Under way, or waiting for their turn. */
  readonly pending: number;
  readonly written: number;
  /** Answers 409: the Service had changed. */
  readonly conflicts: number;
  /** Refused otherwise, or not answered. */
  readonly failed: number;
  /** A sentence, and its wall time; both stay when all is well again. */
  readonly lastError?: string;
  readonly lastErrorWallMs?: number;
}

export const WRITES_AT_ONCE = 16;
/** The server gives up first, so that it says so: what it gave up is not written later. */
const SERVER_LIMIT = "4s";
const ANSWER_LIMIT_MS = 5_000;
const PATCH = "application/strategic-merge-patch+json";

export class ServiceWriter {
  readonly #options: ServiceWriterOptions;
  #waiting: Write[] = [];
  #next = 0;
  #underWay = 0;
  /** What was under way before this counts no more. */
  #term = 0;
  #pause: Timer | undefined;
  #written = 0;
  #conflicts = 0;
  #failed = 0;
  #isFailing = false;
  #lastError: Pick<ServiceWriterStatus, "lastError" | "lastErrorWallMs"> = {};

  constructor(options: ServiceWriterOptions) {
    this.#options = options;
  }

  put(write: Write): void {
    this.#waiting.push(write);
    this.#send();
  }

  /** Forgets what waits, ends what is under way, and tells of neither. */
  drop(): void {
    this.#forget();
    if (this.#underWay > 0) this.#options.api.endConnections();
    this.#underWay = 0;
  }

  /** Forgets what waits, and resolves when nothing is under way, or after so long. */
  async drain(limitMs: number): Promise<void> {
    this.#waiting = [];
    this.#next = 0;
    await waitUntil(this.#options.clock, () => this.#underWay === 0, limitMs);
    this.drop();
  }

  status(): ServiceWriterStatus {
    return {
      pending: this.#underWay + this.#waiting.length - this.#next,
      written: this.#written,
      conflicts: this.#conflicts,
      failed: this.#failed,
      ...this.#lastError,
    };
  }

  #forget(): void {
    this.#waiting = [];
    this.#next = 0;
    this.#term++;
    this.#pause?.cancel();
    this.#pause = undefined;
  }

  #send(): void {
    while (this.#pause === undefined && this.#underWay < WRITES_AT_ONCE) {
      const write = this.#waiting[this.#next];
      if (write === undefined) break;
      this.#next++;
      this.#underWay++;
      void this.#write(write, this.#term);
    }
    if (this.#next < this.#waiting.length) return;
    this.#waiting = [];
    this.#next = 0;
  }

  async #write(write: Write, term: number): Promise<void> {
    const answer = await this.#ask(write);
    if (term !== this.#term) return;
    this.#underWay--;
    const { key, id } = write;
    this.#options.answered({ kind: "written", key, id, ...answer });
    this.#send();
  }

  async #ask(write: Write): Promise<Answer> {
    const { api, mayWrite } = this.#options;
    try {
      const request: ApiRequest = { ...patchRequest(write), limitMs: ANSWER_LIMIT_MS, mayBegin: mayWrite };
      let answer = await api.request(request);
      if (answer.status === 401) {
        api.refreshCredentials();
        answer = await api.request(request);
      }
      return this.#judge(write, answer);
    } catch (error) {
      const isWithheld = error instanceof ArpeggioError && error.code === "ERR_API_WITHHELD";
      if (isWithheld) return { answer: "refused" };
      this.#fail(error instanceof Error ? error.message : String(error));
      return { answer: "unknown" };
    }
  }

  #judge(write: Write, { status, body, retryAfterSeconds }: ApiAnswer): Answer {
    if (status >= 200 && status < 300) {
      const service = serviceOf(body);
      this.#written++;
      if (this.#isFailing) this.#options.log.info("Services can be written again");
      this.#isFailing = false;
      return service === undefined ? { answer: "unknown" } : { answer: "done", service };
    }
    if (status === 409) {
      this.#conflicts++;
      return { answer: "conflict" };
    }
    if (status === 404) return { answer: "gone" };
    this.#fail(`patch services/status of ${write.key}: ${messageOf(body) ?? `HTTP ${status}`}`);
    if (status === 429) this.#rest(retryAfterSeconds ?? 1);
    return { answer: status === 408 || status >= 500 ? "unknown" : "refused" };
  }

  /** The server has too much to do. */
  #rest(seconds: number): void {
    this.#pause ??= this.#options.clock.schedule(seconds * 1_000, () => {
      this.#pause = undefined;
      this.#send();
    });
  }

  #fail(lastError: string): void {
    this.#failed++;
    if (!this.#isFailing) this.#options.log.warn("a Service cannot be written", { error: lastError });
    this.#isFailing = true;
    this.#lastError = { lastError, lastErrorWallMs: this.#options.clock.wallMs() };
  }
}

function patchRequest({ key, uid, resourceVersion, change }: Write): ApiRequest {
  const [namespace = "", name = ""] = key.split("/");
  return {
    method: "PATCH",
    path: `${servicePath(namespace, name)}/status`,
    query: { timeout: SERVER_LIMIT, fieldManager: "arpeggio-controller" },
    contentType: PATCH,
    body: patchOf(uid, resourceVersion, change),
  };
}

export function servicePath(namespace: string, name: string): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/services/${encodeURIComponent(name)}`;
}

/** Strategic: conditions are joined by their type, so that those of others stay; what is not named stays. */
function patchOf(uid: string, resourceVersion: string, { ingress, pool, condition }: StatusChange): unknown {
  const annotations = pool === undefined ? {} : { annotations: { [SERVICE_ANNOTATIONS.allocatedFromPool]: pool } };
  const type = ALLOCATED_CONDITION;
  const status = {
    ...(ingress === undefined ? {} : { loadBalancer: { ingress: ingress.map((ip) => ({ ip })) } }),
    ...(condition === undefined
      ? {}
      : { conditions: [condition === null ? { type, $patch: "delete" } : { type, ...condition }] }),
  };
  return { metadata: { uid, resourceVersion, ...annotations }, status };
}

function messageOf(body: unknown): string | undefined {
  const message = typeof body === "object" && body !== null ? (body as Record<string, unknown>)["message"] : undefined;
  return typeof message === "string" && message !== "" ? message : undefined;
}
