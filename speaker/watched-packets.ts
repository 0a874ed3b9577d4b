/** The announcer's packet sockets, which hear a few addresses more: those by whose answers this node sees that another lives (D7). */
import type { PacketPort } from "../src/announcer/packet-port.ts";
import { type AddressSet, NO_ADDRESSES, unionOf } from "../src/net/address-set.ts";
import type { Family, Ip } from "../src/net/ip.ts";
import type { Prefix } from "../src/net/prefix.ts";

interface Wanted {
  readonly addresses: AddressSet;
  readonly prefixes: readonly Prefix[];
}

const NOTHING: Wanted = { addresses: NO_ADDRESSES, prefixes: [] };

export class WatchedPackets implements PacketPort {
  readonly #packets: PacketPort;
  readonly #wanted = new Map<number, Wanted>();
  readonly #watched = new Map<number, AddressSet>();

  constructor(packets: PacketPort) {
    this.#packets = packets;
  }

  /** What is to be heard on this link beside what the announcer wants. */
  watch(linkIndex: number, addresses: readonly Ip[]): void {
    const before = this.#watched.get(linkIndex) ?? NO_ADDRESSES;
    const watched = new Set(addresses);
    const come = [...watched].filter((ip) => !before.has(ip));
    if (come.length === 0 && watched.size === before.size) return;
    this.#watched.set(linkIndex, watched);
    this.#apply(linkIndex, come);
  }

  setFilter(linkIndex: number, addresses: AddressSet, prefixes: readonly Prefix[], come: readonly Ip[]): void {
    this.#wanted.set(linkIndex, { addresses, prefixes });
    this.#apply(linkIndex, come);
  }

  setLinks(links: Parameters<PacketPort["setLinks"]>[0]): void {
    this.#packets.setLinks(links);
  }

  failedLinks(): ReadonlySet<number> {
    return this.#packets.failedLinks();
  }

  send(linkIndex: number, family: Family, bytes: Uint8Array): void {
    this.#packets.send(linkIndex, family, bytes);
  }

  flush(): void {
    this.#packets.flush();
  }

  discardAll(): number {
    return this.#packets.discardAll();
  }

  drainAll(): void {
    this.#packets.drainAll();
  }

  #apply(linkIndex: number, come: readonly Ip[]): void {
    const { addresses, prefixes } = this.#wanted.get(linkIndex) ?? NOTHING;
    const heard = unionOf(addresses, this.#watched.get(linkIndex) ?? NO_ADDRESSES);
    this.#packets.setFilter(linkIndex, heard, prefixes, come);
  }
}
