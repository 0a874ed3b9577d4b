/**
 * Who may read /metrics, as the API server says: TokenReview, then SubjectAccessReview for `get` on the path. What it said counts
 * for 60 s. Strangers may ask as often as they like: the questions asked for them are bounded, and so is what is remembered.
 */
import { createHash } from "node:crypto";
import type { AccessVerdict } from "../base/access.ts";
import { ArpeggioError } from "../base/errors.ts";
import type { ApiServer } from "./api-server.ts";

export interface AuthorizerOptions {
  readonly api: Pick<ApiServer, "request" | "refreshCredentials">;
  /** Non-resource URL, such as `/metrics`. */
  readonly path: string;
  readonly nowMs: () => number;
}

interface Remembered {
  readonly verdict: AccessVerdict;
  readonly untilMs: number;
}

const REMEMBERED_MS = 60_000;
/** Scrapers: whoever was allowed is asked about first, however many strangers there are. */
const MAX_ALLOWED = 64;
const MAX_REFUSED = 256;
/** Reviews for tokens that were never allowed. */
const STRANGERS_PER_SECOND = 5;
const STRANGERS_AT_ONCE = 10;

const TOKEN_REVIEW = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview" } as const;
const ACCESS_REVIEW = { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview" } as const;
const CREATED = 201;
const UNAUTHORIZED = 401;
const UNAUTHENTICATED: AccessVerdict = { kind: "unauthenticated" };

export class KubernetesAuthorizer {
  readonly #options: AuthorizerOptions;
  /** By the token's hash, oldest first: tokens are not kept. */
  readonly #allowed = new Map<string, Remembered>();
  readonly #refused = new Map<string, Remembered>();
  readonly #asking = new Map<string, Promise<AccessVerdict>>();
  #strangersLeft = STRANGERS_AT_ONCE;
  #refilledMs: number;

  constructor(options: AuthorizerOptions) {
    this.#options = options;
    this.#refilledMs = options.nowMs();
  }

  /** Never rejects. */
  async decide(token: string): Promise<AccessVerdict> {
    const key = createHash("sha256").update(token).digest("base64");
    const held = this.#allowed.get(key) ?? this.#refused.get(key);
    if (held !== undefined && this.#options.nowMs() < held.untilMs) return held.verdict;
    const asking = this.#asking.get(key);
    if (asking !== undefined) return asking;
    if (!this.#allowed.has(key) && !this.#takeStranger()) {
      return { kind: "unknown", sentence: "too many tokens are being tried; come back later" };
    }
    const review = this.#review(token);
    this.#asking.set(key, review);
    const verdict = await review;
    this.#asking.delete(key);
    this.#remember(key, verdict);
    return verdict;
  }

  #remember(key: string, verdict: AccessVerdict): void {
    if (verdict.kind === "unknown") return;
    this.#allowed.delete(key);
    this.#refused.delete(key);
    const [map, most] = verdict.kind === "allowed" ? [this.#allowed, MAX_ALLOWED] : [this.#refused, MAX_REFUSED];
    map.set(key, { verdict, untilMs: this.#options.nowMs() + REMEMBERED_MS });
    for (const oldest of map.keys()) {
      if (map.size <= most) break;
      map.delete(oldest);
    }
  }

  #takeStranger(): boolean {
    const nowMs = this.#options.nowMs();
    const earned = ((nowMs - this.#refilledMs) / 1_000) * STRANGERS_PER_SECOND;
    this.#strangersLeft = Math.min(STRANGERS_AT_ONCE, this.#strangersLeft + earned);
    this.#refilledMs = nowMs;
    if (this.#strangersLeft < 1) return false;
    this.#strangersLeft -= 1;
    return true;
  }

  async #review(token: string): Promise<AccessVerdict> {
    try {
      const review = await this.#create(TOKEN_REVIEW, "tokenreviews", { token });
      if (fieldOf(review, "authenticated") !== true) return UNAUTHENTICATED;
      const user = fieldOf(review, "user");
      const name = fieldOf(user, "username");
      const access = await this.#create(ACCESS_REVIEW, "subjectaccessreviews", {
        user: name,
        uid: fieldOf(user, "uid"),
        groups: fieldOf(user, "groups"),
        extra: fieldOf(user, "extra"),
        nonResourceAttributes: { path: this.#options.path, verb: "get" },
      });
      if (fieldOf(access, "allowed") === true) return { kind: "allowed" };
      return { kind: "forbidden", user: typeof name === "string" ? name : "the user" };
    } catch (error) {
      return { kind: "unknown", sentence: error instanceof Error ? error.message : String(error) };
    }
  }

  /** The status of the review. @throws ERR_API_REFUSED, and what the ApiServer throws when it does not answer */
  async #create(type: typeof TOKEN_REVIEW | typeof ACCESS_REVIEW, resource: string, spec: object): Promise<unknown> {
    const request = { method: "POST", path: `/apis/${type.apiVersion}/${resource}`, body: { ...type, spec } } as const;
    const { api } = this.#options;
    let answer = await api.request(request);
    if (answer.status === UNAUTHORIZED) {
      // Our own token has run out, not the one that is asked about.
      api.refreshCredentials();
      answer = await api.request(request);
    }
    if (answer.status === CREATED) return fieldOf(answer.body, "status");
    const message = fieldOf(answer.body, "message");
    const why = typeof message === "string" ? message : `HTTP status ${answer.status}`;
    throw new ArpeggioError("ERR_API_REFUSED", `the API server does not say who may read this: ${why}`);
  }
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
