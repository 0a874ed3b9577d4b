/** Types of Kubernetes itself that we read more strictly than a CustomResourceDefinition of a controller in Go describes them. */
import type { StructuralSchema } from "./structural.ts";

const TEXTS: StructuralSchema = { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "atomic" };

/** metav1.LabelSelector. The operators are no enum in it: they are checked where selectors are used. */
export const LABEL_SELECTOR: StructuralSchema = {
  type: "object",
  description: "All labels and all expressions must hold; an empty selector selects everything.",
  properties: {
    matchExpressions: {
      type: "array",
      items: {
        type: "object",
        properties: {
          key: { type: "string" },
          operator: { type: "string", description: "In, NotIn, Exists or DoesNotExist." },
          values: { ...TEXTS, description: "Needed with In and NotIn, none with Exists and DoesNotExist." },
        },
        required: ["key", "operator"],
      },
      "x-kubernetes-list-type": "atomic",
    },
    matchLabels: { type: "object", additionalProperties: { type: "string" } },
  },
  "x-kubernetes-map-type": "atomic",
};
