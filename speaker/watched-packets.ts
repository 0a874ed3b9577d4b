/** The announcer's packet sockets, which hear a few addresses more: those by whose answers this node sees that another lives (D7). */
import type { PacketPort } from "../src/announcer/packet-port.ts";
import type { Family, Ip } from "../src/net/ip.ts";
import type { Prefix } from "../src/net/prefix.ts";

interface Wanted {
  readonly addresses: readonly Ip[];
  readonly prefixes: readonly Prefix[];
}

const NOTHING: Wanted = { addresses: [], prefixes: [] };

export class WatchedPackets implements PacketPort {
  readonly #packets: PacketPort;
  readonly #wanted = new Map<number, Wanted>();
  readonly #watched = new Map<number, readonly Ip[]>();

  constructor(packets: PacketPort) {
    this.#packets = packets;
  }

  /** What is to be heard on this link beside what the announcer wants. */
  watch(linkIndex: number, addresses: readonly Ip[]): void {
    const before = this.#watched.get(linkIndex) ?? [];
    if (addresses.length === before.length && addresses.every((ip) => before.includes(ip))) return;
    this.#watched.set(linkIndex, addresses);
    this.#apply(linkIndex);
  }

  setFilter(linkIndex: number, addresses: readonly Ip[], prefixes: readonly Prefix[]): void {
    this.#wanted.set(linkIndex, { addresses, prefixes });
    this.#apply(linkIndex);
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

  #apply(linkIndex: number): void {
    const { addresses, prefixes } = this.#wanted.get(linkIndex) ?? NOTHING;
    // A few beside thousands, each once.
    const others = (this.#watched.get(linkIndex) ?? []).filter((ip) => !addresses.includes(ip));
    this.#packets.setFilter(linkIndex, others.length === 0 ? addresses : [...addresses, ...others], prefixes);
  }
}
