/** Cases of one Service among POOLS, and short ways to write them. */
import { pool } from "./objects.ts";
import type { ServiceOptions, ServiceSpec } from "./services.ts";

const forNamespaces = (priority: number, ...namespaces: readonly string[]) => ({ priority, namespaces });
const forLabels = (
  priority: number,
  matchLabels: Readonly<Record<string, string>>,
  namespaces: readonly string[] = [],
) => ({
  priority,
  namespaces,
  serviceSelectors: [{ matchLabels }],
});

export const POOLS = [
  pool("pool1", ["192.0.2.0/31"]),
  pool("pool2", { addresses: ["192.0.2.16/32"], autoAssign: false }),
  pool("pool3", ["2001:db8::/127"]),
  pool("pool4", { addresses: ["2001:db8::4:0/127"], autoAssign: false }),
  pool("pool5", ["192.0.2.32/31", "2001:db8::5:0/127"]),
  pool("ns-b", { addresses: ["192.0.2.48/31"], serviceAllocation: forNamespaces(20, "shop") }),
  pool("ns-a", { addresses: ["192.0.2.64/31"], serviceAllocation: forNamespaces(10, "shop") }),
  pool("ns-last", { addresses: ["192.0.2.80/31"], serviceAllocation: { namespaces: ["shop", "lone"] } }),
  pool("label-b", { addresses: ["192.0.2.96/31"], serviceAllocation: forLabels(20, { team: "metal" }) }),
  pool("label-a", { addresses: ["192.0.2.112/31"], serviceAllocation: forLabels(10, { team: "metal" }) }),
  pool("both", { addresses: ["192.0.2.128/31"], serviceAllocation: forLabels(5, { team: "red" }, ["both"]) }),
];

export interface Case {
  readonly name: string;
  readonly spec?: ServiceSpec;
  readonly options?: ServiceOptions;
  /** Of the outcome. */
  readonly addresses: readonly string[];
  readonly pool?: string;
  readonly refused?: string;
  readonly events?: readonly string[];
  /** What it holds already is to be written again. */
  readonly writesIngress?: boolean;
}

export const asks = (text: string) => ({ "metallb.io/loadBalancerIPs": text });
export const asksPool = (name: string) => ({ "metallb.io/address-pool": name });
export const held = (addresses: readonly string[], name: string, annotations = {}): ServiceOptions => ({
  ingress: addresses,
  annotations: { "metallb.io/ip-allocated-from-pool": name, ...annotations },
});
