/** What the announcer's driver needs of the system: narrow, so that a simulated segment can stand in for the kernel. */
import type { AddressSet } from "../net/address-set.ts";
import type { Family, Ip } from "../net/ip.ts";
import type { Prefix } from "../net/prefix.ts";

/** Where an implementation delivers what it hears; `frame` is valid during the call only. */
export type FrameListener = (linkIndex: number, family: Family, frame: Uint8Array, vlanTag: number | undefined) => void;

export interface PacketPort {
  /** The links to keep sockets on; one that fails disturbs no other and is tried again. */
  setLinks(links: readonly { readonly index: number; readonly name: string }[]): void;
  /** Indices of wanted links on which some socket is not open, so that nobody could be answered there. */
  failedLinks(): ReadonlySet<number>;
  /**
   * Only packets that concern these addresses wake us; `prefixes` serve where exact addresses do not fit. `come`: those among them that
   * were not when this was called last for the link. There may be thousands, which are not to be walked for every one.
   */
  setFilter(linkIndex: number, addresses: AddressSet, prefixes: readonly Prefix[], come: readonly Ip[]): void;
  /** Queues a frame; `bytes` may be reused when the call returns. */
  send(linkIndex: number, family: Family, bytes: Uint8Array): void;
  flush(): void;
  /** Drops what is queued unread on every socket; gives the number of frames. */
  discardAll(): number;
  /** Delivers what is queued, until the sockets are empty. */
  drainAll(): void;
}

/** Really joined solicited-node groups, so that switches that snoop MLD forward solicitations. */
export interface GroupPort {
  join(linkIndex: number, group: Ip): void;
  leave(linkIndex: number, group: Ip): void;
}
