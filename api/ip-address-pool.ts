/** metallb.io/v1beta1 IPAddressPool, with MetalLB's fields and defaults. The entries' grammar is checked where they are parsed. */
import { Type } from "typebox";
import { LabelSelectorSchema } from "./label-selector.ts";
import { Nullable, Resource } from "./object-meta.ts";

const closed = { additionalProperties: false } as const;

const ServiceAllocation = Type.Object(
  {
    priority: Type.Optional(Type.Integer({ default: 0, description: "Lower wins; 0 or none comes last" })),
    namespaces: Type.Optional(Type.Array(Type.String())),
    namespaceSelectors: Type.Optional(Type.Array(LabelSelectorSchema)),
    serviceSelectors: Type.Optional(Type.Array(LabelSelectorSchema)),
  },
  closed,
);

export const IPAddressPoolSchema = Resource("IPAddressPool", "metallb.io/v1beta1", {
  spec: Type.Object(
    {
      addresses: Type.Array(Type.String(), {
        minItems: 1,
        description: "Prefixes (192.0.2.0/24) or ranges (192.0.2.10-192.0.2.20)",
      }),
      autoAssign: Type.Optional(Type.Boolean({ default: true })),
      avoidBuggyIPs: Type.Optional(Type.Boolean({ default: false, description: "Not .0 and .255" })),
      serviceAllocation: Nullable(ServiceAllocation),
    },
    closed,
  ),
});

export type IPAddressPoolResource = Type.Static<typeof IPAddressPoolSchema>;
