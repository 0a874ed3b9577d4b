/** Objects of the API server as the allocator wants them. Pure. */
import { readNodeAddresses } from "../src/allocator/node-addresses.ts";
import { type AllocatorPool, readPool } from "../src/allocator/pool.ts";
import { type AllocatorService, readService } from "../src/allocator/service.ts";
import { fieldOf, RESOURCE_READERS, readResource } from "../src/desired/resource-readers.ts";
import type { NamespaceFacts } from "../src/desired/snapshot.ts";
import { CONTROLLER_KINDS } from "../src/kube/watch/controller-kinds.ts";
import type { WatchedKind } from "../src/kube/watch/watched-kind.ts";
import type { WatchedPod } from "../src/kube/watched.ts";
import type { Ip } from "../src/net/ip.ts";

/** Of a Service in a form that nobody knows: what it has is taken, and nobody decides about it. */
const UNREAD_CLASS = "arpeggio.dev/unread";

export interface ReservationLines {
  readonly reserved: string;
  readonly pinned: string;
  /** The version of the ConfigMap that says so. */
  readonly resourceVersion: string;
}

export interface NamedPod extends WatchedPod {
  readonly labels: Readonly<Record<string, string>>;
}

/** Undefined for what is no object of an API server. */
export function serviceOf(raw: unknown): AllocatorService | undefined {
  const value = typed(CONTROLLER_KINDS.services, raw);
  const { metadata, status } = value;
  const standIn = { ...value, metadata, spec: { type: "LoadBalancer", loadBalancerClass: UNREAD_CLASS }, status };
  return readService(value) ?? readService(standIn);
}

export function poolOf(raw: unknown): AllocatorPool | undefined {
  return readPool(typed(CONTROLLER_KINDS.pools, raw));
}

export function nodeAddressesOf(raw: unknown): readonly Ip[] {
  return readNodeAddresses(CONTROLLER_KINDS.nodes.kept.of(raw));
}

export function namespaceOf(raw: unknown): NamespaceFacts | undefined {
  const value = typed(CONTROLLER_KINDS.namespaces, raw);
  const { change } = readResource(RESOURCE_READERS.Namespace, value, "");
  return change?.kind === "namespaces" ? change.facts : undefined;
}

export function reservationsOf(raw: unknown): ReservationLines {
  const data = fieldOf(raw, "data");
  const [reserved, pinned] = [fieldOf(data, "reserved"), fieldOf(data, "pinned")];
  const resourceVersion = fieldOf(fieldOf(raw, "metadata"), "resourceVersion");
  return { reserved: textOf(reserved), pinned: textOf(pinned), resourceVersion: textOf(resourceVersion) };
}

export function labelsOf(raw: unknown): Readonly<Record<string, string>> {
  const labels = fieldOf(fieldOf(raw, "metadata"), "labels");
  if (typeof labels !== "object" || labels === null) return {};
  const texts = Object.entries(labels).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return Object.fromEntries(texts);
}

/** Items of a list carry neither, and metadata alone says another kind. */
function typed(kind: WatchedKind, raw: unknown): Readonly<Record<string, unknown>> {
  return { ...(kind.kept.of(raw) as object), apiVersion: kind.apiVersion, kind: kind.kind };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
