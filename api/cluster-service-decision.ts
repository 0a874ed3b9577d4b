/** `arpeggio why NAMESPACE/SERVICE -o json`: the decision about each address of a Service. Rules of change as in cluster-status.ts. */
import { Type } from "typebox";
import { ClusterDecisionSchema } from "./cluster-decision.ts";
import { Problems } from "./cluster-status.ts";
import type { Immutable } from "./status.ts";

export const ClusterServiceDecisionSchema = Type.Object(
  {
    service: Type.String({ description: "namespace/name" }),
    at: Type.String({ format: "date-time", description: "ISO 8601, UTC" }),
    decisions: Type.Array(ClusterDecisionSchema, {
      description: "By address; none: no speaker that answers knows an address of the Service",
    }),
    problems: Problems,
  },
  { additionalProperties: false, title: "ClusterServiceDecision" },
);

export type ClusterServiceDecisionDocument = Immutable<Type.Static<typeof ClusterServiceDecisionSchema>>;
