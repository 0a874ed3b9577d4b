/**
 * The Secret with the speakers' gossip key: that it is there, and that nothing which is deleted takes it along. MetalLB's controller makes it
 * the property of its own Deployment, so that it is gone a second after that. Pure.
 */
import { fieldOf } from "../../desired/resource-readers.ts";
import type { ApiRequest } from "../api-server.ts";

/** Name and owners only: what is in it is none of our business. */
const METADATA_ONLY = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const FIELD_MANAGER = { fieldManager: "arpeggio-controller" };

export interface DeploymentOwner {
  readonly name: string;
  readonly uid: string;
}

export interface SecretOwners {
  /** Of the Secret. */
  readonly uid: string;
  readonly deployments: readonly DeploymentOwner[];
}

export function readSecretRequest(namespace: string, name: string): ApiRequest {
  return { method: "GET", path: secretPath(namespace, name), accept: METADATA_ONLY };
}

/** `body`: of the answer to `readSecretRequest`. What is no owner by a Deployment is left out. */
export function readSecretOwners(body: unknown): SecretOwners {
  const metadata = fieldOf(body, "metadata");
  const owners = fieldOf(metadata, "ownerReferences");
  const deployments = (Array.isArray(owners) ? (owners as readonly unknown[]) : []).flatMap((owner) => {
    const isDeployment = fieldOf(owner, "kind") === "Deployment" && textOf(owner, "apiVersion").startsWith("apps/");
    const uid = textOf(owner, "uid");
    return isDeployment && uid !== "" ? [{ name: textOf(owner, "name"), uid }] : [];
  });
  return { uid: textOf(metadata, "uid"), deployments };
}

/** Takes these owners away and leaves others; refused (409) when the Secret of that name is another one by now. */
export function disownRequest(namespace: string, name: string, { uid, deployments }: SecretOwners): ApiRequest {
  const ownerReferences = deployments.map((owner) => ({ $patch: "delete", uid: owner.uid }));
  return {
    method: "PATCH",
    path: secretPath(namespace, name),
    query: FIELD_MANAGER,
    contentType: "application/strategic-merge-patch+json",
    accept: METADATA_ONLY,
    body: { metadata: { uid, ownerReferences } },
  };
}

function secretPath(namespace: string, name: string): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets/${encodeURIComponent(name)}`;
}

function textOf(value: unknown, key: string): string {
  const field = fieldOf(value, key);
  return typeof field === "string" ? field : "";
}
