/** What an answer of the API server means for whoever wrote. Pure. */
import type { ApiAnswer } from "../api-server.ts";

/**
 * done: as asked. gone: there is no such object (404). conflict: it is another than we thought, or there already (409).
 * forbidden: RBAC. unauthorized: the token is not taken. busy: later, for anybody. refused: the same again will not do.
 */
export type Verdict = "done" | "gone" | "conflict" | "forbidden" | "unauthorized" | "busy" | "refused";

const TOO_MANY_REQUESTS = 429;
const REQUEST_TIMEOUT = 408;
const SERVER_ERROR = 500;

export function judge({ status, body }: ApiAnswer): Verdict {
  if (status >= 200 && status < 300) return "done";
  if (status === TOO_MANY_REQUESTS || status === REQUEST_TIMEOUT || status >= SERVER_ERROR) return "busy";
  if (status === 404) return "gone";
  if (status === 409) return "conflict";
  if (status === 401) return "unauthorized";
  // A namespace that is being deleted refuses what is new with the status of a missing right.
  if (status === 403) return hasCause(body, "NamespaceTerminating") ? "refused" : "forbidden";
  return "refused";
}

/** The sentence of a Kubernetes Status object; empty when there is none. */
export function messageOf(body: unknown): string {
  const message = fieldOf(body, "message");
  return typeof message === "string" ? message : "";
}

function hasCause(body: unknown, reason: string): boolean {
  const causes = fieldOf(fieldOf(body, "details"), "causes");
  return Array.isArray(causes) && causes.some((cause) => fieldOf(cause, "reason") === reason);
}

function fieldOf(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.getOwnPropertyDescriptor(value, key)?.value;
}
