/**
 * What an allocator wrote about an object of a folder, beside the manifest that a user wrote: one file in `.status` for each (its
 * status, and what the API server would have filled in). It is laid over the manifest of the same kind, namespace and name. Pure.
 */
import { stringify } from "yaml";
import { SERVICE_ANNOTATIONS } from "../../api/annotations.ts";
import { DEFAULT_NAMESPACE } from "../desired/resource-facts.ts";
import { fieldOf } from "../desired/resource-readers.ts";
import type { SnapshotChange } from "../desired/snapshot-difference.ts";
import { parseChunk } from "./parse-documents.ts";

export interface Overlay {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** Of these only the allocator's own are laid over. */
  readonly annotations: Readonly<Record<string, string>>;
  /** When the object was first seen, unless its manifest says when it was made: RFC 3339. */
  readonly createdAt: string;
  readonly status: unknown;
}

/** By kind and key, as the snapshot has them: `services default/web`, `pools main`. */
export type Overlays = ReadonlyMap<string, Overlay>;

export function overlayKey({ kind, namespace, name }: Pick<Overlay, "kind" | "namespace" | "name">): string {
  if (kind === "IPAddressPool") return `pools ${name}`;
  return `${kind === "Service" ? "services" : kind} ${namespace}/${name}`;
}

/** `service.default.web.yaml`. Whatever stands in a name, it is the name of a file of this folder. */
export function overlayFileName({ kind, namespace, name }: Pick<Overlay, "kind" | "namespace" | "name">): string {
  return `${kind.toLowerCase()}.${escaped(namespace).replaceAll(".", "%2E")}.${escaped(name)}.yaml`;
}

export function formatOverlay({ apiVersion, kind, namespace, name, annotations, createdAt, status }: Overlay): string {
  const metadata = { name, namespace, annotations, creationTimestamp: createdAt };
  return stringify({ apiVersion, kind, metadata, status }, { lineWidth: 0 });
}

/** Undefined for what no allocator wrote. */
export function parseOverlay(text: string): Overlay | undefined {
  const parsed = parseChunk(text);
  const value = parsed.ok && parsed.documents.length === 1 ? parsed.documents[0]?.value : undefined;
  const metadata = fieldOf(value, "metadata");
  const status = fieldOf(value, "status");
  const name = fieldOf(metadata, "name");
  const [apiVersion, kind] = [fieldOf(value, "apiVersion"), fieldOf(value, "kind")];
  if (typeof apiVersion !== "string" || typeof kind !== "string" || typeof name !== "string") return undefined;
  if (typeof status !== "object" || status === null) return undefined;
  return {
    apiVersion,
    kind,
    namespace: textOf(fieldOf(metadata, "namespace")) || DEFAULT_NAMESPACE,
    name,
    annotations: textsOf(fieldOf(metadata, "annotations")),
    createdAt: textOf(fieldOf(metadata, "creationTimestamp")),
    status,
  };
}

/** The manifest as an API server would show it. The allocator's annotation is its own: one in the manifest was exported with it. */
export function laidOver(manifest: unknown, overlay: Overlay): unknown {
  const metadata = fieldOf(manifest, "metadata");
  const { [SERVICE_ANNOTATIONS.allocatedFromPool]: _exported, ...annotations } = textsOf(
    fieldOf(metadata, "annotations"),
  );
  return {
    ...objectOf(manifest),
    metadata: {
      ...objectOf(metadata),
      creationTimestamp: textOf(fieldOf(metadata, "creationTimestamp")) || overlay.createdAt,
      annotations: { ...annotations, ...overlay.annotations },
    },
    status: overlay.status,
  };
}

/** The facts of an object, with what an allocator says: its addresses win over whatever the manifest asks for. */
export function overlaid(change: SnapshotChange, overlay: Overlay | undefined): SnapshotChange {
  if (overlay === undefined || change.facts === undefined) return change;
  if (change.kind === "pools") {
    return { ...change, facts: { ...change.facts, createdAt: change.facts.createdAt || overlay.createdAt } };
  }
  if (change.kind !== "services") return change;
  const given = fieldOf(overlay.status, "loadBalancer");
  const { facts } = change;
  const addresses = given === undefined ? facts.addresses : addressesIn(fieldOf(given, "ingress"));
  return { ...change, facts: { ...facts, addresses, createdAt: facts.createdAt || overlay.createdAt } };
}

function addressesIn(ingress: unknown): readonly string[] {
  if (!Array.isArray(ingress)) return [];
  return (ingress as readonly unknown[]).map((entry) => textOf(fieldOf(entry, "ip")));
}

function escaped(text: string): string {
  return encodeURIComponent(text);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function textsOf(value: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(objectOf(value)).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

function objectOf(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}
