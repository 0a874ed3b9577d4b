/** Objects that are written back to, and pods, as the writer wants them. A field of another form than Kubernetes gives is left out. Pure. */
import { fieldOf } from "../../desired/resource-readers.ts";
import type { OwnerReference, WatchedConfigurationState, WatchedL2Status, WatchedPod } from "../watched.ts";
import type { WatchedKind } from "./kinds.ts";
import type { ReadValue } from "./object-store.ts";

type Texts = Readonly<Record<string, string>>;

export function l2StatusReader(kind: WatchedKind): ReadValue<WatchedL2Status> {
  return (raw, identity) => {
    const value = kind.kept.of(raw);
    const metadata = fieldOf(value, "metadata");
    const status = fieldOf(value, "status");
    const interfaces = itemsOf(fieldOf(status, "interfaces")).map((link) => textOf(fieldOf(link, "name")));
    return {
      ...identity,
      labels: textsOf(fieldOf(metadata, "labels")),
      annotations: textsOf(fieldOf(metadata, "annotations")),
      owners: ownersOf(metadata),
      status: {
        ...optional("node", fieldOf(status, "node")),
        ...optional("serviceName", fieldOf(status, "serviceName")),
        ...optional("serviceNamespace", fieldOf(status, "serviceNamespace")),
        ...(interfaces.length === 0 ? {} : { interfaces }),
      },
    };
  };
}

export function configurationStateReader(kind: WatchedKind): ReadValue<WatchedConfigurationState> {
  return (raw, identity) => {
    const value = kind.kept.of(raw);
    const metadata = fieldOf(value, "metadata");
    const status = fieldOf(value, "status");
    return {
      ...identity,
      labels: textsOf(fieldOf(metadata, "labels")),
      owners: ownersOf(metadata),
      ...optional("result", fieldOf(status, "result")),
      ...optional("errorSummary", fieldOf(status, "errorSummary")),
      conditions: itemsOf(fieldOf(status, "conditions")).map((condition) => ({
        type: textOf(fieldOf(condition, "type")),
        status: textOf(fieldOf(condition, "status")),
        reason: textOf(fieldOf(condition, "reason")),
        message: textOf(fieldOf(condition, "message")),
        lastTransitionTime: textOf(fieldOf(condition, "lastTransitionTime")),
      })),
    };
  };
}

export function podReader(kind: WatchedKind): ReadValue<WatchedPod> {
  return (raw, identity) => {
    const value = kind.kept.of(raw);
    const status = fieldOf(value, "status");
    return {
      ...identity,
      ...optional("podIp", fieldOf(status, "podIP")),
      ...optional("nodeName", fieldOf(fieldOf(value, "spec"), "nodeName")),
      ...optional("phase", fieldOf(status, "phase")),
      isBeingDeleted: fieldOf(fieldOf(value, "metadata"), "deletionTimestamp") !== undefined,
    };
  };
}

function ownersOf(metadata: unknown): readonly OwnerReference[] {
  return itemsOf(fieldOf(metadata, "ownerReferences")).map((owner) => ({
    apiVersion: textOf(fieldOf(owner, "apiVersion")),
    kind: textOf(fieldOf(owner, "kind")),
    name: textOf(fieldOf(owner, "name")),
    uid: textOf(fieldOf(owner, "uid")),
  }));
}

function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Absent when it is empty: Kubernetes leaves out what is. */
function optional<Name extends string>(name: Name, value: unknown): { readonly [Key in Name]?: string } {
  return (typeof value === "string" && value !== "" ? { [name]: value } : {}) as { readonly [Key in Name]?: string };
}

function textsOf(value: unknown): Texts {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}
