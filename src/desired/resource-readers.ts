/**
 * A resource of one kind becomes facts, or a sentence that says why not: the same for every source of truth. Pure; validators are
 * compiled when first needed.
 */
import type { TSchema } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import { type EndpointSliceResource, EndpointSliceSchema } from "../../api/endpoint-slice.ts";
import { type IPAddressPoolResource, IPAddressPoolSchema } from "../../api/ip-address-pool.ts";
import { type L2AdvertisementResource, L2AdvertisementSchema } from "../../api/l2-advertisement.ts";
import { type NamespaceResource, NamespaceSchema } from "../../api/namespace.ts";
import { type NodeResource, NodeSchema } from "../../api/node.ts";
import { type ServiceResource, ServiceSchema } from "../../api/service.ts";
import { advertisementFault, poolFault } from "./check-resource.ts";
import { parsePoolEntry } from "./pool-entry.ts";
import {
  advertisementFacts,
  endpointSliceFacts,
  ingressAddresses,
  namespaceFacts,
  nodeFacts,
  poolFacts,
  serviceFacts,
} from "./resource-facts.ts";
import { type Fault, fault, schemaFault } from "./sentence.ts";
import type { SnapshotChange } from "./snapshot-difference.ts";

export interface ReadResource {
  /** What can be used of it; with `fault` only where nothing better is known. */
  readonly change?: SnapshotChange;
  readonly fault?: Fault | undefined;
}

export interface ResourceReader {
  readonly group: string;
  readonly kind: SnapshotChange["kind"];
  readonly isKeyedByNamespace: boolean;
  readonly schema: TSchema;
  /** The value has the form of its schema. */
  read(value: unknown, key: string): ReadResource;
  /** What counts of a value that has not. */
  salvage?(value: unknown, key: string): SnapshotChange;
}

export const RESOURCE_READERS = {
  IPAddressPool: {
    group: "metallb.io",
    kind: "pools",
    isKeyedByNamespace: false,
    schema: IPAddressPoolSchema,
    read: (value, key) => {
      const pool = value as IPAddressPoolResource;
      return { change: { kind: "pools", key, facts: poolFacts(pool) }, fault: poolFault(pool) };
    },
    // A refused pool gives nothing new, but its readable entries go on counting (DESIGN §4).
    salvage: (value, key) => ({
      kind: "pools",
      key,
      facts: { name: key, createdAt: createdAtIn(value), labels: labelsIn(value), ranges: rangesIn(value) },
    }),
  },
  L2Advertisement: {
    group: "metallb.io",
    kind: "advertisements",
    isKeyedByNamespace: false,
    schema: L2AdvertisementSchema,
    read: (value, key) => {
      const advertisement = value as L2AdvertisementResource;
      const found = advertisementFault(advertisement);
      // Half an advertisement would announce where it must not.
      if (found !== undefined) return { fault: found };
      return { change: { kind: "advertisements", key, facts: advertisementFacts(advertisement) } };
    },
  },
  Service: {
    group: "",
    kind: "services",
    isKeyedByNamespace: true,
    schema: ServiceSchema,
    read: (value, key) => {
      const service = value as ServiceResource;
      return { change: { kind: "services", key, facts: serviceFacts(service, ingressAddresses(service)) } };
    },
  },
  EndpointSlice: {
    group: "discovery.k8s.io",
    kind: "endpointSlices",
    isKeyedByNamespace: true,
    schema: EndpointSliceSchema,
    read: (value, key) => {
      const facts = endpointSliceFacts(value as EndpointSliceResource);
      if (facts !== undefined) return { change: { kind: "endpointSlices", key, facts } };
      return { fault: fault(["metadata", "labels", "kubernetes.io/service-name"], undefined, "is missing") };
    },
  },
  Node: {
    group: "",
    kind: "nodes",
    isKeyedByNamespace: false,
    schema: NodeSchema,
    read: (value, key) => ({ change: { kind: "nodes", key, facts: nodeFacts(value as NodeResource) } }),
  },
  Namespace: {
    group: "",
    kind: "namespaces",
    isKeyedByNamespace: false,
    schema: NamespaceSchema,
    read: (value, key) => ({ change: { kind: "namespaces", key, facts: namespaceFacts(value as NamespaceResource) } }),
  },
} as const satisfies Readonly<Record<string, ResourceReader>>;

const validators = new Map<TSchema, Validator>();

/** A value of any form: checked against the schema, then read. `key`: what it is called in the snapshot. */
export function readResource(reader: ResourceReader, value: unknown, key: string): ReadResource {
  const found = resourceFault(reader, value);
  if (found === undefined) return reader.read(value, key);
  const salvaged = reader.salvage?.(value, key);
  return { fault: found, ...(salvaged === undefined ? {} : { change: salvaged }) };
}

/** How a value breaks the schema; undefined when it does not. */
export function resourceFault({ schema }: ResourceReader, value: unknown): Fault | undefined {
  const validator = validatorOf(schema);
  return validator.Check(value) ? undefined : schemaFault(validator.Errors(value), value);
}

function validatorOf(schema: TSchema): Validator {
  const known = validators.get(schema);
  if (known !== undefined) return known;
  const compiled = Compile(schema);
  validators.set(schema, compiled);
  return compiled;
}

/** A BGP kind, of MetalLB and read by nobody here. `title`: kind and name. */
export function notServedSentence(title: string): string {
  return `${title}: BGP is not served, its addresses are announced by ARP and NDP only`;
}

function labelsIn(value: unknown): Readonly<Record<string, string>> {
  const labels = fieldOf(fieldOf(value, "metadata"), "labels");
  if (typeof labels !== "object" || labels === null) return {};
  const readable = Object.entries(labels).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return Object.fromEntries(readable);
}

function createdAtIn(value: unknown): string {
  const createdAt = fieldOf(fieldOf(value, "metadata"), "creationTimestamp");
  return typeof createdAt === "string" ? createdAt : "";
}

function rangesIn(value: unknown) {
  const addresses = fieldOf(fieldOf(value, "spec"), "addresses");
  if (!Array.isArray(addresses)) return [];
  return (addresses as readonly unknown[]).flatMap((text) => {
    const entry = typeof text === "string" ? parsePoolEntry(text) : undefined;
    return entry?.ok === true ? [entry.value] : [];
  });
}

/** Undefined for what is no object, or has no such field of its own. */
export function fieldOf(value: unknown, field: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, field)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[field];
}
