/** The YAML that a user of the lab would write: one pool, one advertisement, the Services. Pure. */
import { type LabService, POOL_IPV4, POOL_IPV6, SERVICES } from "./topology.ts";

/** File name → text. */
export function buildManifests(): ReadonlyMap<string, string> {
  return new Map([
    ["pool.yaml", POOL],
    ["advertisement.yaml", advertisementFor()],
    ["services.yaml", SERVICES.map(serviceYaml).join("---\n")],
  ]);
}

const POOL = `apiVersion: metallb.io/v1beta1
kind: IPAddressPool
metadata:
  name: lab
spec:
  addresses:
    - ${POOL_IPV4}
    - ${POOL_IPV6}
`;

/** Nobody answers rather than two. */
export const STRICT_ADVERTISEMENT = `apiVersion: metallb.io/v1beta1
kind: L2Advertisement
metadata:
  name: lab
  annotations:
    arpeggio.dev/uniqueness: strict
spec:
  ipAddressPools:
    - lab
`;

/** Every node may lead, or the one alone. */
export function advertisementFor(node?: string): string {
  const selectors =
    node === undefined
      ? ""
      : `  nodeSelectors:
    - matchLabels:
        kubernetes.io/hostname: ${node}
`;
  return `apiVersion: metallb.io/v1beta1
kind: L2Advertisement
metadata:
  name: lab
spec:
  ipAddressPools:
    - lab
${selectors}`;
}

function serviceYaml(service: LabService): string {
  const annotations = [`metallb.io/loadBalancerIPs: "${service.addresses.join(",")}"`];
  if (service.sharingKey !== undefined) annotations.push(`metallb.io/allow-shared-ip: "${service.sharingKey}"`);
  return `apiVersion: v1
kind: Service
metadata:
  name: ${service.name}
  annotations:
${annotations.map((line) => `    ${line}\n`).join("")}spec:
  type: LoadBalancer
  ports:
    - port: ${service.port}
      protocol: TCP
`;
}
