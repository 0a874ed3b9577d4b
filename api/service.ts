/** Core v1 Service, as far as Arpeggio reads it. */
import { Type } from "typebox";
import { Nullable, Resource } from "./object-meta.ts";

const Ingress = Type.Object({ ip: Nullable(Type.String()), hostname: Nullable(Type.String()) });

export const ServiceSchema = Resource("Service", "v1", {
  spec: Nullable(
    Type.Object({
      type: Nullable(Type.Enum(["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"])),
      loadBalancerClass: Nullable(Type.String()),
      loadBalancerIP: Nullable(Type.String()),
      externalTrafficPolicy: Nullable(Type.Enum(["Cluster", "Local", ""])),
    }),
  ),
  status: Nullable(
    Type.Object({
      loadBalancer: Nullable(Type.Object({ ingress: Nullable(Type.Array(Ingress)) })),
    }),
  ),
});

export type ServiceResource = Type.Static<typeof ServiceSchema>;
