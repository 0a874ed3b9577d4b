/**
 * metallb.io/v1beta1 ServiceL2Status, as MetalLB has it: which node answers for a Service. It lies in the speaker's namespace, not in the
 * Service's; labels and annotations of it stand in annotations.ts. What it says of the node never changes: a new leader makes a new object.
 */
import { Type } from "typebox";
import { Nullable, Resource } from "./object-meta.ts";

const immutable = {
  "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "Value is immutable" }],
} as const;

export const ServiceL2StatusSchema = Resource("ServiceL2Status", "metallb.io/v1beta1", {
  spec: Nullable(Type.Object({})),
  /** Absent between the object's creation and the first write of its status. */
  status: Nullable(
    Type.Object({
      node: Type.Optional(Type.String({ description: "The node that answers", ...immutable })),
      serviceName: Type.Optional(Type.String({ description: "Name of the Service", ...immutable })),
      serviceNamespace: Type.Optional(Type.String({ description: "Namespace of the Service", ...immutable })),
      interfaces: Type.Optional(
        Type.Array(Type.Object({ name: Type.Optional(Type.String({ description: "Link name" })) }), {
          description: "Links that the addresses are answered on, if advertisements restrict them",
        }),
      ),
    }),
  ),
});
