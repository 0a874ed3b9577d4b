/**
 * The CustomResourceDefinitions that `manifests/crd` ships: metallb.io/v1beta1 with MetalLB's fields, types, defaults, required sets,
 * enums, subresources and printer columns, so that manifests for MetalLB apply unchanged. Descriptions are our own, and so are the
 * rules that MetalLB has in a webhook instead. `hack/manifests` writes the files.
 */
import type { TObject, TSchema } from "typebox";
import { ConfigurationStateSchema } from "../configuration-state.ts";
import { IPAddressPoolSchema } from "../ip-address-pool.ts";
import { L2AdvertisementSchema } from "../l2-advertisement.ts";
import { LabelSelectorSchema } from "../label-selector.ts";
import { ServiceL2StatusSchema } from "../service-l2-status.ts";
import { CRD_GROUP, CRD_VERSION } from "./group.ts";
import { LABEL_SELECTOR } from "./kubernetes-types.ts";
import { type StructuralSchema, structuralSchema } from "./structural.ts";

export interface PrinterColumn {
  readonly name: string;
  readonly type: "string" | "boolean" | "date";
  readonly jsonPath: string;
  readonly priority?: number;
}

export interface ResourceDefinition {
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly columns: readonly PrinterColumn[];
  readonly schema: StructuralSchema;
}

const REPLACED: ReadonlyMap<TSchema, StructuralSchema> = new Map([[LabelSelectorSchema, LABEL_SELECTOR]]);

const COUNT: StructuralSchema = { type: "integer", format: "int64" };
const POOL: ResourceDefinition = {
  kind: "IPAddressPool",
  plural: "ipaddresspools",
  singular: "ipaddresspool",
  columns: [
    { name: "Auto Assign", type: "boolean", jsonPath: ".spec.autoAssign" },
    { name: "Avoid Buggy IPs", type: "boolean", jsonPath: ".spec.avoidBuggyIPs" },
    { name: "Addresses", type: "string", jsonPath: ".spec.addresses" },
  ],
  schema: objectOf(
    "Addresses that Services of type LoadBalancer may be given.",
    {
      ...structuralFields(IPAddressPoolSchema, ["spec"]),
      status: {
        type: "object",
        description: "Written by the controller.",
        properties: { assignedIPv4: COUNT, assignedIPv6: COUNT, availableIPv4: COUNT, availableIPv6: COUNT },
        required: ["assignedIPv4", "assignedIPv6", "availableIPv4", "availableIPv6"],
      },
    },
    ["spec"],
  ),
};

const ADVERTISEMENT: ResourceDefinition = {
  kind: "L2Advertisement",
  plural: "l2advertisements",
  singular: "l2advertisement",
  columns: [
    { name: "IPAddressPools", type: "string", jsonPath: ".spec.ipAddressPools" },
    { name: "IPAddressPool Selectors", type: "string", jsonPath: ".spec.ipAddressPoolSelectors" },
    { name: "Interfaces", type: "string", jsonPath: ".spec.interfaces" },
    { name: "Node Selectors", type: "string", jsonPath: ".spec.nodeSelectors", priority: 10 },
  ],
  schema: objectOf("Has addresses of pools announced by ARP and Neighbor Discovery; without it none is.", {
    ...structuralFields(L2AdvertisementSchema, ["spec"]),
    status: { type: "object" },
  }),
};

const L2_STATUS: ResourceDefinition = {
  kind: "ServiceL2Status",
  plural: "servicel2statuses",
  singular: "servicel2status",
  columns: [
    { name: "Allocated Node", type: "string", jsonPath: ".status.node" },
    { name: "Service Name", type: "string", jsonPath: ".status.serviceName" },
    { name: "Service Namespace", type: "string", jsonPath: ".status.serviceNamespace" },
  ],
  schema: objectOf(
    "Which node announces the addresses of a Service. Written by that node's speaker.",
    structuralFields(ServiceL2StatusSchema, ["spec", "status"]),
  ),
};

const CONFIGURATION_STATE: ResourceDefinition = {
  kind: "ConfigurationState",
  plural: "configurationstates",
  singular: "configurationstate",
  columns: [
    { name: "Result", type: "string", jsonPath: ".status.result" },
    { name: "ErrorSummary", type: "string", jsonPath: ".status.errorSummary" },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
  schema: objectOf(
    "What a speaker, or the controller, thinks of the resources that it reads.",
    structuralFields(ConfigurationStateSchema, ["status"]),
  ),
};

export const RESOURCE_DEFINITIONS: readonly ResourceDefinition[] = [
  POOL,
  ADVERTISEMENT,
  L2_STATUS,
  CONFIGURATION_STATE,
];

/** The whole object, as it is applied. */
export function customResourceDefinition({ kind, plural, singular, columns, schema }: ResourceDefinition): object {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${CRD_GROUP}` },
    spec: {
      group: CRD_GROUP,
      names: { kind, listKind: `${kind}List`, plural, singular },
      scope: "Namespaced",
      versions: [
        {
          name: CRD_VERSION,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: columns,
          schema: { openAPIV3Schema: schema },
        },
      ],
    },
  };
}

/** Some of the top-level fields that a resource is read with. */
function structuralFields(resource: TObject, fields: readonly string[]): Readonly<Record<string, StructuralSchema>> {
  const read = Object.entries(resource.properties).filter(([field]) => fields.includes(field));
  return Object.fromEntries(read.map(([field, schema]) => [field, structuralSchema(schema, REPLACED)]));
}

function objectOf(
  description: string,
  properties: Readonly<Record<string, StructuralSchema>>,
  required?: readonly string[],
): StructuralSchema {
  return {
    type: "object",
    description,
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      ...properties,
    },
    ...(required === undefined ? {} : { required }),
  };
}
