/** What a drill applies to the cluster beside Arpeggio: two backends and their Services, a pool, an advertisement. Pure. */
import type { Ip } from "../../../src/net/ip.ts";
import { BACKEND_IMAGE } from "../images.ts";

export const DRILL_NAMESPACE = "arpeggio-drill";
export const SPEAKER_NAMESPACE = "metallb-system";
/** Of the pool and of the advertisement. */
export const DRILL_NAME = "arpeggio-drill";
export const SERVICE_PORT = 80;

/** Beside what somebody who tries the cluster would take. */
const POOL = ["192.0.2.110-192.0.2.119", "2001:db8::110-2001:db8::119"];

/** A Service with a backend of its own. */
export interface DrillService {
  readonly name: string;
  readonly policy: "Cluster" | "Local";
  readonly ipv4: Ip;
  readonly ipv6: Ip;
  readonly replicas: number;
}

/** A backend on every node; and one on two nodes that only answers on them. */
export const WEB: DrillService = {
  name: "web",
  policy: "Cluster",
  ipv4: "192.0.2.110" as Ip,
  ipv6: "2001:db8::110" as Ip,
  replicas: 3,
};
export const LOCAL: DrillService = {
  name: "local",
  policy: "Local",
  ipv4: "192.0.2.111" as Ip,
  ipv6: "2001:db8::111" as Ip,
  replicas: 2,
};
export const DRILL_SERVICES: readonly DrillService[] = [WEB, LOCAL];

type ResourceObject = Readonly<Record<string, unknown>>;

export function buildNamespace(): ResourceObject {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name: DRILL_NAMESPACE } };
}

export function buildPool(): ResourceObject {
  return {
    apiVersion: "metallb.io/v1beta1",
    kind: "IPAddressPool",
    metadata: { name: DRILL_NAME, namespace: SPEAKER_NAMESPACE },
    spec: { addresses: POOL, autoAssign: false },
  };
}

/** `interfaces`: on these links only. */
export function buildAdvertisement(interfaces?: readonly string[]): ResourceObject {
  return {
    apiVersion: "metallb.io/v1beta1",
    kind: "L2Advertisement",
    metadata: { name: DRILL_NAME, namespace: SPEAKER_NAMESPACE },
    spec: { ipAddressPools: [DRILL_NAME], ...(interfaces !== undefined && { interfaces }) },
  };
}

/** Asks for its addresses, so that they are the same with and without a controller. */
export function buildService({ name, policy, ipv4, ipv6 }: DrillService): ResourceObject {
  const annotations = { "metallb.io/loadBalancerIPs": `${ipv4},${ipv6}` };
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: DRILL_NAMESPACE, annotations },
    spec: {
      type: "LoadBalancer",
      externalTrafficPolicy: policy,
      allocateLoadBalancerNodePorts: false,
      ipFamilyPolicy: "RequireDualStack",
      selector: { app: name },
      ports: [{ port: SERVICE_PORT, targetPort: 8080 }],
    },
  };
}

/** What the controller writes; where none runs the drill does. */
export function buildIngress({ ipv4, ipv6 }: DrillService): ResourceObject {
  return { status: { loadBalancer: { ingress: [{ ip: ipv4 }, { ip: ipv6 }] } } };
}

/** Ready until it exits, and it exits 5 s after it was told to: until then every proxy has taken it out. Two never share a node. */
export function buildDeployment({ name, replicas }: DrillService): ResourceObject {
  const labels = { app: name };
  const apart = { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: labels } };
  const container = {
    name: "backend",
    image: BACKEND_IMAGE,
    imagePullPolicy: "Never",
    ports: [{ containerPort: 8080 }],
    env: [fieldVariable("POD_NAME", "metadata.name"), fieldVariable("NODE_NAME", "spec.nodeName")],
    readinessProbe: { httpGet: { path: "/", port: 8080 }, periodSeconds: 1 },
    lifecycle: { preStop: { sleep: { seconds: 5 } } },
  };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace: DRILL_NAMESPACE },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [apart] } },
          containers: [container],
        },
      },
    },
  };
}

function fieldVariable(name: string, fieldPath: string): ResourceObject {
  return { name, valueFrom: { fieldRef: { fieldPath } } };
}
