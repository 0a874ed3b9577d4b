/**
 * metallb.io/v1beta1 ConfigurationState, as MetalLB has it: what one process makes of the configuration. Its name is `speaker-` and the
 * node's, or `controller`; its conditions are those of Kubernetes (metav1.Condition), one per field owner.
 */
import { Type } from "typebox";
import { Nullable, Resource } from "./object-meta.ts";

/** metav1.Condition's limit of a message, in characters. */
export const CONDITION_MESSAGE_LENGTH = 32_768;

export const CONFIGURATION_RESULTS = ["Valid", "Invalid", "Unknown"] as const;
export type ConfigurationResult = (typeof CONFIGURATION_RESULTS)[number];

const DNS_PREFIX = "([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?";

const Condition = Type.Object({
  type: Type.String({ maxLength: 316, pattern: `^${DNS_PREFIX}(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$` }),
  status: Type.Enum(["True", "False", "Unknown"]),
  reason: Type.String({ minLength: 1, maxLength: 1_024, pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$" }),
  message: Type.String({ maxLength: CONDITION_MESSAGE_LENGTH }),
  lastTransitionTime: Type.String({ format: "date-time", description: "When `status` last changed" }),
  observedGeneration: Type.Optional(Type.Integer({ minimum: 0, format: "int64" })),
});

export const ConfigurationStateSchema = Resource("ConfigurationState", "metallb.io/v1beta1", {
  status: Nullable(
    Type.Object({
      result: Type.Optional(
        Type.Enum(CONFIGURATION_RESULTS, { description: "Whether everything that was read is in use as it stands" }),
      ),
      errorSummary: Type.Optional(Type.String({ description: "What is wrong, a sentence a line" })),
      conditions: Type.Optional(
        Type.Array(Condition, { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] }),
      ),
    }),
  ),
});
