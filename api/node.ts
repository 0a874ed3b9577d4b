/** Core v1 Node, as far as Arpeggio reads it. */
import { Type } from "typebox";
import { Nullable, Resource } from "./object-meta.ts";

export const NodeSchema = Resource("Node", "v1", {
  spec: Nullable(
    Type.Object({
      unschedulable: Nullable(Type.Boolean()),
      taints: Nullable(Type.Array(Type.Object({ key: Type.String() }))),
    }),
  ),
  status: Nullable(
    Type.Object({
      addresses: Nullable(Type.Array(Type.Object({ type: Type.String(), address: Type.String() }))),
      conditions: Nullable(Type.Array(Type.Object({ type: Type.String(), status: Type.String() }))),
    }),
  ),
});

export type NodeResource = Type.Static<typeof NodeSchema>;
