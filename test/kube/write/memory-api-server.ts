/**
 * An API server in memory, as far as writers notice: create, merge patch, apply, delete with a uid, 404 and 409, versions, the status
 * subresource, the schema's immutable fields. What it was asked stands in `requests`.
 */
import { ArpeggioError } from "../../../src/base/errors.ts";
import type { ApiAnswer, ApiRequest, ApiServer } from "../../../src/kube/api-server.ts";

type Fields = Record<string, unknown>;

export interface StoredObject extends Fields {
  readonly metadata: Fields & { readonly name: string; readonly uid: string; readonly resourceVersion: string };
}

const WITH_STATUS = new Set(["servicel2statuses", "configurationstates"]);
const IMMUTABLE = ["node", "serviceName", "serviceNamespace"];

export class MemoryApiServer implements ApiServer {
  readonly url = "memory:";
  readonly requests: ApiRequest[] = [];
  /** An answer instead of the usual one; undefined: the usual one. "away": no answer at all. */
  trouble: ((request: ApiRequest) => ApiAnswer | "away" | undefined) | undefined;
  /** Called after every change. */
  changed: (() => void) | undefined;
  refreshes = 0;
  /** By `resource/namespace/name`. */
  readonly #objects = new Map<string, StoredObject>();
  #version = 100;
  #uids = 0;

  get writes(): ApiRequest[] {
    return this.requests.filter(({ method }) => method !== "GET");
  }

  list(resource: string): StoredObject[] {
    return [...this.#objects].filter(([key]) => key.startsWith(`${resource}/`)).map(([, object]) => object);
  }

  /** Somebody else's write of a whole object. */
  put(resource: string, namespace: string, object: Fields): StoredObject {
    const { name } = fieldsOf(object["metadata"]);
    return this.#store(`${resource}/${namespace}/${String(name)}`, object);
  }

  /** Somebody else's delete. */
  remove(resource: string, namespace: string, name: string): void {
    this.#objects.delete(`${resource}/${namespace}/${name}`);
    this.#version++;
    this.changed?.();
  }

  request(request: ApiRequest): Promise<ApiAnswer> {
    this.requests.push(request);
    const trouble = this.trouble?.(request);
    if (trouble === "away") return Promise.reject(new ArpeggioError("ERR_API_UNREACHABLE", "no answer"));
    return Promise.resolve(structuredClone(trouble ?? this.#answer(request)));
  }

  stream(): () => void {
    throw new Error("no writer asks for a stream");
  }

  refreshCredentials(): void {
    this.refreshes++;
  }

  close(): void {
    this.#objects.clear();
  }

  #answer(request: ApiRequest): ApiAnswer {
    const match = /^\/apis?\/.*?\/?namespaces\/([^/]+)\/([^/]+)(?:\/([^/]+))?(\/status)?$/.exec(request.path);
    if (match === null) return refusal(404, "the server could not find the requested resource");
    const [, namespace = "", resource = "", name = "", subresource] = match;
    if (request.method === "POST") return this.#create(resource, namespace, fieldsOf(request.body));
    const key = `${resource}/${namespace}/${name}`;
    const object = this.#objects.get(key);
    if (object === undefined) return refusal(404, `${resource} "${name}" not found`);
    if (request.method === "GET") return { status: 200, body: object };
    if (request.method === "DELETE") return this.#delete(key, object, fieldsOf(request.body));
    return this.#patch(key, object, subresource !== undefined, request);
  }

  #create(resource: string, namespace: string, body: Fields): ApiAnswer {
    const key = `${resource}/${namespace}/${String(fieldsOf(body["metadata"])["name"])}`;
    if (this.#objects.has(key)) return refusal(409, `${key} already exists`);
    const object = { ...body };
    if (WITH_STATUS.has(resource)) delete object["status"];
    return { status: 201, body: this.#store(key, object) };
  }

  #delete(key: string, object: StoredObject, options: Fields): ApiAnswer {
    const { uid } = fieldsOf(options["preconditions"]);
    if (uid !== undefined && uid !== object.metadata.uid) return refusal(409, "Precondition failed: UID");
    this.#objects.delete(key);
    this.#version++;
    this.changed?.();
    return { status: 200, body: { kind: "Status", status: "Success" } };
  }

  #patch(key: string, object: StoredObject, isStatus: boolean, request: ApiRequest): ApiAnswer {
    const patch = fieldsOf(request.body);
    const isApply = request.contentType === "application/apply-patch+yaml";
    if (!isApply && request.contentType !== "application/merge-patch+json") return refusal(415, "unsupported media");
    // What one owner applies replaces what it applied before; the writers are the only owner here.
    const status = isApply ? fieldsOf(patch["status"]) : fieldsOf(merge(object["status"], patch["status"]));
    const before = fieldsOf(object["status"]);
    if (isStatus && IMMUTABLE.some((field) => before[field] !== undefined && before[field] !== status[field])) {
      return refusal(422, "Value is immutable");
    }
    const metadata = { metadata: patch["metadata"] };
    const merged = isStatus ? { ...object, status } : fieldsOf(merge(object, metadata));
    const isSame = JSON.stringify(merged) === JSON.stringify(object);
    return { status: 200, body: isSame ? object : this.#store(key, merged) };
  }

  #store(key: string, object: Fields): StoredObject {
    const metadata = fieldsOf(object["metadata"]);
    const [, namespace = ""] = key.split("/");
    const { name, uid = `uid-${++this.#uids}` } = metadata;
    const resourceVersion = String(++this.#version);
    const own = { namespace, name: String(name), uid: String(uid), resourceVersion };
    const stored: StoredObject = { ...object, metadata: { ...metadata, ...own } };
    this.#objects.set(key, stored);
    this.changed?.();
    return stored;
  }
}

/** RFC 7396. */
function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const merged = fieldsOf(target);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = merge(merged[key], value);
  }
  return merged;
}

function refusal(status: number, message: string): ApiAnswer {
  return { status, body: { kind: "Status", status: "Failure", message } };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}
