/** Many Services on a cluster, each with an IPv6 address of the first segment, a pool and an advertisement for them. */
import { ArpeggioError } from "../../../src/base/errors.ts";
import type { ApiRequest, ApiServer } from "../../../src/kube/api-server.ts";
import { SPEAKER_NAMESPACE } from "./objects.ts";
import { answered, forEach } from "./patient-requests.ts";

export interface ManyServices {
  readonly count: number;
  /** Is there already. */
  readonly namespace: string;
  /** Of pods that serve them, in that namespace. */
  readonly selector: Readonly<Record<string, string>>;
}

/** Of the pool, the advertisement, and in front of each Service's number. */
const NAME = "arpeggio-many";
/** Beside everything that drills and tests take. */
const PREFIX = "2001:db8::6:0:0/96";
const AT_ONCE = 4;
/** Of a request that is not answered in 10 s, on a machine that is busy with other things. */
const ATTEMPTS = 6;

/** Pool, advertisement, Services, addresses. */
export async function makeManyServices(api: ApiServer, { count, namespace, selector }: ManyServices): Promise<void> {
  await call(api, post("ipaddresspools", { addresses: [PREFIX], autoAssign: false }, "IPAddressPool"));
  await call(api, post("l2advertisements", { ipAddressPools: [NAME] }, "L2Advertisement"));
  const path = servicesPath(namespace);
  await forEach(numbersTo(count), AT_ONCE, async (number) => {
    const name = `${NAME}-${number}`;
    const spec = {
      type: "LoadBalancer",
      allocateLoadBalancerNodePorts: false,
      ipFamilies: ["IPv6"],
      selector,
      ports: [{ port: 80, targetPort: 8080 }],
    };
    // As the drills' own: the same with and without a controller.
    const metadata = { name, annotations: { "metallb.io/loadBalancerIPs": addressOf(number) } };
    await call(api, { method: "POST", path, body: { apiVersion: "v1", kind: "Service", metadata, spec } });
    await call(api, {
      method: "PATCH",
      path: `${path}/${name}/status`,
      contentType: "application/merge-patch+json",
      body: { status: { loadBalancer: { ingress: [{ ip: addressOf(number) }] } } },
    });
  });
}

/** Whatever of them is there. */
export async function removeManyServices(api: ApiServer, { count, namespace }: ManyServices): Promise<void> {
  await forEach(numbersTo(count), AT_ONCE, async (number) => {
    await answered(api, { method: "DELETE", path: `${servicesPath(namespace)}/${NAME}-${number}` }, ATTEMPTS);
  });
  for (const resource of ["l2advertisements", "ipaddresspools"]) {
    await answered(api, { method: "DELETE", path: `${metallbPath(resource)}/${NAME}` }, ATTEMPTS);
  }
}

/** How many of them have a ServiceL2Status that says who leads. */
export async function countL2Statuses(api: ApiServer): Promise<number> {
  const { items } = await call<{ items: readonly { status?: { node?: string; serviceName?: string } }[] }>(api, {
    method: "GET",
    path: metallbPath("servicel2statuses"),
  });
  return items.filter(({ status }) => status?.node !== undefined && status.serviceName?.startsWith(NAME) === true)
    .length;
}

function addressOf(number: number): string {
  return `2001:db8::6:${(number >> 16).toString(16)}:${(number & 0xffff).toString(16)}`;
}

function servicesPath(namespace: string): string {
  return `/api/v1/namespaces/${namespace}/services`;
}

function metallbPath(resource: string): string {
  return `/apis/metallb.io/v1beta1/namespaces/${SPEAKER_NAMESPACE}/${resource}`;
}

function post(resource: string, spec: unknown, kind: string): ApiRequest {
  const body = { apiVersion: "metallb.io/v1beta1", kind, metadata: { name: NAME }, spec };
  return { method: "POST", path: metallbPath(resource), body };
}

async function call<Body>(api: ApiServer, request: ApiRequest): Promise<Body> {
  const { status, body } = await answered(api, request, ATTEMPTS);
  // It was there after an attempt that had no answer.
  if (status < 300 || (request.method === "POST" && status === 409)) return body as Body;
  throw new ArpeggioError(
    "ERR_API_REFUSED",
    `${request.method} ${request.path}: HTTP ${status} ${JSON.stringify(body)}`,
  );
}

function numbersTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, number) => number);
}
