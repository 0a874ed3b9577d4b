/** Carries out what the announcer asks for: frames, groups, filters. The thin shell between the machine and its ports. */
import type { Family, Ip } from "../net/ip.ts";
import type { Prefix } from "../net/prefix.ts";
import { Announcer } from "./announcer.ts";
import type { GroupPort, PacketPort } from "./packet-port.ts";
import type { SharedSegment } from "./plan.ts";
import type {
  AddressState,
  AnnouncerCounters,
  AnnouncerEffect,
  AnnouncerEvent,
  AnnouncerNote,
  HandoverMessage,
} from "./ports.ts";

export interface AnnouncerDriverOptions {
  readonly nodeName: string;
  readonly packets: PacketPort;
  readonly groups: GroupPort;
  /** Once for each member that is to be told something: what one event led to goes together. */
  readonly sendMessages: (to: string, messages: readonly HandoverMessage[]) => void;
  readonly note: (note: AnnouncerNote, nowMs: number) => void;
  /** See `AnnouncerOptions`. */
  readonly leaseEndMs?: (ip: Ip) => number;
}

export interface FrameCounts {
  readonly ipv4: number;
  readonly ipv6: number;
}

export class AnnouncerDriver {
  readonly #options: AnnouncerDriverOptions;
  readonly #announcer: Announcer;
  readonly #received = { ipv4: 0, ipv6: 0 };
  readonly #sent = { ipv4: 0, ipv6: 0 };
  #poolPrefixes: readonly Prefix[] = [];
  /** Where the reply to the frame being received goes; kept here so that answering allocates no closure. */
  #replyLink = 0;
  #replyFamily: Family = 4;
  readonly #reply = (bytes: Uint8Array): void => this.#send(this.#replyLink, this.#replyFamily, bytes);

  constructor(options: AnnouncerDriverOptions) {
    this.#options = options;
    this.#announcer = new Announcer(options);
  }

  /** Where filters fall back to when exact addresses do not fit; takes effect with the next change of addresses. */
  setPoolPrefixes(prefixes: readonly Prefix[]): void {
    this.#poolPrefixes = prefixes;
  }

  handle(event: AnnouncerEvent, nowMs: number): void {
    const effects = this.#announcer.handle(event, nowMs);
    if (effects.length === 0) return;
    const outgoing = new Map<string, HandoverMessage[]>();
    for (const effect of effects) {
      if (effect.kind === "message") collect(outgoing, effect.to, effect.message);
      else this.#perform(effect, nowMs);
    }
    for (const [node, messages] of outgoing) this.#options.sendMessages(node, messages);
    // Frames leave only now, after the claims.
    this.#options.packets.flush();
  }

  /** The reply, if any, is queued; the port sends it with the batch. */
  receive(linkIndex: number, family: Family, frame: Uint8Array, vlanTag: number | undefined, nowMs: number): void {
    if (family === 4) this.#received.ipv4++;
    else this.#received.ipv6++;
    this.#replyLink = linkIndex;
    this.#replyFamily = family;
    this.#announcer.receive(linkIndex, family, frame, vlanTag, nowMs, this.#reply);
  }

  nextDeadlineMs(): number | undefined {
    return this.#announcer.nextDeadlineMs();
  }

  /** Undefined: there is no duty for the address. */
  addressState(ip: Ip): AddressState | undefined {
    return this.#announcer.addressState(ip);
  }

  sharedSegments(): readonly SharedSegment[] {
    return this.#announcer.sharedSegments;
  }

  counters(): AnnouncerCounters & { readonly received: FrameCounts; readonly sent: FrameCounts } {
    return { ...this.#announcer.counters(), received: { ...this.#received }, sent: { ...this.#sent } };
  }

  #perform(effect: Exclude<AnnouncerEffect, { readonly kind: "message" }>, nowMs: number): void {
    const { packets, groups } = this.#options;
    switch (effect.kind) {
      case "frame":
        return this.#send(effect.linkIndex, effect.family, effect.bytes);
      case "join-group":
        return groups.join(effect.linkIndex, effect.group);
      case "leave-group":
        return groups.leave(effect.linkIndex, effect.group);
      case "filter":
        return packets.setFilter(effect.linkIndex, effect.addresses, this.#poolPrefixes, effect.come);
      case "noted":
        return this.#options.note(effect.note, nowMs);
    }
  }

  #send(linkIndex: number, family: Family, bytes: Uint8Array): void {
    if (family === 4) this.#sent.ipv4++;
    else this.#sent.ipv6++;
    this.#options.packets.send(linkIndex, family, bytes);
  }
}

function collect(outgoing: Map<string, HandoverMessage[]>, to: readonly string[], message: HandoverMessage): void {
  for (const node of to) {
    const messages = outgoing.get(node);
    if (messages === undefined) outgoing.set(node, [message]);
    else messages.push(message);
  }
}
