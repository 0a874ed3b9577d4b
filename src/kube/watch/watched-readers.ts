/** Objects that are written back to, and pods, as the writer wants them. A field of another form than Kubernetes gives is left out. Pure. */
import { fieldOf } from "../../desired/resource-readers.ts";
import { configurationStateOf, l2StatusOf } from "../read-watched.ts";
import type { WatchedConfigurationState, WatchedL2Status, WatchedPod } from "../watched.ts";
import type { ReadValue } from "./object-store.ts";
import type { WatchedKind } from "./watched-kind.ts";

export function l2StatusReader({ kept }: WatchedKind): ReadValue<WatchedL2Status> {
  return (raw, identity) => l2StatusOf(kept.of(raw), identity);
}

export function configurationStateReader({ kept }: WatchedKind): ReadValue<WatchedConfigurationState> {
  return (raw, identity) => configurationStateOf(kept.of(raw), identity);
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

/** Absent when it is empty: Kubernetes leaves out what is. */
function optional<Name extends string>(name: Name, value: unknown): { readonly [Key in Name]?: string } {
  return (typeof value === "string" && value !== "" ? { [name]: value } : {}) as { readonly [Key in Name]?: string };
}
