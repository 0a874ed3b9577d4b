/** metallb.io/v1beta1 IPAddressPool, with MetalLB's fields and defaults. The entries' grammar is checked where they are parsed. */
import { Type } from "typebox";
import { ENTRY_MAX_LENGTH, ENTRY_RULES, POOL_MAX_ENTRIES } from "./admission/pool-entry-rules.ts";
import { LabelSelectorSchema } from "./label-selector.ts";
import { Nullable, Resource } from "./object-meta.ts";

const closed = { additionalProperties: false } as const;

/** The API server holds an entry against the rules; without one, whoever parses the entry does. */
const PoolEntry = Type.String({
  maxLength: ENTRY_MAX_LENGTH,
  "x-kubernetes-validations": ENTRY_RULES.map(({ holds, message, sentence }) => ({
    rule: holds("self"),
    message,
    messageExpression: sentence("self"),
  })),
});

const ServiceAllocation = Type.Object(
  {
    priority: Type.Optional(Type.Integer({ description: "Lower wins; 0 or none comes last." })),
    namespaces: Type.Optional(Type.Array(Type.String(), { description: "By name; none and no selector: all." })),
    namespaceSelectors: Type.Optional(
      Type.Array(LabelSelectorSchema, { description: "Namespaces by their labels; one that matches is enough." }),
    ),
    serviceSelectors: Type.Optional(
      Type.Array(LabelSelectorSchema, { description: "Services by their labels; one that matches is enough." }),
    ),
  },
  { ...closed, description: "Which Services the pool is for; absent: all." },
);

export const IPAddressPoolSchema = Resource("IPAddressPool", "metallb.io/v1beta1", {
  spec: Type.Object(
    {
      addresses: Type.Array(PoolEntry, {
        minItems: 1,
        maxItems: POOL_MAX_ENTRIES,
        description: "Prefixes (192.0.2.0/24) or ranges (192.0.2.10-192.0.2.20).",
      }),
      autoAssign: Type.Optional(
        Type.Boolean({ default: true, description: "Whether Services that name no pool may get addresses of it." }),
      ),
      avoidBuggyIPs: Type.Optional(
        Type.Boolean({ default: false, description: "Addresses that end in .0 and .255 are not given." }),
      ),
      serviceAllocation: Nullable(ServiceAllocation),
    },
    closed,
  ),
});

export type IPAddressPoolResource = Type.Static<typeof IPAddressPoolSchema>;
