/** A Service as the allocator needs it, and how a resource is read. Pure. */
import { ALLOCATED_CONDITION } from "../../api/annotations.ts";
import type { ServiceResource } from "../../api/service.ts";
import { createdMsOf } from "../desired/creation.ts";
import { serviceFacts } from "../desired/resource-facts.ts";
import { fieldOf, RESOURCE_READERS, resourceFault } from "../desired/resource-readers.ts";
import type { ServiceFacts } from "../desired/snapshot.ts";
import { compareText } from "../desired/text-order.ts";

/** `namespace/name` */
export type ServiceKey = string;

/** Of two Services the one that was created first, then the first by name, is the older. */
export interface Age {
  readonly createdMs: number;
  readonly key: ServiceKey;
}

export interface AllocatorService extends Omit<ServiceFacts, "addresses" | "hasSharingKey"> {
  readonly uid: string;
  /** What a write is made conditional on. */
  readonly resourceVersion: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** As written; of a Service without `spec.clusterIPs` its `spec.clusterIP`. */
  readonly clusterIps: readonly string[];
  /** `spec.ipFamilies`, as written: the first is the primary one. */
  readonly ipFamilies: readonly string[];
  /** SingleStack, PreferDualStack or RequireDualStack; empty when it is not written. */
  readonly ipFamilyPolicy: string;
  /** `spec.loadBalancerIP`: the API server accepts any text. */
  readonly loadBalancerIp: string;
  /** Such as `TCP/80`, each once. */
  readonly ports: readonly string[];
  readonly selector: Readonly<Record<string, string>>;
  /** `status.loadBalancer.ingress[].ip` in order, as written. */
  readonly ingress: readonly string[];
  /** Some entry of the status has a host name and no address. */
  readonly hasHostnames: boolean;
  /** Ours, as it stands. */
  readonly condition?: Condition;
}

export interface Condition {
  readonly status: "True" | "False" | "Unknown";
  /** UpperCamelCase. */
  readonly reason: string;
  readonly message: string;
  /** RFC 3339, to the second. */
  readonly lastTransitionTime: string;
}

/** Undefined for what does not pass the schema of a Service, or lacks what every object of an API server has. */
export function readService(value: unknown): AllocatorService | undefined {
  if (resourceFault(RESOURCE_READERS.Service, value) !== undefined) return undefined;
  const resource = value as ServiceResource;
  const { addresses: _addresses, hasSharingKey: _key, ...facts } = serviceFacts(resource, []);
  const metadata = fieldOf(value, "metadata");
  const spec = fieldOf(value, "spec");
  const ingress = resource.status?.loadBalancer?.ingress ?? [];
  const clusterIps = textsOf(fieldOf(spec, "clusterIPs"));
  const clusterIp = textOf(fieldOf(spec, "clusterIP"));
  const condition = conditionOf(fieldOf(fieldOf(value, "status"), "conditions"));
  return {
    ...facts,
    uid: textOf(fieldOf(metadata, "uid")),
    resourceVersion: textOf(fieldOf(metadata, "resourceVersion")),
    annotations: resource.metadata.annotations ?? {},
    clusterIps: clusterIps.length === 0 && clusterIp !== "" ? [clusterIp] : clusterIps,
    ipFamilies: textsOf(fieldOf(spec, "ipFamilies")),
    ipFamilyPolicy: textOf(fieldOf(spec, "ipFamilyPolicy")),
    loadBalancerIp: textOf(fieldOf(spec, "loadBalancerIP")),
    ports: portsOf(fieldOf(spec, "ports")),
    selector: selectorOf(fieldOf(spec, "selector")),
    ingress: ingress.flatMap(({ ip }) => (typeof ip === "string" && ip !== "" ? [ip] : [])),
    hasHostnames: ingress.some(({ ip }) => typeof ip !== "string" || ip === ""),
    ...(condition === undefined ? {} : { condition }),
  };
}

/** For the order of Services. */
export function ageOf(service: Pick<AllocatorService, "namespace" | "name" | "createdAt">): Age {
  return { key: keyOf(service), createdMs: createdMsOf(service.createdAt) };
}

export function compareAge(a: Age, b: Age): number {
  return a.createdMs - b.createdMs || compareText(a.key, b.key);
}

export function keyOf({ namespace, name }: Pick<AllocatorService, "namespace" | "name">): ServiceKey {
  return `${namespace}/${name}`;
}

function portsOf(ports: unknown): readonly string[] {
  const all = listOf(ports).map(
    (port) => `${textOf(fieldOf(port, "protocol")) || "TCP"}/${String(fieldOf(port, "port"))}`,
  );
  return [...new Set(all)];
}

function selectorOf(selector: unknown): Readonly<Record<string, string>> {
  if (typeof selector !== "object" || selector === null) return {};
  return Object.fromEntries(
    Object.entries(selector).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

function conditionOf(conditions: unknown): Condition | undefined {
  const found = listOf(conditions).find((condition) => fieldOf(condition, "type") === ALLOCATED_CONDITION);
  const status = fieldOf(found, "status");
  if (status !== "True" && status !== "False" && status !== "Unknown") return undefined;
  return {
    status,
    reason: textOf(fieldOf(found, "reason")),
    message: textOf(fieldOf(found, "message")),
    lastTransitionTime: textOf(fieldOf(found, "lastTransitionTime")),
  };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textsOf(value: unknown): readonly string[] {
  return listOf(value).filter((item): item is string => typeof item === "string");
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
