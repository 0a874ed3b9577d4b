/** `GET /status/addresses/:ip`: the whole decision about one address. Rules of change and units as in status.ts. */
import { Type } from "typebox";
import { NO_GROUP_REASONS, REFUSAL_REASONS, RULES, TIER_REASONS } from "./reasons.ts";
import { addressFields, type Immutable } from "./status.ts";

const closed = { additionalProperties: false } as const;

const CandidateStatus = Type.Object(
  {
    rank: Type.Integer({ minimum: 1, description: "1 leads, 2 comes next" }),
    node: Type.String(),
    tier: Type.Integer({ minimum: 1, maximum: 5, description: "Lower is better" }),
    tierReason: Type.Optional(Type.Enum(TIER_REASONS, { description: "Why the tier is not 1" })),
    score: Type.Integer({ description: "Sum of the matching preferredNodeSelectors weights; higher is better" }),
    endpointClass: Type.Union([
      Type.Literal("any"),
      Type.Literal("ready"),
      Type.Literal("terminating"),
      Type.Literal("fresh", {
        description: "Ready for less than two seconds: its node's kube-proxy may have no rule yet",
      }),
    ]),
    hash: Type.String({ description: "SHA-256 of node#group, hexadecimal; lower is better" }),
  },
  closed,
);

const RefusalStatus = Type.Object({ node: Type.String(), reason: Type.Enum(REFUSAL_REASONS) }, closed);

const AddressService = Type.Object(
  {
    service: Type.String({ description: "namespace/name" }),
    externalTrafficPolicy: Type.Optional(Type.Union([Type.Literal("Cluster"), Type.Literal("Local")])),
    advertisements: Type.Array(Type.String({ description: "L2Advertisements that reach the Service" })),
    refused: Type.Optional(Type.Enum(NO_GROUP_REASONS, { description: "Why the Service takes no part" })),
  },
  closed,
);

export const AddressSchema = Type.Object(
  {
    node: Type.String({ description: "Who says this" }),
    at: Type.String({ format: "date-time", description: "ISO 8601, UTC" }),
    ...addressFields,
    rule: Type.Enum(RULES, { description: "The election rule in force" }),
    group: Type.Optional(
      Type.Object(
        {
          key: Type.String({ description: "The address that is hashed" }),
          addresses: Type.Array(Type.String(), { description: "Led together" }),
        },
        closed,
      ),
    ),
    services: Type.Array(AddressService),
    candidates: Type.Array(CandidateStatus, { description: "Best first" }),
    refusals: Type.Array(RefusalStatus, { description: "Members that may not lead it" }),
    links: Type.Array(Type.String(), { description: "Names of the links that this node answers on" }),
  },
  { ...closed, title: "Address" },
);

export type AddressDocument = Immutable<Type.Static<typeof AddressSchema>>;
