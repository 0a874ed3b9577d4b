/** One document becomes facts, or a sentence that says why not. Pure. */
import { NODE_LABELS } from "../../api/annotations.ts";
import type { NodeResource } from "../../api/node.ts";
import type { ServiceResource } from "../../api/service.ts";
import { annotationProblems } from "../desired/annotation-problems.ts";
import { DEFAULT_NAMESPACE, nodeFacts, serviceFacts } from "../desired/resource-facts.ts";
import {
  fieldOf,
  notServedSentence,
  RESOURCE_READERS,
  type ResourceReader,
  readResource,
  resourceFault,
} from "../desired/resource-readers.ts";
import { type Fault, type FieldPath, fault } from "../desired/sentence.ts";
import type { SnapshotChange } from "../desired/snapshot-difference.ts";
import type { ParsedDocument } from "./parse-documents.ts";
import { addressFault, writtenAddresses } from "./written-addresses.ts";

/** broken: no YAML. refused: not valid. duplicate: named before. not-served: BGP. ignored: none of our kinds. default-stands: it counts, but for an annotation. */
export type ProblemKind = "broken" | "refused" | "duplicate" | "not-served" | "ignored" | "default-stands";

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
  /** As written, where that is kept. */
  readonly value?: unknown;
  /** What can be used of it; with `refusal` only where nothing better is known. */
  readonly change?: SnapshotChange;
  readonly refusal?: Finding;
  /** What is wrong with it though it counts. */
  readonly remarks: readonly Finding[];
}

export interface ReadDocument {
  readonly objects: readonly ReadObject[];
  /** About what is no object of ours. */
  readonly findings: readonly Finding[];
}

/** Beyond what every source reads: what users write who have no cluster that fills it in. */
const READERS: Readonly<Record<string, ResourceReader>> = {
  IPAddressPool: RESOURCE_READERS.IPAddressPool,
  L2Advertisement: RESOURCE_READERS.L2Advertisement,
  Service: {
    ...RESOURCE_READERS.Service,
    read: (value, key) => {
      const service = value as ServiceResource;
      const facts = serviceFacts(service, writtenAddresses(service));
      return { change: { kind: "services", key, facts }, fault: addressFault(service) };
    },
  },
  EndpointSlice: RESOURCE_READERS.EndpointSlice,
  Namespace: RESOURCE_READERS.Namespace,
  Node: {
    ...RESOURCE_READERS.Node,
    read: (value, key) => {
      const facts = nodeFacts(value as NodeResource);
      // Kubelets write it; a user who writes a Node by hand need not.
      const labels = { [NODE_LABELS.hostname]: facts.name, ...facts.labels };
      return { change: { kind: "nodes", key, facts: { ...facts, labels } } };
    },
  },
};

const BGP_KINDS: readonly string[] = ["BGPPeer", "BGPAdvertisement", "BFDProfile", "Community"];

/** Every object of a document: one, or the items of a List. `keepsValues`: with what is written, for who needs more than facts. */
export function readDocument(document: ParsedDocument, keepsValues = false): ReadDocument {
  const objects: ReadObject[] = [];
  const findings: Finding[] = [];
  for (const { value, path } of itemsOf(document.value)) {
    const line = document.lineOf(path);
    const head = headOf(value);
    const reader = Object.hasOwn(READERS, head.kind) ? READERS[head.kind] : undefined;
    if (reader !== undefined && reader.group === head.group) {
      const object = readObject(value, reader, head, (at) => document.lineOf([...path, ...at]));
      objects.push(keepsValues ? { ...object, value } : object);
    } else {
      findings.push({ ...unreadKind(head), line });
    }
  }
  return { objects, findings };
}

function readObject(
  value: unknown,
  reader: ResourceReader,
  head: Head,
  lineOf: (path: FieldPath) => number,
): ReadObject {
  const namespace = head.namespace ?? DEFAULT_NAMESPACE;
  const line = lineOf([]);
  const key = reader.isKeyedByNamespace ? `${namespace}/${head.name}` : head.name;
  const title = `${head.kind} ${reader.kind === "nodes" ? head.name : `${namespace}/${head.name}`}`;
  const name = head.name === undefined ? undefined : { kind: reader.kind, key: key ?? "", title };
  const find = (kind: ProblemKind, { path, sentence }: Fault): Finding => ({
    kind,
    line: lineOf(path),
    sentence: `${name === undefined ? head.kind : title}: ${sentence}`,
  });
  if (name === undefined) {
    const refusal = find("refused", resourceFault(reader, value) ?? fault([], value, "is not valid"));
    return { line, refusal, remarks: [] };
  }
  const { change, fault: found } = readResource(reader, value, name.key);
  const counts = change === undefined ? {} : { change };
  // Of what is refused an older form stands, with its own annotations.
  if (found !== undefined) return { name, line, ...counts, refusal: find("refused", found), remarks: [] };
  const remarks = annotationProblems(reader.kind, value).map((problem) => find("default-stands", problem));
  return { name, line, ...counts, remarks };
}

function unreadKind({ kind, group, name }: Head): Pick<Finding, "kind" | "sentence"> {
  if (kind === "")
    return { kind: "ignored", sentence: "no Kubernetes object (apiVersion and kind are missing): ignored" };
  const title = name === undefined ? kind : `${kind} ${name}`;
  if (group === "metallb.io" && BGP_KINDS.includes(kind)) {
    return { kind: "not-served", sentence: notServedSentence(title) };
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

/** Empty text is no name. */
function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
