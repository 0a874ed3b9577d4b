/** metallb.io/v1beta1 L2Advertisement, with MetalLB's fields and defaults: empty lists select everything. */
import { Type } from "typebox";
import { LabelSelectorSchema } from "./label-selector.ts";
import { Nullable, Resource } from "./object-meta.ts";

const closed = { additionalProperties: false } as const;

const PreferredNode = Type.Object(
  { weight: Type.Integer({ minimum: 1, maximum: 100 }), preference: LabelSelectorSchema },
  closed,
);

const Selectors = Type.Array(LabelSelectorSchema);

export const L2AdvertisementSchema = Resource("L2Advertisement", "metallb.io/v1beta1", {
  spec: Nullable(
    Type.Object(
      {
        ipAddressPools: Type.Optional(Type.Array(Type.String(), { description: "By name; unknown names are ignored" })),
        ipAddressPoolSelectors: Type.Optional(Selectors),
        nodeSelectors: Type.Optional(Selectors),
        interfaces: Type.Optional(Type.Array(Type.String(), { description: "Link names" })),
        serviceSelectors: Type.Optional(Selectors),
        preferredNodeSelectors: Type.Optional(Type.Array(PreferredNode)),
      },
      closed,
    ),
  ),
});

export type L2AdvertisementResource = Type.Static<typeof L2AdvertisementSchema>;
