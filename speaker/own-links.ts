/** This node's links: sockets are opened on those that count, and what does not open does not count. */
import type { PacketPort } from "../src/announcer/packet-port.ts";
import type { AnnounceLink } from "../src/announcer/ports.ts";
import type { JudgedLink } from "../src/election/usable-links.ts";
import type { OwnNode } from "./own-node.ts";

export class OwnLinks {
  readonly #node: OwnNode;
  readonly #packets: PacketPort;
  #judged = "";
  #told = "";
  #current: readonly AnnounceLink[] = [];

  constructor(node: OwnNode, packets: PacketPort) {
    this.#node = node;
    this.#packets = packets;
  }

  /** As the announcer was told, the same array while they are the same. */
  get current(): readonly AnnounceLink[] {
    return this.#current;
  }

  /** Opens and closes sockets, then gives the announcer's links; undefined when they are what they were. */
  refresh(nowMs: number): readonly AnnounceLink[] | undefined {
    if (!this.#node.knowsLinks) return undefined;
    if (JSON.stringify(this.#node.links(nowMs)) !== this.#judged) {
      const wanted = this.#node.links(nowMs).filter(isWanted);
      this.#packets.setLinks(wanted.map(({ link }) => ({ index: link.index, name: link.name })));
    }
    this.#node.failSockets(this.#packets.failedLinks());
    const judged = this.#node.links(nowMs);
    this.#judged = JSON.stringify(judged);
    const links = judged.map(announceLinkOf);
    const text = JSON.stringify(links);
    if (text === this.#told) return undefined;
    this.#told = text;
    this.#current = links;
    return links;
  }
}

function announceLinkOf({ link, isUsable }: JudgedLink): AnnounceLink {
  const { index, name, mac, addresses, prefixes } = link;
  return { index, name, mac, isUsable, addresses, prefixes };
}

/** Sockets are kept on it: nothing but a socket that fails now speaks against it. */
function isWanted({ isUsable, reason }: JudgedLink): boolean {
  return isUsable || reason === "socket-failed";
}
