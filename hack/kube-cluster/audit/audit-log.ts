/** The API server's audit log: one request a line, as the policy in plane-files.ts writes it. */
import { createReadStream, existsSync, readdirSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { createInterface } from "node:readline";

export interface AuditRequest {
  /** The same on every line about one request: a watch has one when it begins and one when it ends. */
  readonly id: string;
  /** Wall time at which it arrived. */
  readonly atMs: number;
  readonly user: string;
  /** Of the pod whose token it was; undefined for any other token. */
  readonly pod: string | undefined;
  readonly verb: string;
  readonly apiGroup: string;
  /** With its subresource, as RBAC writes it: `servicel2statuses/status`. Undefined: no resource was asked for, but `path`. */
  readonly resource: string | undefined;
  /** Undefined: every namespace, or none. */
  readonly namespace: string | undefined;
  readonly path: string;
  /** HTTP status; 0 while there is none. */
  readonly code: number;
  /** What the authorizer said; false when nobody asked it, because the token was not taken. */
  readonly isAllowed: boolean;
}

/** Undefined for what is no line about a request. */
export function parseAuditLine(line: string): AuditRequest | undefined {
  const event = parsed(line);
  const id = textOf(event, "auditID");
  const atMs = Date.parse(textOf(event, "requestReceivedTimestamp"));
  if (id === "" || Number.isNaN(atMs)) return undefined;
  const user = fieldOf(event, "user");
  const object = fieldOf(event, "objectRef");
  const code = fieldOf(fieldOf(event, "responseStatus"), "code");
  const [resource, subresource] = [textOf(object, "resource"), textOf(object, "subresource")];
  const pods = fieldOf(fieldOf(user, "extra"), "authentication.kubernetes.io/pod-name");
  const decision = fieldOf(fieldOf(event, "annotations"), "authorization.k8s.io/decision");
  return {
    id,
    atMs,
    user: textOf(user, "username"),
    pod: Array.isArray(pods) ? String(pods[0]) : undefined,
    verb: textOf(event, "verb"),
    apiGroup: textOf(object, "apiGroup"),
    resource: resource === "" ? undefined : `${resource}${subresource === "" ? "" : `/${subresource}`}`,
    namespace: textOf(object, "namespace") || undefined,
    path: textOf(event, "requestURI").replace(/\?.*/, ""),
    code: typeof code === "number" ? code : 0,
    isAllowed: decision === "allow",
  };
}

/** Every request of these users, once each, oldest first; also from the files that the API server has put aside (`audit-TIME.log`). */
export async function readAuditLog(path: string, users: ReadonlySet<string>): Promise<readonly AuditRequest[]> {
  const requests = new Map<string, AuditRequest>();
  for (const file of auditFiles(path)) {
    for await (const line of createInterface({ input: createReadStream(file) })) {
      const request = parseAuditLine(line);
      if (request !== undefined && users.has(request.user)) requests.set(request.id, request);
    }
  }
  return [...requests.values()].toSorted((a, b) => a.atMs - b.atMs);
}

/** With those that the API server has put aside, the newest last; none when nothing was written yet. */
export function auditFiles(path: string): readonly string[] {
  const [folder, end] = [dirname(path), extname(path)];
  const start = `${basename(path, end)}-`;
  const aside = readdirSync(folder).filter((name) => name.startsWith(start) && name.endsWith(end));
  return [...aside.toSorted().map((name) => join(folder, name)), ...(existsSync(path) ? [path] : [])];
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // The server may be writing it just now.
    return undefined;
  }
}

function textOf(value: unknown, key: string): string {
  const field = fieldOf(value, key);
  return typeof field === "string" ? field : "";
}

function fieldOf(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.getOwnPropertyDescriptor(value, key)?.value;
}
