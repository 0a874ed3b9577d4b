/** Why a Service gets no address, or not the one it asks for: one closed set. */
import type { Family, Ip } from "../net/ip.ts";
import type { ServiceKey } from "./service.ts";

/** What a user wrote: where, and what. */
export interface Asked {
  readonly path: readonly string[];
  readonly value: string;
}

export type Refusal =
  | { readonly reason: "no-pools" }
  | { readonly reason: "no-cluster-ip" }
  /** RequireDualStack on a Service that has fewer than two. */
  | { readonly reason: "not-enough-cluster-ips"; readonly clusterIps: readonly string[] }
  | { readonly reason: "cluster-ips-unreadable"; readonly clusterIps: readonly string[] }
  /** By annotation and by `spec.loadBalancerIP`. */
  | { readonly reason: "addresses-asked-twice"; readonly asked: Asked; readonly loadBalancerIp: string }
  | { readonly reason: "asked-for-no-address"; readonly asked: Asked; readonly part: string }
  | { readonly reason: "asked-for-two-of-a-family"; readonly asked: Asked; readonly family: Family }
  | { readonly reason: "asked-for-other-family"; readonly asked: Asked; readonly families: readonly Family[] }
  /** A dual-stack Service names one address. */
  | { readonly reason: "asked-for-one-of-two"; readonly asked: Asked }
  | { readonly reason: "address-in-no-pool"; readonly asked: Asked; readonly address: Ip }
  | { readonly reason: "address-avoided"; readonly asked: Asked; readonly address: Ip; readonly pool: string }
  | { readonly reason: "addresses-in-two-pools"; readonly asked: Asked; readonly pools: readonly string[] }
  | { readonly reason: "address-in-other-pool"; readonly asked: Asked; readonly pool: string; readonly wanted: string }
  | { readonly reason: "address-of-node"; readonly asked: Asked; readonly address: Ip; readonly node: string }
  /** `until`: RFC 3339; absent: by hand. */
  | {
      readonly reason: "address-reserved";
      readonly asked: Asked;
      readonly address: Ip;
      readonly reservedFor: ServiceKey;
      readonly until?: string;
    }
  | { readonly reason: "unknown-pool"; readonly asked: Asked; readonly fitting: readonly string[] }
  | { readonly reason: "pool-refused"; readonly asked?: Asked; readonly pool: string; readonly fault: string }
  /** `asked` is absent where an address that the Service has lies in it. */
  | {
      readonly reason: "pool-does-not-admit";
      readonly asked?: Asked;
      readonly pool: string;
      readonly namespace: string;
    }
  | { readonly reason: "pool-lacks-family"; readonly asked?: Asked; readonly pool: string; readonly family: Family }
  | { readonly reason: "pool-full"; readonly asked?: Asked; readonly pool: string; readonly family: Family }
  /** One of the Services has no sharing key. */
  | {
      readonly reason: "address-in-use";
      readonly address: Ip;
      readonly by: readonly ServiceKey[];
      readonly key: string;
    }
  | {
      readonly reason: "sharing-key-differs";
      readonly address: Ip;
      readonly by: readonly ServiceKey[];
      readonly key: string;
    }
  | { readonly reason: "sharing-policy-differs"; readonly address: Ip; readonly by: readonly ServiceKey[] }
  | { readonly reason: "port-in-use"; readonly address: Ip; readonly by: readonly ServiceKey[]; readonly port: string }
  /** An address that the Service has is in no pool any more. */
  | { readonly reason: "pool-gone"; readonly addresses: readonly Ip[] }
  /** No pool gives to this Service by itself. */
  | { readonly reason: "no-pool-for-service"; readonly namespace: string; readonly pools: readonly string[] }
  | { readonly reason: "no-pool-of-family"; readonly family: Family; readonly pools: readonly string[] }
  | {
      readonly reason: "no-pool-of-both-families";
      readonly onlyIpv4: readonly string[];
      readonly onlyIpv6: readonly string[];
    }
  | { readonly reason: "no-free-address"; readonly pools: readonly string[] };

export type RefusalReason = Refusal["reason"];
