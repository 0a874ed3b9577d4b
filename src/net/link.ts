/** A network link as the kernel describes it (rtnetlink); plain values, re-derived from netlink at every change. */
import type { Ip } from "./ip.ts";
import type { Mac } from "./mac.ts";
import type { Prefix } from "./prefix.ts";

/** What stands over this link, as IFLA_LINKINFO of the master says: only a VRF leaves a link usable (DESIGN D3). */
export type MasterKind = "none" | "vrf" | "other";

export interface Link {
  readonly index: number;
  readonly name: string;
  readonly mac: Mac;
  readonly isEthernet: boolean;
  readonly isLoopback: boolean;
  readonly isBroadcast: boolean;
  /** IFF_NOARP */
  readonly isNoArp: boolean;
  /** IFF_UP: the administrator's wish. */
  readonly isAdminUp: boolean;
  /** IFLA_CARRIER and an operational state of up or unknown: the link really carries frames. */
  readonly hasCarrier: boolean;
  readonly masterKind: MasterKind;
  /** Addresses that the kernel itself holds on the link. */
  readonly addresses: readonly Ip[];
  /** Prefixes whose addresses are reached on this link without a gateway (on-link routes). Link-local prefixes are left out. */
  readonly prefixes: readonly Prefix[];
}

/** Whether the kernel reports nothing that forbids answering on this link; hold-up delay and selection are judged elsewhere. */
export function isLinkUp(link: Link): boolean {
  return (
    link.isEthernet &&
    !link.isLoopback &&
    link.isBroadcast &&
    !link.isNoArp &&
    link.isAdminUp &&
    link.hasCarrier &&
    link.masterKind !== "other"
  );
}
