/** An API server in memory, on a virtual clock: lists with pages, watches with events, and whatever a test has it refuse. */
import type { VirtualClock } from "../../../src/base/clock.ts";
import type { ApiAnswer, ApiRequest, ApiServer, StreamListener } from "../../../src/kube/api-server.ts";

export interface MemoryObject {
  readonly metadata: { readonly name: string; readonly namespace?: string } & Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

interface OpenWatch {
  readonly path: string;
  readonly listener: StreamListener;
}

/** What a request gets instead of an answer; `undefined` in `status`: no connection. */
export interface Refuse {
  readonly status?: number;
  readonly body?: unknown;
}

const LATENCY_MS = 1;

export class MemoryApi implements ApiServer {
  readonly url = "https://192.0.2.1:6443";
  readonly asked: string[] = [];
  refreshes = 0;
  /** Asked for every request before it is answered. */
  refuse: (request: ApiRequest, isWatch: boolean) => Refuse | undefined = () => undefined;
  readonly #clock: VirtualClock;
  readonly #objects = new Map<string, Map<string, MemoryObject>>();
  readonly #watches = new Set<OpenWatch>();
  #version = 100;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  get watches(): readonly string[] {
    return [...this.#watches].map(({ path }) => path).toSorted();
  }

  /** Creates or replaces, with a uid if it has none and a new resourceVersion, and tells the watches. */
  put(path: string, object: MemoryObject): void {
    const collection = this.#collection(path);
    const key = `${object.metadata.namespace ?? ""}/${object.metadata.name}`;
    const known = collection.get(key);
    const stored = this.#stamped(object, known?.metadata["uid"] ?? object.metadata["uid"] ?? `uid-${key}`);
    collection.set(key, stored);
    this.tell(path, { type: known === undefined ? "ADDED" : "MODIFIED", object: stored });
  }

  delete(path: string, name: string, namespace = ""): void {
    const collection = this.#collection(path);
    const object = collection.get(`${namespace}/${name}`);
    collection.delete(`${namespace}/${name}`);
    if (object === undefined) return;
    this.tell(path, { type: "DELETED", object: this.#stamped(object, object.metadata["uid"]) });
  }

  /** A line on every watch of the path. */
  tell(path: string, event: unknown): void {
    const line = typeof event === "string" ? event : JSON.stringify(event);
    for (const watch of this.#watches) if (watch.path === path) watch.listener.data(Buffer.from(`${line}\n`));
  }

  /** Cuts every watch, as a server that goes away does. */
  cut(error = "the answer was cut off"): void {
    for (const watch of this.#watches) {
      this.#watches.delete(watch);
      watch.listener.ended(error);
    }
  }

  stream(request: ApiRequest, listener: StreamListener): () => void {
    const isWatch = request.query?.["watch"] === "true";
    this.asked.push(`${isWatch ? "watch" : "list"} ${request.path}`);
    let watch: OpenWatch | undefined;
    let isEnded = false;
    this.#clock.schedule(LATENCY_MS, () => {
      if (isEnded) return;
      const refused = this.refuse(request, isWatch);
      if (refused !== undefined) this.#answerRefusal(refused, listener);
      else if (isWatch) {
        watch = { path: request.path, listener };
        this.#watches.add(watch);
        listener.opened(200);
      } else this.#answerList(request, listener);
    });
    return () => {
      isEnded = true;
      if (watch !== undefined) this.#watches.delete(watch);
    };
  }

  request(): Promise<ApiAnswer> {
    return Promise.reject(new Error("only streams"));
  }

  refreshCredentials(): void {
    this.refreshes++;
  }

  close(): void {
    this.#watches.clear();
  }

  #answerRefusal({ status, body }: Refuse, listener: StreamListener): void {
    if (status === undefined) return listener.ended("connect ECONNREFUSED");
    listener.opened(status);
    listener.data(Buffer.from(JSON.stringify(body ?? { kind: "Status", message: `says ${status}` })));
    listener.ended();
  }

  #answerList({ path, query = {} }: ApiRequest, listener: StreamListener): void {
    const limit = Number(query["limit"] ?? 500);
    const from = Number(query["continue"] ?? 0);
    const all = [...this.#collection(path).values()];
    const next = from + limit < all.length ? String(from + limit) : "";
    const metadata = { resourceVersion: String(this.#version), continue: next };
    listener.opened(200);
    const text = JSON.stringify({ kind: "List", metadata, items: all.slice(from, from + limit) });
    // In two pieces, split anywhere.
    const bytes = Buffer.from(text);
    const middle = Math.floor(bytes.length / 3);
    listener.data(bytes.subarray(0, middle));
    listener.data(bytes.subarray(middle));
    listener.ended();
  }

  #collection(path: string): Map<string, MemoryObject> {
    const known = this.#objects.get(path) ?? new Map<string, MemoryObject>();
    this.#objects.set(path, known);
    return known;
  }

  #stamped(object: MemoryObject, uid: unknown): MemoryObject {
    this.#version++;
    return { ...object, metadata: { ...object.metadata, uid, resourceVersion: String(this.#version) } };
  }
}
