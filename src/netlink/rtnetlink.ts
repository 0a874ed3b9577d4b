/**
 * rtnetlink: what the kernel tells of links, addresses and routes (RFC 3549 §3, linux/rtnetlink.h, linux/if_link.h).
 * Pure: bytes in, values out; messages of other kinds and attributes we do not use are passed over.
 */
import { type Decoded, decoded, dropped } from "../base/decoded.ts";
import { type AddressRecord, decodeAddress } from "./address.ts";
import { decodeLink, decodeLinkIndex, type LinkRecord } from "./link.ts";
import {
  encodeRequest,
  messagesOf,
  type NetlinkMessage,
  NLM_F_DUMP,
  NLM_F_DUMP_INTR,
  NLM_F_REPLACE,
  NLM_F_REQUEST,
  NLMSG_DONE,
  NLMSG_ERROR,
  viewOf,
} from "./message.ts";
import { decodeRoute, type RouteRecord } from "./route.ts";

export type RtnetlinkEvent =
  | { readonly kind: "link"; readonly link: LinkRecord }
  | { readonly kind: "link-gone"; readonly index: number }
  | { readonly kind: "address"; readonly address: AddressRecord }
  | { readonly kind: "address-gone"; readonly address: AddressRecord }
  /** `replaces`: a route of the same destination and metric is gone without being reported. */
  | { readonly kind: "route"; readonly route: RouteRecord; readonly replaces: boolean }
  | { readonly kind: "route-gone"; readonly route: RouteRecord }
  /** Things changed while they were listed, so the list may miss some: ask again. */
  | { readonly kind: "interrupted"; readonly sequence: number }
  /** The answer to a dump request is complete. */
  | { readonly kind: "done"; readonly sequence: number }
  /** A request failed; `errno` is positive, 0 acknowledges. */
  | { readonly kind: "error"; readonly sequence: number; readonly errno: number };

/** not-ours: another kind of message, or one about a bridge port or radio instead of the link itself. */
export type RtnetlinkDrop = "truncated" | "not-ours";

/** What can be listed, in the order in which it should be: addresses and routes name links. */
export const DUMPS = ["links", "addresses", "routes"] as const;
export type Dump = (typeof DUMPS)[number];

/** Bits of sockaddr_nl.nl_groups: RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV4_ROUTE, RTMGRP_IPV6_IFADDR, RTMGRP_IPV6_ROUTE. */
export const LINK_ADDRESS_ROUTE_GROUPS = 0x1 | 0x10 | 0x40 | 0x100 | 0x400;

const RTM_NEWLINK = 16;
const RTM_DELLINK = 17;
const RTM_GETLINK = 18;
const RTM_NEWADDR = 20;
const RTM_DELADDR = 21;
const RTM_GETADDR = 22;
const RTM_NEWROUTE = 24;
const RTM_DELROUTE = 25;
const RTM_GETROUTE = 26;

/** Request type and length of its family header (ifinfomsg, ifaddrmsg, rtmsg), which stays zero: all families. */
const DUMP_REQUEST: Readonly<Record<Dump, { readonly type: number; readonly bodyBytes: number }>> = {
  links: { type: RTM_GETLINK, bodyBytes: 16 },
  addresses: { type: RTM_GETADDR, bodyBytes: 8 },
  routes: { type: RTM_GETROUTE, bodyBytes: 12 },
};

export function encodeDumpRequest(dump: Dump, sequence: number): Uint8Array {
  const { type, bodyBytes } = DUMP_REQUEST[dump];
  return encodeRequest(type, NLM_F_REQUEST | NLM_F_DUMP, sequence, new Uint8Array(bodyBytes));
}

/** All events of a datagram, or of several one behind the other. */
export function decodeRtnetlink(bytes: Uint8Array): RtnetlinkEvent[] {
  const events: RtnetlinkEvent[] = [];
  for (const message of messagesOf(bytes)) {
    // Set in the one message of a dump that met the change, not in those after it.
    if ((message.flags & NLM_F_DUMP_INTR) !== 0 && message.type !== NLMSG_ERROR) {
      events.push({ kind: "interrupted", sequence: message.sequence });
    }
    const event = decodeEvent(message);
    if (event.ok) events.push(event.value);
  }
  return events;
}

function decodeEvent(message: NetlinkMessage): Decoded<RtnetlinkEvent, RtnetlinkDrop> {
  const { type, flags, sequence, body } = message;
  switch (type) {
    case NLMSG_DONE:
      return decoded({ kind: "done", sequence });
    case NLMSG_ERROR:
      if (body.length < 4) return dropped("truncated");
      return decoded({ kind: "error", sequence, errno: -viewOf(body).getInt32(0, true) });
    case RTM_NEWLINK:
      return mapped(decodeLink(body), (link) => ({ kind: "link", link }));
    case RTM_DELLINK:
      return mapped(decodeLinkIndex(body), (index) => ({ kind: "link-gone", index }));
    case RTM_NEWADDR:
      return mapped(decodeAddress(body), (address) => ({ kind: "address", address }));
    case RTM_DELADDR:
      return mapped(decodeAddress(body), (address) => ({ kind: "address-gone", address }));
    case RTM_NEWROUTE:
      return mapped(decodeRoute(body), (route) => ({ kind: "route", route, replaces: (flags & NLM_F_REPLACE) !== 0 }));
    case RTM_DELROUTE:
      return mapped(decodeRoute(body), (route) => ({ kind: "route-gone", route }));
    default:
      return dropped("not-ours");
  }
}

function mapped<Value>(
  result: Decoded<Value, RtnetlinkDrop>,
  toEvent: (value: Value) => RtnetlinkEvent,
): Decoded<RtnetlinkEvent, RtnetlinkDrop> {
  return result.ok ? decoded(toEvent(result.value)) : result;
}
