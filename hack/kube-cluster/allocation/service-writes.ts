/** What the audit log says became of Services: every form that one of them had, in the order in which they followed each other. */
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { fieldOf } from "../../../src/desired/resource-readers.ts";
import { auditFiles } from "../audit/audit-log.ts";

/** One write that the API server let through, and the Service as it was afterwards. */
export interface ServiceWrite {
  /** Wall time at which the request arrived. */
  readonly atMs: number;
  /** Who wrote: the user, and the Pod whose token it was. */
  readonly user: string;
  readonly pod: string | undefined;
  /** `namespace/name`, and which of those that had this name one after the other. */
  readonly key: string;
  readonly uid: string;
  /** The store's, which numbers all writes of all Services. */
  readonly revision: number;
  readonly isDeleted: boolean;
  readonly type: string;
  /** In its status. */
  readonly addresses: readonly string[];
}

/** Undefined for what is no such write: another resource, a refusal, a write that was told to change nothing. */
export function parseServiceWrite(line: string): ServiceWrite | undefined {
  const event = parsed(line);
  const object = fieldOf(event, "objectRef");
  if (fieldOf(object, "resource") !== "services" || fieldOf(event, "stage") !== "ResponseComplete") return undefined;
  const code = fieldOf(fieldOf(event, "responseStatus"), "code");
  if (typeof code !== "number" || code >= 300 || /[?&]dryRun=/.test(textOf(event, "requestURI"))) return undefined;
  const after = fieldOf(event, "responseObject");
  const metadata = fieldOf(after, "metadata");
  const revision = Number(fieldOf(metadata, "resourceVersion"));
  if (fieldOf(after, "kind") !== "Service" || !Number.isSafeInteger(revision)) return undefined;
  const user = fieldOf(event, "user");
  const pods = fieldOf(fieldOf(user, "extra"), "authentication.kubernetes.io/pod-name");
  return {
    atMs: Date.parse(textOf(event, "requestReceivedTimestamp")),
    user: textOf(user, "username"),
    pod: Array.isArray(pods) ? String(pods[0]) : undefined,
    key: `${textOf(metadata, "namespace")}/${textOf(metadata, "name")}`,
    uid: textOf(metadata, "uid"),
    revision,
    isDeleted: textOf(event, "verb") === "delete",
    type: textOf(fieldOf(after, "spec"), "type"),
    addresses: addressesOf(after),
  };
}

/** Of the Services that `isWanted` takes, by their namespace, oldest first. */
export async function readServiceWrites(
  auditLog: string,
  isWanted: (namespace: string) => boolean,
): Promise<readonly ServiceWrite[]> {
  const writes: ServiceWrite[] = [];
  for (const file of auditFiles(auditLog)) {
    for await (const line of createInterface({ input: createReadStream(file) })) {
      // Most lines are about something else, and parsing is what costs.
      if (!line.includes('"resource":"services"')) continue;
      const write = parseServiceWrite(line);
      if (write !== undefined && isWanted(write.key.split("/")[0] ?? "")) writes.push(write);
    }
  }
  return writes.toSorted((a, b) => a.revision - b.revision);
}

function addressesOf(service: unknown): readonly string[] {
  const ingress = fieldOf(fieldOf(fieldOf(service, "status"), "loadBalancer"), "ingress");
  return Array.isArray(ingress) ? ingress.map((entry) => textOf(entry, "ip")).filter(Boolean) : [];
}

function textOf(value: unknown, key: string): string {
  const field = fieldOf(value, key);
  return typeof field === "string" ? field : "";
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // The server may be writing it just now.
    return undefined;
  }
}
