/** metav1.LabelSelector: all labels and all expressions; empty selects everything. */
import { Type } from "typebox";

export const SELECTOR_OPERATORS = ["In", "NotIn", "Exists", "DoesNotExist"] as const;

const Requirement = Type.Object(
  {
    key: Type.String({ minLength: 1 }),
    operator: Type.Enum(SELECTOR_OPERATORS),
    values: Type.Optional(Type.Array(Type.String())),
  },
  { additionalProperties: false },
);

export const LabelSelectorSchema = Type.Object(
  {
    matchLabels: Type.Optional(Type.Record(Type.String(), Type.String())),
    matchExpressions: Type.Optional(Type.Array(Requirement)),
  },
  { additionalProperties: false },
);

export type LabelSelectorResource = Type.Static<typeof LabelSelectorSchema>;
