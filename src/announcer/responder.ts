/** From a received frame to its answer, or to the reason why there is none (DESIGN D10). Makes no value of the frame. */
import type { Family } from "../net/ip.ts";
import { MAC_BYTES } from "../net/mac.ts";
import {
  arpAnswerTemplate,
  ndpAnswerTemplate,
  solicitorMacAt,
  writeArpAnswer,
  writeNdpAnswer,
} from "../packet/answer.ts";
import {
  ARP_REQUEST,
  ARP_SENDER_IP_OFFSET,
  ARP_SENDER_MAC_OFFSET,
  ARP_TARGET_IP_OFFSET,
  arpDropOf,
  arpOperationAt,
} from "../packet/arp.ts";
import { ETHERTYPE_ARP, ETHERTYPE_IPV6, payloadOffsetOf, vlanIdOf } from "../packet/ethernet.ts";
import { IPV6_SOURCE_OFFSET } from "../packet/ipv6.ts";
import { NDP_TARGET_OFFSET, NDP_TYPE_OFFSET, NEIGHBOR_SOLICITATION, ndpDropOf } from "../packet/ndp.ts";
import { type AddressTable, isAt } from "./address-table.ts";
import type { ReceiveVerdict } from "./ports.ts";

/** A link as the responder needs it. */
export interface ReceivingLink {
  readonly index: number;
  readonly mac: Uint8Array;
  /** The node's other usable links: a frame from one of them shows that both lie on one segment. */
  readonly siblings: readonly { readonly index: number; readonly mac: Uint8Array }[];
}

export interface AnswerableAddress {
  readonly bytes: Uint8Array;
  /** Link indexes on which requests for the address are answered. */
  readonly answeredOn: readonly number[];
}

const SOURCE_OFFSET = 6;
const BROADCAST = new Uint8Array(MAC_BYTES).fill(0xff);

export class Responder<Address extends AnswerableAddress> {
  readonly #addresses: AddressTable<Address>;
  readonly #arpAnswer = arpAnswerTemplate();
  readonly #ndpAnswer = ndpAnswerTemplate();
  /** After "answered": the frame to send, overwritten by the next answer. */
  answer = this.#arpAnswer;
  /** After "answered" and "holder-heard": the address in question. */
  address: Address | undefined;
  /** After "own-frame": the other link of this node that sent the frame, if it was another. */
  siblingIndex: number | undefined;

  constructor(addresses: AddressTable<Address>) {
    this.#addresses = addresses;
  }

  /** `vlanTag` is tag control information that the kernel took off the frame. */
  respond(link: ReceivingLink, family: Family, frame: Uint8Array, vlanTag: number | undefined): ReceiveVerdict {
    if (vlanTag !== undefined && vlanIdOf(vlanTag) !== 0) return "vlan-tag";
    const at = payloadOffsetOf(frame, family === 4 ? ETHERTYPE_ARP : ETHERTYPE_IPV6);
    if (at === 0) return "other-protocol";
    if (this.#isOwn(link, frame)) return "own-frame";
    return family === 4 ? this.#respondArp(link, frame, at) : this.#respondNdp(link, frame, at);
  }

  #respondArp(link: ReceivingLink, frame: Uint8Array, at: number): ReceiveVerdict {
    const reason = arpDropOf(frame, at);
    if (reason !== undefined) return reason;
    const holder = this.#addresses.ipv4At(frame, at + ARP_SENDER_IP_OFFSET);
    if (arpOperationAt(frame, at) !== ARP_REQUEST) return this.#hear(holder, "not-a-request");
    const target = this.#addresses.ipv4At(frame, at + ARP_TARGET_IP_OFFSET);
    // Sender and target alike: not a question but an announcement (RFC 5227 §2.3).
    if (target === undefined || target === holder || !target.answeredOn.includes(link.index)) {
      return this.#hear(holder, "not-answered-here");
    }
    if (!isAt(link.mac, frame, 0) && !isAt(BROADCAST, frame, 0)) return "foreign-destination";
    if (isGroupAt(frame, at + ARP_SENDER_MAC_OFFSET)) return "group-sender";
    writeArpAnswer(this.#arpAnswer, link.mac, frame, at);
    this.answer = this.#arpAnswer;
    this.address = target;
    return "answered";
  }

  #respondNdp(link: ReceivingLink, frame: Uint8Array, at: number): ReceiveVerdict {
    const reason = ndpDropOf(frame, at);
    if (reason !== undefined) return reason;
    const target = this.#addresses.ipv6At(frame, at + NDP_TARGET_OFFSET);
    if (frame[at + NDP_TYPE_OFFSET] !== NEIGHBOR_SOLICITATION) return this.#hear(target, "not-a-request");
    if (target === undefined || !target.answeredOn.includes(link.index)) {
      // Who solicits from an address holds it.
      return this.#hear(this.#addresses.ipv6At(frame, at + IPV6_SOURCE_OFFSET), "not-answered-here");
    }
    if (!isAt(link.mac, frame, 0) && !isAt(BROADCAST, frame, 0) && !isSolicitedNodeMacOf(target.bytes, frame)) {
      return "foreign-destination";
    }
    if (isGroupAt(frame, solicitorMacAt(frame, at))) return "group-sender";
    writeNdpAnswer(this.#ndpAnswer, link.mac, frame, at);
    this.answer = this.#ndpAnswer;
    this.address = target;
    return "answered";
  }

  /** Another node spoke as `holder`, when that is an address of ours. */
  #hear(holder: Address | undefined, otherwise: ReceiveVerdict): ReceiveVerdict {
    if (holder === undefined) return otherwise;
    this.address = holder;
    return "holder-heard";
  }

  #isOwn(link: ReceivingLink, frame: Uint8Array): boolean {
    this.siblingIndex = undefined;
    if (isAt(link.mac, frame, SOURCE_OFFSET)) return true;
    for (const sibling of link.siblings) {
      if (!isAt(sibling.mac, frame, SOURCE_OFFSET)) continue;
      this.siblingIndex = sibling.index;
      return true;
    }
    return false;
  }
}

/** The group bit of the MAC at `offset`. */
function isGroupAt(frame: Uint8Array, offset: number): boolean {
  return ((frame[offset] ?? 0) & 1) === 1;
}

/** Whether the frame goes to 33:33:ff and the last three bytes of the address (RFC 4291 §2.7.1, RFC 2464 §7). */
function isSolicitedNodeMacOf(address: Uint8Array, frame: Uint8Array): boolean {
  return (
    frame[0] === 0x33 &&
    frame[1] === 0x33 &&
    frame[2] === 0xff &&
    frame[3] === address[13] &&
    frame[4] === address[14] &&
    frame[5] === address[15]
  );
}
