/** Manifests as users write them, one of each kind, and what a folder with one such file says. */
import type { ClusterSnapshot } from "../../src/desired/snapshot.ts";
import { type FileState, mergeFiles, readFileState } from "../../src/files/file-state.ts";

export const POOL = `apiVersion: metallb.io/v1beta1
kind: IPAddressPool
metadata: {name: main, labels: {zone: a}}
spec:
  addresses:
    - 192.0.2.0/28
    - 192.0.2.32-192.0.2.47
`;
export const ADVERTISEMENT = `apiVersion: metallb.io/v1beta1
kind: L2Advertisement
metadata: {name: main}
spec:
  ipAddressPools: [main]
  nodeSelectors:
    - matchExpressions:
        - {key: zone, operator: In, values: [a]}
  preferredNodeSelectors:
    - weight: 10
      preference: {matchLabels: {zone: a}}
  interfaces: [eth0]
`;
export const SERVICE = `apiVersion: v1
kind: Service
metadata:
  name: web
  labels: {app: web}
spec:
  type: LoadBalancer
  externalTrafficPolicy: Local
  loadBalancerIP: 192.0.2.1
`;
export const SLICE = `apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: web-1
  labels: {kubernetes.io/service-name: web}
addressType: IPv4
endpoints:
  - addresses: [198.51.100.1]
    nodeName: n1
    conditions: {ready: false, serving: true, terminating: true}
  - addresses: [198.51.100.2]
`;
export const NODE = `apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {zone: a}
  annotations: {arpeggio.dev/step-down: "true"}
spec:
  unschedulable: true
  taints: [{key: node.kubernetes.io/out-of-service, effect: NoExecute}]
status:
  addresses: [{type: InternalIP, address: 192.0.2.100}, {type: Hostname, address: n1}]
  conditions: [{type: NetworkUnavailable, status: "True"}]
`;

/** One file after the other text, as a folder's only file. */
export function after(...texts: readonly string[]): FileState {
  let state: FileState | undefined;
  for (const text of texts) state = readFileState(state, "lb.yaml", text);
  if (state === undefined) throw new Error("no text");
  return state;
}

export function snapshotOf(...texts: readonly string[]): ClusterSnapshot {
  return mergeFiles([after(...texts)]).snapshot;
}

export function sentencesOf(...texts: readonly string[]): readonly string[] {
  return mergeFiles([after(...texts)]).problems.map(({ sentence }) => sentence);
}
