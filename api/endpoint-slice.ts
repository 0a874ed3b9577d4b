/** discovery.k8s.io/v1 EndpointSlice, as far as Arpeggio reads it. */
import { Type } from "typebox";
import { Nullable, Resource } from "./object-meta.ts";

const Conditions = Type.Object({
  ready: Nullable(Type.Boolean()),
  serving: Nullable(Type.Boolean()),
  terminating: Nullable(Type.Boolean()),
});

const Endpoint = Type.Object({ nodeName: Nullable(Type.String()), conditions: Nullable(Conditions) });

export const EndpointSliceSchema = Resource("EndpointSlice", "discovery.k8s.io/v1", {
  endpoints: Nullable(Type.Array(Endpoint)),
});

export type EndpointSliceResource = Type.Static<typeof EndpointSliceSchema>;
