/** Requests about the two resources that are written back. Pure. */
import type { ApiRequest } from "../api-server.ts";

const GROUP_PATH = "/apis/metallb.io/v1beta1";
export const METALLB_API_VERSION = "metallb.io/v1beta1";

export type WrittenResource = "servicel2statuses" | "configurationstates" | "ipaddresspools";

/** Whom managedFields name for what is not applied, unless another is given. */
const FIELD_MANAGER = "arpeggio-speaker";
const MERGE_PATCH = "application/merge-patch+json";
/** JSON is YAML. */
const APPLY_PATCH = "application/apply-patch+yaml";

function pathOf(resource: WrittenResource, namespace: string, name?: string): string {
  const folder = `${GROUP_PATH}/namespaces/${encodeURIComponent(namespace)}/${resource}`;
  return name === undefined ? folder : `${folder}/${encodeURIComponent(name)}`;
}

export function readRequest(resource: WrittenResource, namespace: string, name: string): ApiRequest {
  return { method: "GET", path: pathOf(resource, namespace, name) };
}

export function createRequest(
  resource: WrittenResource,
  namespace: string,
  object: unknown,
  fieldManager = FIELD_MANAGER,
): ApiRequest {
  return { method: "POST", path: pathOf(resource, namespace), query: { fieldManager }, body: object };
}

export function mergeRequest(
  resource: WrittenResource,
  namespace: string,
  name: string,
  patch: unknown,
  fieldManager = FIELD_MANAGER,
): ApiRequest {
  const path = pathOf(resource, namespace, name);
  return { method: "PATCH", path, query: { fieldManager }, body: patch, contentType: MERGE_PATCH };
}

export function mergeStatusRequest(
  resource: WrittenResource,
  namespace: string,
  name: string,
  status: unknown,
  fieldManager = FIELD_MANAGER,
): ApiRequest {
  return {
    ...mergeRequest(resource, namespace, name, { status }, fieldManager),
    path: `${pathOf(resource, namespace, name)}/status`,
  };
}

/** Server-side apply on the status, by force: whoever else set these fields has them no longer. */
export function applyStatusRequest(
  resource: WrittenResource,
  namespace: string,
  name: string,
  fieldOwner: string,
  object: unknown,
): ApiRequest {
  return {
    method: "PATCH",
    path: `${pathOf(resource, namespace, name)}/status`,
    query: { fieldManager: fieldOwner, force: "true" },
    body: object,
    contentType: APPLY_PATCH,
  };
}

/** Deletes this one object, and none that was made under its name since. */
export function deleteRequest(resource: WrittenResource, namespace: string, name: string, uid: string): ApiRequest {
  const body = { kind: "DeleteOptions", apiVersion: "v1", preconditions: { uid } };
  return { method: "DELETE", path: pathOf(resource, namespace, name), body };
}
