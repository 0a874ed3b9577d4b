/** What the audit log says became of Services: every form that one of them had, in the order in which they followed each other. */
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { fieldOf } from "../../../src/desired/resource-readers.ts";
import { auditFiles } from "../audit/audit-log.ts";

const NOT_FOUND = 404;

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

/** A delete without an answer that says what became of it, or one that found nothing any more. */
export interface UnclearDelete {
  readonly key: string;
  readonly atMs: number;
  /** 404: somebody had deleted it before. */
  readonly foundNothing: boolean;
}

/** Undefined for what is no such delete. On a machine that is too busy a client gives up, and the API server does it all the same. */
export function parseUnclearDelete(line: string): UnclearDelete | undefined {
  const event = parsed(line);
  const object = fieldOf(event, "objectRef");
  if (fieldOf(object, "resource") !== "services" || fieldOf(event, "verb") !== "delete") return undefined;
  if (fieldOf(event, "stage") !== "ResponseComplete" || parseServiceWrite(line) !== undefined) return undefined;
  return {
    key: `${textOf(object, "namespace")}/${textOf(object, "name")}`,
    atMs: Date.parse(textOf(event, "requestReceivedTimestamp")),
    foundNothing: fieldOf(fieldOf(event, "responseStatus"), "code") === NOT_FOUND,
  };
}

/**
 * `writes`, in order, with the deletes that are known from a later one alone, which found nothing: they were done when they were asked for
 * first, at the earliest.
 */
export function withUnclearDeletes(
  writes: readonly ServiceWrite[],
  deletes: readonly UnclearDelete[],
): readonly ServiceWrite[] {
  const gone = deletes.filter(({ foundNothing }) => foundNothing);
  const added = [...new Set(gone.map(({ key }) => key))].flatMap((key): ServiceWrite[] => {
    const last = writes.findLast((write) => write.key === key);
    if (last === undefined || last.isDeleted) return [];
    const asked = deletes.filter((one) => one.key === key && one.atMs >= last.atMs).map(({ atMs }) => atMs);
    const atMs = asked.length === 0 ? last.atMs : Math.min(...asked);
    const before = writes.findLast((write) => write.atMs <= atMs) ?? last;
    const revision = Math.max(last.revision, before.revision) + 0.5;
    return [{ ...last, atMs, revision, isDeleted: true, user: "", pod: undefined }];
  });
  return [...writes, ...added].toSorted((a, b) => a.revision - b.revision);
}

/** Of the Services that `isWanted` takes, by their namespace, oldest first. */
export async function readServiceWrites(
  auditLog: string,
  isWanted: (namespace: string) => boolean,
): Promise<readonly ServiceWrite[]> {
  const writes: ServiceWrite[] = [];
  const deletes: UnclearDelete[] = [];
  const isMeant = ({ key }: { readonly key: string }) => isWanted(key.split("/")[0] ?? "");
  for (const file of auditFiles(auditLog)) {
    for await (const line of createInterface({ input: createReadStream(file) })) {
      // Most lines are about something else, and parsing is what costs.
      if (!line.includes('"resource":"services"')) continue;
      const write = parseServiceWrite(line);
      if (write !== undefined && isMeant(write)) writes.push(write);
      const unclear = write === undefined ? parseUnclearDelete(line) : undefined;
      if (unclear !== undefined && isMeant(unclear)) deletes.push(unclear);
    }
  }
  return withUnclearDeletes(
    writes.toSorted((a, b) => a.revision - b.revision),
    deletes,
  );
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
