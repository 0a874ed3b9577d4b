/** A Service with an address, its slice of endpoints on three nodes and its cluster address, as etcd holds them. Pure. */
const NODES = ["n1", "n2", "n3"];
/** About what kubectl's last-applied annotation comes to. */
const FILLER = "x".repeat(600);

const CREATED = "2026-01-01T00:00:00Z";

/** Number `number` of 198.18.0.0/16. */
export function addressOf(number: number): string {
  return `198.18.${number >> 8}.${number & 0xff}`;
}

/** Of the Service, in the API server's range. */
export function clusterIpOf(number: number): string {
  return `10.96.${(number >> 8) + 1}.${number & 0xff}`;
}

/** Without it the API server would take the Service's address for lost, and repair it. */
export function buildIpAddress(number: number) {
  return {
    kind: "IPAddress",
    apiVersion: "networking.k8s.io/v1",
    metadata: {
      name: clusterIpOf(number),
      uid: uidOf(number, "19"),
      creationTimestamp: CREATED,
      labels: {
        "ipaddress.kubernetes.io/ip-family": "IPv4",
        "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
      },
    },
    spec: { parentRef: { group: "", resource: "services", namespace: "default", name: `service-${number}` } },
  };
}

export function buildService(number: number) {
  const clusterIP = clusterIpOf(number);
  return {
    kind: "Service",
    apiVersion: "v1",
    metadata: {
      ...metadataOf(number, "5e"),
      labels: { app: `app-${number}` },
      annotations: { "kubectl.kubernetes.io/last-applied-configuration": FILLER },
    },
    spec: {
      type: "LoadBalancer",
      clusterIP,
      clusterIPs: [clusterIP],
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
      allocateLoadBalancerNodePorts: false,
      externalTrafficPolicy: "Cluster",
      internalTrafficPolicy: "Cluster",
      sessionAffinity: "None",
      ports: [{ protocol: "TCP", port: 80, targetPort: 8080 }],
    },
    status: { loadBalancer: { ingress: [{ ip: addressOf(number), ipMode: "VIP" }] } },
  };
}

/** Not ready: on the first node alone. */
export function buildSlice(number: number, isReady: boolean) {
  return {
    kind: "EndpointSlice",
    apiVersion: "discovery.k8s.io/v1",
    metadata: { ...metadataOf(number, "51"), labels: { "kubernetes.io/service-name": `service-${number}` } },
    addressType: "IPv4",
    endpoints: NODES.map((nodeName, index) => ({
      addresses: [`198.19.${index}.1`],
      nodeName,
      conditions: { ready: isReady || index > 0, serving: true, terminating: false },
      targetRef: { kind: "Pod", namespace: "default", name: `pod-${number}-${index}` },
    })),
    ports: [{ name: "", protocol: "TCP", port: 8080 }],
  };
}

function metadataOf(number: number, kind: string) {
  return {
    name: `service-${number}`,
    namespace: "default",
    uid: uidOf(number, kind),
    creationTimestamp: CREATED,
  };
}

function uidOf(number: number, kind: string): string {
  return `00000000-0000-4000-80${kind}-${number.toString(16).padStart(12, "0")}`;
}
