/** One document becomes facts, or a sentence that says why not. Pure; validators are compiled when first needed. */
import type { TSchema } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import { NODE_LABELS } from "../../api/annotations.ts";
import { type EndpointSliceResource, EndpointSliceSchema } from "../../api/endpoint-slice.ts";
import { type IPAddressPoolResource, IPAddressPoolSchema } from "../../api/ip-address-pool.ts";
import { type L2AdvertisementResource, L2AdvertisementSchema } from "../../api/l2-advertisement.ts";
import { type NodeResource, NodeSchema } from "../../api/node.ts";
import { type ServiceResource, ServiceSchema } from "../../api/service.ts";
import { parsePoolEntry } from "../desired/pool-entry.ts";
import {
  advertisementFacts,
  DEFAULT_NAMESPACE,
  endpointSliceFacts,
  nodeFacts,
  poolFacts,
  serviceFacts,
} from "../desired/resource-facts.ts";
import type { SnapshotChange } from "../desired/snapshot-difference.ts";
import { advertisementFault, poolFault } from "./check-resource.ts";
import type { FieldPath, ParsedDocument } from "./parse-documents.ts";
import { type Fault, fault, schemaFault } from "./sentence.ts";
import { addressFault, writtenAddresses } from "./written-addresses.ts";

/** broken: no YAML. refused: not valid. duplicate: named before. not-served: BGP. ignored: none of our kinds. */
export type ProblemKind = "broken" | "refused" | "duplicate" | "not-served" | "ignored";

export interface Finding {
  readonly kind: ProblemKind;
  /** Counted from 1, in the text that was read. */
  readonly line: number;
  readonly sentence: string;
}

type SnapshotKind = SnapshotChange["kind"];

export interface ObjectName {
  readonly kind: SnapshotKind;
  /** The key in the snapshot. */
  readonly key: string;
  /** For sentences: `Service default/web`. */
  readonly title: string;
}

/** An object of a kind that we read. */
export interface ReadObject {
  /** Absent when even the name cannot be read. */
  readonly name?: ObjectName;
  readonly line: number;
  /** What can be used of it; with `refusal` only where nothing better is known. */
  readonly change?: SnapshotChange;
  readonly refusal?: Finding;
}

export interface ReadDocument {
  readonly objects: readonly ReadObject[];
  /** About what is no object of ours. */
  readonly findings: readonly Finding[];
}

interface KindReader {
  readonly group: string;
  readonly kind: SnapshotKind;
  readonly isKeyedByNamespace: boolean;
  /** The value has the form of its schema. */
  read(value: unknown, key: string): { readonly change?: SnapshotChange; readonly fault?: Fault | undefined };
  /** What counts of a value that has not. */
  salvage?(value: unknown, key: string): SnapshotChange;
  readonly schema: TSchema;
}

const READERS: Readonly<Record<string, KindReader>> = {
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
      facts: { name: key, labels: labelsIn(value), ranges: rangesIn(value) },
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
      const facts = serviceFacts(service, writtenAddresses(service));
      return { change: { kind: "services", key, facts }, fault: addressFault(service) };
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
    read: (value, key) => {
      const facts = nodeFacts(value as NodeResource);
      // Kubelets write it; a user who writes a Node by hand need not.
      const labels = { [NODE_LABELS.hostname]: facts.name, ...facts.labels };
      return { change: { kind: "nodes", key, facts: { ...facts, labels } } };
    },
  },
};

const BGP_KINDS: readonly string[] = ["BGPPeer", "BGPAdvertisement", "BFDProfile", "Community"];
const validators = new Map<TSchema, Validator>();

/** Every object of a document: one, or the items of a List. */
export function readDocument(document: ParsedDocument): ReadDocument {
  const objects: ReadObject[] = [];
  const findings: Finding[] = [];
  for (const { value, path } of itemsOf(document.value)) {
    const line = document.lineOf(path);
    const head = headOf(value);
    const reader = Object.hasOwn(READERS, head.kind) ? READERS[head.kind] : undefined;
    if (reader !== undefined && reader.group === head.group) {
      objects.push(readObject(value, reader, head, (at) => document.lineOf([...path, ...at])));
    } else {
      findings.push({ ...unreadKind(head), line });
    }
  }
  return { objects, findings };
}

