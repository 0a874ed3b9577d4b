/** metallb.io/v1beta1 L2Advertisement, with MetalLB's fields and defaults: empty lists select everything. */
import { Type } from "typebox";
import { LabelSelectorSchema } from "./label-selector.ts";
import { Nullable, Resource } from "./object-meta.ts";

const closed = { additionalProperties: false } as const;

const PreferredNode = Type.Object(
  {
    weight: Type.Integer({
      minimum: 1,
      maximum: 100,
      format: "int32",
      description: "Added up over everything that matches a node; the highest sum leads.",
    }),
    preference: LabelSelectorSchema,
  },
  closed,
);

const selectors = (description: string) => Type.Optional(Type.Array(LabelSelectorSchema, { description }));

export const L2AdvertisementSchema = Resource("L2Advertisement", "metallb.io/v1beta1", {
  spec: Nullable(
    Type.Object(
      {
        ipAddressPools: Type.Optional(
          Type.Array(Type.String(), {
            description: "Pools by name; unknown names are ignored. No name and no selector: all pools.",
          }),
        ),
        ipAddressPoolSelectors: selectors("Pools by their labels; one that matches is enough."),
        nodeSelectors: selectors("Nodes that may lead, by their labels; none: all."),
        interfaces: Type.Optional(Type.Array(Type.String(), { description: "Names of links; none: all." })),
        serviceSelectors: selectors("Services by their labels; none: all."),
        preferredNodeSelectors: Type.Optional(
          Type.Array(PreferredNode, { description: "Nodes that lead rather than others, if they can." }),
        ),
      },
      closed,
    ),
  ),
});

export type L2AdvertisementResource = Type.Static<typeof L2AdvertisementSchema>;
