/** What the holder of the Lease writes besides Services: numbers of pools, reservations, the ConfigurationState. Which of them is next says a queue. */
import type { PoolNumbers } from "../src/allocator/pool.ts";
import type { ApiRequest } from "../src/kube/api-server.ts";
import type { Verdict } from "../src/kube/write/answers.ts";
import type { Next, PlannedWrite, WriteSource } from "../src/kube/write/planned-write.ts";
import { mergeStatusRequest } from "../src/kube/write/resource-requests.ts";
import type { ReservationLines } from "./cluster-objects.ts";
import { RESERVATIONS } from "./names.ts";

export interface KeptObjectsOptions {
  readonly namespace: string;
  /** Whether this process may write any of it. */
  readonly isHolder: () => boolean;
  readonly reservations: () => ReservationLines | undefined;
  readonly configuration: WriteSource;
}

/** Names in the queue; a pool's begins so, and no name of another thing does. */
const POOL_PREFIX = "pool/";
export const CONFIGURATION_ENTRY = "configuration";
export const RESERVATIONS_ENTRY = "reservations";

/** `IPAddressPool.status` is written at most so often. */
const POOL_INTERVAL_MS = 1_000;
const MANAGER = "arpeggio-controller";
const MERGE_PATCH = "application/merge-patch+json";
const CORE = "/api/v1/namespaces";

export function poolEntry(pool: string): string {
  return POOL_PREFIX + pool;
}

export class KeptObjects implements WriteSource {
  readonly #options: KeptObjectsOptions;
  /** What pools are to show, by name. */
  readonly #numbers = new Map<string, PoolNumbers>();
  readonly #writtenMs = new Map<string, number>();
  #reserved: string | undefined;

  constructor(options: KeptObjectsOptions) {
    this.#options = options;
  }

  setNumbers(pool: string, numbers: PoolNumbers): void {
    this.#numbers.set(pool, numbers);
  }

  setReserved(reserved: string): void {
    this.#reserved = reserved;
  }

  /** What was asked for by a leadership that is over counts no more. */
  clear(): void {
    this.#numbers.clear();
    this.#reserved = undefined;
  }

  next(name: string, nowMs: number): Next {
    if (!this.#options.isHolder()) return {};
    if (name === CONFIGURATION_ENTRY) return this.#options.configuration.next(name, nowMs);
    if (name === RESERVATIONS_ENTRY) return this.#nextReserved();
    return this.#nextNumbers(name.slice(POOL_PREFIX.length), nowMs);
  }

  #nextNumbers(pool: string, nowMs: number): Next {
    const numbers = this.#numbers.get(pool);
    if (numbers === undefined) return {};
    const dueMs = (this.#writtenMs.get(pool) ?? Number.NEGATIVE_INFINITY) + POOL_INTERVAL_MS;
    if (nowMs < dueMs) return { againAtMs: dueMs };
    for (const [name, writtenMs] of this.#writtenMs)
      if (writtenMs + POOL_INTERVAL_MS <= nowMs) this.#writtenMs.delete(name);
    this.#writtenMs.set(pool, nowMs);
    const request = mergeStatusRequest("ipaddresspools", this.#options.namespace, pool, statusOf(numbers), MANAGER);
    const answered = (verdict: Verdict): void => {
      const isOver = verdict === "done" || verdict === "gone";
      if (isOver && this.#numbers.get(pool) === numbers) this.#numbers.delete(pool);
    };
    return { write: { request, verb: "patch", resource: "ipaddresspools/status", answered } };
  }

  #nextReserved(): Next {
    const reserved = this.#reserved;
    if (reserved === undefined) return {};
    const answered = (verdict: Verdict): void => {
      if (verdict === "done" && this.#reserved === reserved) this.#reserved = undefined;
    };
    return { write: this.#reservedWrite(reserved, answered) };
  }

  /** With the version that was read: who holds the Lease no more writes over nobody, and keys of others stay. */
  #reservedWrite(reserved: string, answered: PlannedWrite["answered"]): PlannedWrite {
    const { namespace, reservations } = this.#options;
    const folder = `${CORE}/${encodeURIComponent(namespace)}/configmaps`;
    const known = reservations();
    const [resource, query] = ["configmaps", { fieldManager: MANAGER }];
    if (known === undefined) {
      const metadata = { name: RESERVATIONS, namespace };
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { reserved } };
      const request: ApiRequest = { method: "POST", path: folder, query, body };
      return { request, verb: "create", resource, answered };
    }
    const body = { metadata: { resourceVersion: known.resourceVersion }, data: { reserved } };
    const path = `${folder}/${RESERVATIONS}`;
    const request: ApiRequest = { method: "PATCH", path, query, body, contentType: MERGE_PATCH };
    return { request, verb: "patch", resource, answered };
  }
}

/** ECMAScript's JSON.rawJSON, which Node has and TypeScript's library does not know yet. */
const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => unknown };

/** Numbers in the JSON, whatever their size: the texts are decimal. */
function statusOf(numbers: PoolNumbers): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(numbers).map(([name, text]: [string, string]) => [name, rawJSON(text)]));
}