function readObject(value: unknown, reader: KindReader, head: Head, lineOf: (path: FieldPath) => number): ReadObject {
  const namespace = head.namespace ?? DEFAULT_NAMESPACE;
  const line = lineOf([]);
  const key = reader.isKeyedByNamespace ? `${namespace}/${head.name}` : head.name;
  const title = `${head.kind} ${reader.kind === "nodes" ? head.name : `${namespace}/${head.name}`}`;
  const name = head.name === undefined ? undefined : { kind: reader.kind, key: key ?? "", title };
  const refuse = ({ path, sentence }: Fault): Finding => ({
    kind: "refused",
    line: lineOf(path),
    sentence: `${name === undefined ? head.kind : title}: ${sentence}`,
  });
  const validator = validatorOf(reader.schema);
  if (name === undefined || !validator.Check(value)) {
    const refusal = refuse(schemaFault(validator.Errors(value), value));
    if (name === undefined) return { line, refusal };
    const salvaged = reader.salvage?.(value, name.key);
    return { name, line, refusal, ...(salvaged === undefined ? {} : { change: salvaged }) };
  }
  const { change, fault: found } = reader.read(value, name.key);
  return {
    name,
    line,
    ...(change === undefined ? {} : { change }),
    ...(found === undefined ? {} : { refusal: refuse(found) }),
  };
}

function validatorOf(schema: TSchema): Validator {
  const known = validators.get(schema);
  if (known !== undefined) return known;
  const compiled = Compile(schema);
  validators.set(schema, compiled);
  return compiled;
}

function unreadKind({ kind, group, name }: Head): Pick<Finding, "kind" | "sentence"> {
  if (kind === "")
    return { kind: "ignored", sentence: "no Kubernetes object (apiVersion and kind are missing): ignored" };
  const title = name === undefined ? kind : `${kind} ${name}`;
  if (group === "metallb.io" && BGP_KINDS.includes(kind)) {
    return {
      kind: "not-served",
      sentence: `${title}: BGP is not served, its addresses are announced by ARP and NDP only`,
    };
  }
  return { kind: "ignored", sentence: `${title}: this kind is not read, ignored` };
}

interface Head {
  readonly kind: string;
  readonly group: string;
  readonly name: string | undefined;
  readonly namespace: string | undefined;
}

/** What can be read of any object. */
function headOf(value: unknown): Head {
  const metadata = fieldOf(value, "metadata");
  const apiVersion = textOf(fieldOf(value, "apiVersion")) ?? "";
  return {
    kind: textOf(fieldOf(value, "kind")) ?? "",
    group: apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "",
    name: textOf(fieldOf(metadata, "name")),
    namespace: textOf(fieldOf(metadata, "namespace")),
  };
}

function itemsOf(value: unknown): readonly { readonly value: unknown; readonly path: FieldPath }[] {
  const items = fieldOf(value, "items");
  const isList = (textOf(fieldOf(value, "kind")) ?? "").endsWith("List") && Array.isArray(items);
  if (!isList) return [{ value, path: [] }];
  return (items as readonly unknown[]).map((item, index) => ({ value: item, path: ["items", index] }));
}

function labelsIn(value: unknown): Readonly<Record<string, string>> {
  const labels = fieldOf(fieldOf(value, "metadata"), "labels");
  if (typeof labels !== "object" || labels === null) return {};
  const readable = Object.entries(labels).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return Object.fromEntries(readable);
}

function rangesIn(value: unknown) {
  const addresses = fieldOf(fieldOf(value, "spec"), "addresses");
  if (!Array.isArray(addresses)) return [];
  return (addresses as readonly unknown[]).flatMap((text) => {
    const entry = typeof text === "string" ? parsePoolEntry(text) : undefined;
    return entry?.ok === true ? [entry.value] : [];
  });
}

function fieldOf(value: unknown, field: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, field)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[field];
}

/** Empty text is no name. */
function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
