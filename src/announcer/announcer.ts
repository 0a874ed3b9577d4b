/** The announcer (DESIGN D8, D10, D11): duties, links and messages in, frames, groups, filters and messages out. No socket, no clock. */
import type { Family } from "../net/ip.ts";
import type {
  AddressState,
  AnnouncerCounters,
  AnnouncerEffect,
  AnnouncerEvent,
  ReceiveDrop,
  ReceiveVerdict,
} from "./ports.ts";

export interface AnnouncerOptions {
  /** This node's name in gossip, as it stands in its claims. */
  readonly nodeName: string;
}

export class Announcer {
  readonly #nodeName: string;
  #drops = new Map<ReceiveDrop, number>();

  constructor(options: AnnouncerOptions) {
    this.#nodeName = options.nodeName;
  }

  /** Effects in the order in which they are to be carried out. Call with "tick" when the deadline is due; sockets are read first. */
  handle(event: AnnouncerEvent, nowMs: number): AnnouncerEffect[] {
    void [event, nowMs, this.#nodeName];
    return [];
  }

  /**
   * One received frame, its VLAN tag control information taken from the socket. An answer goes through `send` before this
   * returns; its bytes are valid during that call only.
   */
  receive(
    linkIndex: number,
    family: Family,
    frame: Uint8Array,
    vlanTag: number | undefined,
    nowMs: number,
    send: (bytes: Uint8Array) => void,
  ): ReceiveVerdict {
    void [linkIndex, family, frame, vlanTag, nowMs, send];
    return "muted";
  }

  /** When `handle` wants its next "tick"; a received frame may bring it forward to now. */
  nextDeadlineMs(): number | undefined {
    return undefined;
  }

  addressStates(): AddressState[] {
    return [];
  }

  counters(): AnnouncerCounters {
    return { answered: { arp: 0, ndp: 0 }, announcedFrames: 0, drops: this.#drops };
  }
}
