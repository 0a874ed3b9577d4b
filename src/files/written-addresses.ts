/** Which addresses a Service has when nobody allocates: what its file says, in the order of DESIGN D2. Pure. */
import { SERVICE_ANNOTATIONS } from "../../api/annotations.ts";
import type { ServiceResource } from "../../api/service.ts";
import { ingressAddresses } from "../desired/resource-facts.ts";
import { type Fault, fault } from "../desired/sentence.ts";
import { parseIp } from "../net/ip.ts";

/** The status, else the annotation (its newer name wins by being there), else `spec.loadBalancerIP`, else none. */
export function writtenAddresses(service: ServiceResource): readonly string[] {
  const given = ingressAddresses(service);
  if (given.length > 0) return given;
  const annotation = annotationOf(service);
  if (annotation !== undefined) {
    const listed = annotation.value.split(",").map((text) => text.trim());
    return listed.filter((text) => text !== "");
  }
  const asked = service.spec?.loadBalancerIP ?? "";
  return asked === "" ? [] : [asked];
}

/** An address that a user wrote and that is none. What stands in the status was not written by a user. */
export function addressFault(service: ServiceResource): Fault | undefined {
  if (ingressAddresses(service).length > 0) return undefined;
  if (writtenAddresses(service).every((text) => parseIp(text) !== undefined)) return undefined;
  const annotation = annotationOf(service);
  if (annotation !== undefined) {
    return fault(
      ["metadata", "annotations", annotation.key],
      annotation.value,
      "must be IP addresses, separated by commas",
    );
  }
  return fault(["spec", "loadBalancerIP"], service.spec?.loadBalancerIP, "must be an IP address");
}

function annotationOf({ metadata }: ServiceResource): { readonly key: string; readonly value: string } | undefined {
  for (const key of [SERVICE_ANNOTATIONS.loadBalancerIps, SERVICE_ANNOTATIONS.legacyLoadBalancerIps]) {
    const value = metadata.annotations?.[key];
    if (value !== undefined) return { key, value };
  }
  return undefined;
}
