/**
 * MetalLB's webhook for its resources, when nobody answers it any more: with its failure policy `Fail` every apply of a pool is refused then.
 * What it checked is checked by the validation policies of manifests/components/validation. Pure.
 */
import { fieldOf } from "../../desired/resource-readers.ts";
import type { ApiRequest } from "../api-server.ts";

const ADMISSION = "/apis/admissionregistration.k8s.io/v1";
const WEBHOOKS_PATH = `${ADMISSION}/validatingwebhookconfigurations/metallb-webhook-configuration`;
const SERVICE_LABEL = "kubernetes.io/service-name";

export interface LeftWebhook {
  readonly uid: string;
  readonly resourceVersion: string;
  /** Of the Services that the API server asks, each once; undefined: it asks something else, too. */
  readonly services: readonly ServiceName[] | undefined;
}

interface ServiceName {
  readonly namespace: string;
  readonly name: string;
}

/** A policy or its binding: both are needed, and have one name. */
export interface PolicyPart {
  readonly resource: "validatingadmissionpolicies" | "validatingadmissionpolicybindings";
  readonly name: string;
}

export function readWebhookRequest(): ApiRequest {
  return { method: "GET", path: WEBHOOKS_PATH };
}

export function readLeftWebhook(body: unknown): LeftWebhook {
  const metadata = fieldOf(body, "metadata");
  const services = new Map<string, ServiceName>();
  let isWhole = true;
  for (const webhook of listOf(fieldOf(body, "webhooks"))) {
    const service = fieldOf(fieldOf(webhook, "clientConfig"), "service");
    const [namespace, name] = [textOf(service, "namespace"), textOf(service, "name")];
    if (name === "") isWhole = false;
    else services.set(`${namespace}/${name}`, { namespace, name });
  }
  return {
    uid: textOf(metadata, "uid"),
    resourceVersion: textOf(metadata, "resourceVersion"),
    services: isWhole ? [...services.values()] : undefined,
  };
}

/** Deletes this one in this form, and none that was made or changed since. */
export function deleteWebhookRequest({ uid, resourceVersion }: LeftWebhook): ApiRequest {
  const body = { kind: "DeleteOptions", apiVersion: "v1", preconditions: { uid, resourceVersion } };
  return { method: "DELETE", path: WEBHOOKS_PATH, body };
}

export function endpointsRequest({ namespace, name }: ServiceName): ApiRequest {
  return {
    method: "GET",
    path: `/apis/discovery.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/endpointslices`,
    query: { labelSelector: `${SERVICE_LABEL}=${name}` },
  };
}

/**
 * Who answers: names of Pods, or addresses where no Pod is named. `body`: a list of EndpointSlices. MetalLB's Service selects by
 * `component: controller` alone, which our controllers wear as well; `isOurs` takes those out, for they answer no webhook.
 */
export function readyEndpoints(body: unknown, isOurs: (podName: string) => boolean): readonly string[] {
  const endpoints = listOf(fieldOf(body, "items")).flatMap((slice) => listOf(fieldOf(slice, "endpoints")));
  return endpoints.flatMap((endpoint) => {
    // Absent counts as ready, as Kubernetes has it.
    if (fieldOf(fieldOf(endpoint, "conditions"), "ready") === false) return [];
    const target = fieldOf(endpoint, "targetRef");
    const pod = textOf(target, "kind") === "Pod" ? textOf(target, "name") : "";
    if (pod !== "") return isOurs(pod) ? [] : [pod];
    return [listOf(fieldOf(endpoint, "addresses")).map(String).join()];
  });
}

export function policyRequest({ resource, name }: PolicyPart): ApiRequest {
  return { method: "GET", path: `${ADMISSION}/${resource}/${encodeURIComponent(name)}` };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown, key: string): string {
  const field = fieldOf(value, key);
  return typeof field === "string" ? field : "";
}
