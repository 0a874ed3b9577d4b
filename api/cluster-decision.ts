/** `arpeggio why ADDRESS -o json`: the decision about one address, and what every speaker says of it. Rules of change as in cluster-status.ts. */
import { Type } from "typebox";
import { AddressSchema } from "./address.ts";
import { Problems, ViewEntry } from "./cluster-status.ts";
import type { Immutable } from "./status.ts";

export const ClusterDecisionSchema = Type.Object(
  {
    address: Type.String(),
    at: Type.String({ format: "date-time", description: "ISO 8601, UTC" }),
    decision: Type.Optional(AddressSchema),
    speakers: Type.Array(ViewEntry),
    problems: Problems,
  },
  {
    additionalProperties: false,
    title: "ClusterDecision",
    description: "The decision is that of the leader, if it answers; absent: no speaker knows the address",
  },
);

export type ClusterDecisionDocument = Immutable<Type.Static<typeof ClusterDecisionSchema>>;
