/** Events about Services and pools: MetalLB's reasons and the beginnings of its sentences, because tools search them. Pure. */
import type { Ip } from "../net/ip.ts";
import { heldAddresses, type Note, type Verdict } from "./decide.ts";
import { refusalText } from "./refusal-text.ts";
import { annotationRemarks } from "./requests.ts";
import { type AllocatorService, keyOf } from "./service.ts";

export interface EventText {
  readonly type: "Normal" | "Warning";
  /** As MetalLB spells them, spaces included. */
  readonly reason:
    | "IPAllocated"
    | "AllocationFailed"
    | "ClearAssignment"
    | "AdditionalAssignFailed"
    | "LoadBalancerFailed"
    | "not enough clusterips"
    | "nolbIPsIPFamily"
    | "noclusterIPsIPFamily"
    | "deprecatedAnnotation"
    | "conflictingAnnotations"
    | "poolContainsNodeAddress";
  readonly message: string;
}

export function eventTexts(service: AllocatorService, verdict: Verdict): readonly EventText[] {
  return [
    ...remarkTexts(service),
    ...verdict.notes.map((note) => noteText(service, note)),
    ...outcomeTexts(service, verdict),
  ];
}

export function nodeAddressText(pool: string, address: Ip, node: string): EventText {
  const message = `IPAddressPool ${pool} contains ${address}, an address of Node ${node} itself: it is not given to a Service; take it out of the pool`;
  return { type: "Warning", reason: "poolContainsNodeAddress", message };
}

function remarkTexts(service: AllocatorService): readonly EventText[] {
  const { deprecated, conflicting } = annotationRemarks(service);
  return [
    ...deprecated.map(([old, key]): EventText => {
      return warning("deprecatedAnnotation", `Service uses deprecated annotation ${old}: write ${key} instead`);
    }),
    ...conflicting.map(([old, key]): EventText => {
      const message = `Service has annotations ${key} and ${old} with different values: ${key} counts; remove ${old}`;
      return warning("conflictingAnnotations", message);
    }),
  ];
}

function noteText(service: AllocatorService, note: Note): EventText {
  const key = keyOf(service);
  switch (note.kind) {
    case "status-unusable":
      return warning(
        "nolbIPsIPFamily",
        `Failed to retrieve LBIPs IPFamily for ${goList(note.ingress)}: status.loadBalancer.ingress of "${key}" must be at most one address of each family; it is replaced`,
      );
    case "taken-away":
      return {
        type: "Normal",
        reason: "ClearAssignment",
        message: `current IP for "${key}" not allowed by config, will attempt for new IP assignment: ${refusalText(note.why)}`,
      };
    case "second-family-missing":
      return {
        type: "Normal",
        reason: "AdditionalAssignFailed",
        message: `cannot assign additional IP in PreferDualStack: ${refusalText(note.why)}`,
      };
    case "second-family-added":
      return { type: "Normal", reason: "IPAllocated", message: `Assigned additional IP "${note.address}"` };
    default:
      return note satisfies never;
  }
}

function outcomeTexts(service: AllocatorService, { addresses, refusal, notes }: Verdict): readonly EventText[] {
  const key = keyOf(service);
  if (refusal?.reason === "not-enough-cluster-ips") {
    const message = `Service requires dual stack but not enough clusterips [${refusal.clusterIps.join(" ")}]: use PreferDualStack, or give the cluster a second Service range`;
    return [warning("not enough clusterips", message)];
  }
  if (refusal?.reason === "cluster-ips-unreadable") {
    const message = `Failed to retrieve ClusterIPs IPFamily for "${key}": ${refusalText(refusal)}`;
    return [warning("noclusterIPsIPFamily", message)];
  }
  if (refusal !== undefined && addresses.length > 0 && isMalformed(refusal.reason))
    return [warning("LoadBalancerFailed", `invalid requested loadbalancer IPs: ${refusalText(refusal)}`)];
  if (refusal !== undefined)
    return [warning("AllocationFailed", `Failed to allocate IP for "${key}": ${refusalText(refusal)}`)];
  const held = heldAddresses(service.ingress) ?? [];
  const isNew = addresses.some((ip) => !held.includes(ip)) && notes.every(({ kind }) => kind !== "second-family-added");
  return isNew ? [{ type: "Normal", reason: "IPAllocated", message: `Assigned IP ${goList(addresses)}` }] : [];
}

/** The request cannot be read; every other refusal is one of a request that can. */
function isMalformed(reason: string): boolean {
  return reason === "addresses-asked-twice" || reason.startsWith("asked-for-");
}

function warning(reason: EventText["reason"], message: string): EventText {
  return { type: "Warning", reason, message };
}

/** As Go prints a list of quoted texts. */
function goList(texts: readonly string[]): string {
  return `[${texts.map((text) => JSON.stringify(text)).join(" ")}]`;
}
