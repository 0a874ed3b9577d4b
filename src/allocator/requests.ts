/** What a Service asks for: addresses, a pool. Pure. */
import { SERVICE_ANNOTATIONS } from "../../api/annotations.ts";
import { compareIps, type Family, familyOf, type Ip, parseIp } from "../net/ip.ts";
import type { Asked, Refusal } from "./refusal.ts";
import type { AllocatorService } from "./service.ts";

export interface AskedAddresses extends Asked {
  /** One, or one of each family, IPv4 first. */
  readonly addresses: readonly Ip[];
}

/** An annotation in force, and under which key it stands. */
interface Annotation {
  readonly key: string;
  readonly value: string;
}

/** Undefined: none asked for. */
export function askedAddresses(
  service: AllocatorService,
  families: readonly Family[],
): AskedAddresses | Refusal | undefined {
  const { loadBalancerIps, legacyLoadBalancerIps } = SERVICE_ANNOTATIONS;
  const annotation = annotationOf(service, loadBalancerIps, legacyLoadBalancerIps);
  const { loadBalancerIp } = service;
  const asked =
    annotation === undefined
      ? { path: ["spec", "loadBalancerIP"], value: loadBalancerIp }
      : { path: ["metadata", "annotations", annotation.key], value: annotation.value };
  if (asked.value === "") return undefined;
  if (annotation !== undefined && loadBalancerIp !== "") {
    return { reason: "addresses-asked-twice", asked, loadBalancerIp };
  }
  const addresses: Ip[] = [];
  for (const part of annotation === undefined ? [asked.value] : asked.value.split(",")) {
    const address = parseIp(part.trim());
    if (address === undefined) return { reason: "asked-for-no-address", asked, part: part.trim() };
    addresses.push(address);
  }
  return familyRefusal(asked, addresses, families) ?? { ...asked, addresses: addresses.toSorted(compareIps) };
}

/** Undefined: none asked for. */
export function askedPool(service: AllocatorService): Asked | undefined {
  const found = annotationOf(service, SERVICE_ANNOTATIONS.addressPool, SERVICE_ANNOTATIONS.legacyAddressPool);
  return found === undefined ? undefined : { path: ["metadata", "annotations", found.key], value: found.value };
}

/** Annotations of MetalLB's old prefix that are in force, and pairs of old and new that say different things. */
export function annotationRemarks({ annotations }: AllocatorService): {
  readonly deprecated: readonly (readonly [old: string, key: string])[];
  readonly conflicting: readonly (readonly [old: string, key: string])[];
} {
  const both = PAIRS.filter(([old]) => annotations[old] !== undefined);
  return {
    deprecated: both.filter(([, key]) => annotations[key] === undefined),
    conflicting: both.filter(([old, key]) => annotations[key] !== undefined && annotations[key] !== annotations[old]),
  };
}

const PAIRS = [
  [SERVICE_ANNOTATIONS.legacyAddressPool, SERVICE_ANNOTATIONS.addressPool],
  [SERVICE_ANNOTATIONS.legacyLoadBalancerIps, SERVICE_ANNOTATIONS.loadBalancerIps],
  [SERVICE_ANNOTATIONS.legacyAllowSharedIp, SERVICE_ANNOTATIONS.allowSharedIp],
] as const;

function familyRefusal(asked: Asked, addresses: readonly Ip[], families: readonly Family[]): Refusal | undefined {
  for (const family of [4, 6] as const) {
    const count = addresses.filter((ip) => familyOf(ip) === family).length;
    if (count > 1) return { reason: "asked-for-two-of-a-family", asked, family };
  }
  if (families.length === 2 && addresses.length === 1) return { reason: "asked-for-one-of-two", asked };
  const isSame = addresses.length === families.length && addresses.every((ip) => families.includes(familyOf(ip)));
  return isSame ? undefined : { reason: "asked-for-other-family", asked, families };
}

/** The newer key wins by its presence; an empty value asks for nothing. */
function annotationOf({ annotations }: AllocatorService, key: string, legacyKey: string): Annotation | undefined {
  const found = annotations[key] === undefined ? legacyKey : key;
  const value = annotations[found]?.trim() ?? "";
  return value === "" ? undefined : { key: found, value };
}
