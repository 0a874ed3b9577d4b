/** Services and pools that the allocation drills make, by requests of their own, and no process each. */
import { ArpeggioError } from "../../../src/base/errors.ts";
import type { ApiAnswer, ApiRequest, ApiServer } from "../../../src/kube/api-server.ts";
import { answered } from "../drills/patient-requests.ts";
import { until } from "../until.ts";

export const ALLOCATION_NAMESPACE = "arpeggio-allocation";
const POOL_NAMESPACE = "metallb-system";

/** Of a request that got no answer in 10 s, on a machine that is busy with other things. */
const ATTEMPTS = 4;
const GONE = { timeoutMs: 60_000, pollMs: 250 };
const MERGE_PATCH = "application/merge-patch+json";

export type Families = "IPv4" | "IPv6" | "both";

/** When the last one is gone. */
export async function makeNamespace(api: ApiServer): Promise<void> {
  await until("the last namespace is gone", GONE, async () => {
    return (
      (await answered(api, { method: "GET", path: `/api/v1/namespaces/${ALLOCATION_NAMESPACE}` }, ATTEMPTS)).status ===
      404
    );
  });
  const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: ALLOCATION_NAMESPACE } };
  await call(api, { method: "POST", path: "/api/v1/namespaces", body });
}

/** It goes on in the background. */
export async function removeNamespace(api: ApiServer): Promise<void> {
  await call(api, { method: "DELETE", path: `/api/v1/namespaces/${ALLOCATION_NAMESPACE}` });
}

/** For Services of the drill's namespace alone. */
export async function makePool(api: ApiServer, name: string, addresses: readonly string[]): Promise<void> {
  const spec = { addresses, serviceAllocation: { namespaces: [ALLOCATION_NAMESPACE] } };
  const metadata = { name, namespace: POOL_NAMESPACE };
  const body = { apiVersion: "metallb.io/v1beta1", kind: "IPAddressPool", metadata, spec };
  await call(api, { method: "POST", path: poolPath(), body });
}

export async function removePool(api: ApiServer, name: string): Promise<void> {
  await call(api, { method: "DELETE", path: `${poolPath()}/${name}` });
}

/** Without a backend: nobody announces it. */
export async function makeService(api: ApiServer, name: string, families: Families): Promise<void> {
  const spec = {
    type: "LoadBalancer",
    allocateLoadBalancerNodePorts: false,
    ...(families === "both" ? { ipFamilyPolicy: "RequireDualStack" } : { ipFamilies: [families] }),
    ports: [{ port: 80 }],
  };
  const body = { apiVersion: "v1", kind: "Service", metadata: { name }, spec };
  await call(api, { method: "POST", path: servicePath(), body });
}

/** One that is gone stays as it was: where the API server stands still for a while, its removal may come first. */
export async function patchService(api: ApiServer, name: string, patch: unknown): Promise<void> {
  const request: ApiRequest = { method: "PATCH", path: servicePath(name), body: patch, contentType: MERGE_PATCH };
  const answer = await answered(api, request, ATTEMPTS);
  if (answer.status !== 404) checked(request, answer);
}

/** As MetalLB's controller gives addresses of that pool. */
export async function assign(api: ApiServer, name: string, addresses: readonly string[], pool: string): Promise<void> {
  const body = {
    metadata: { annotations: { "metallb.io/ip-allocated-from-pool": pool } },
    status: { loadBalancer: { ingress: addresses.map((ip) => ({ ip })) } },
  };
  await call(api, { method: "PATCH", path: `${servicePath(name)}/status`, body, contentType: MERGE_PATCH });
}

export async function removeService(api: ApiServer, name: string): Promise<void> {
  await call(api, { method: "DELETE", path: servicePath(name) });
}

/** Addresses of each Service, in the order of its status; of the drill's namespace. */
export async function readServices(api: ApiServer): Promise<ReadonlyMap<string, readonly string[]>> {
  const { items } = await call<ServiceList>(api, { method: "GET", path: servicePath() });
  return new Map(
    items.map(({ metadata, status }) => [metadata.name, (status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip)]),
  );
}

interface ServiceList {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip: string }[] } };
  }[];
}

function servicePath(name?: string): string {
  return `/api/v1/namespaces/${ALLOCATION_NAMESPACE}/services${name === undefined ? "" : `/${name}`}`;
}

function poolPath(): string {
  return `/apis/metallb.io/v1beta1/namespaces/${POOL_NAMESPACE}/ipaddresspools`;
}

/** There already, or gone already: it was so after an attempt that had no answer. */
async function call<Body>(api: ApiServer, request: ApiRequest): Promise<Body> {
  return checked(request, await answered(api, request, ATTEMPTS)) as Body;
}

function checked(request: ApiRequest, { status, body }: ApiAnswer): unknown {
  const isDone = (request.method === "POST" && status === 409) || (request.method === "DELETE" && status === 404);
  if (status < 300 || isDone) return body;
  const said = JSON.stringify(body);
  throw new ArpeggioError("ERR_API_REFUSED", `${request.method} ${request.path}: HTTP ${status} ${said}`);
}
