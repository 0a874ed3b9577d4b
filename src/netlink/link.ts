/** RTM_NEWLINK and RTM_DELLINK: struct ifinfomsg and IFLA_* attributes (linux/if_link.h). Pure. */
import { type Decoded, decoded, dropped } from "../base/decoded.ts";
import { MAC_BYTES, type Mac, macAt, ZERO_MAC } from "../net/mac.ts";
import { attributesOf, textOf, viewOf, wordOf } from "./message.ts";

/** A link as one message describes it, before masters, addresses and routes are put together. */
export interface LinkRecord {
  readonly index: number;
  readonly name: string;
  /** ARPHRD_*: 1 Ethernet, 772 loopback. */
  readonly hardwareType: number;
  readonly mac: Mac;
  /** IFF_* */
  readonly flags: number;
  readonly hasCarrier: boolean;
  /** Own kind, "bridge", "vrf", "veth"…; absent for a plain device. */
  readonly kind?: string;
  readonly masterIndex?: number;
  /** What the master is, as far as this link's driver says so. */
  readonly masterKind?: string;
  /** Routing table of the VRF that this link belongs to. */
  readonly vrfTable?: number;
}

export const IFF_UP = 0x1;
export const IFF_BROADCAST = 0x2;
export const IFF_LOOPBACK = 0x8;
export const IFF_NOARP = 0x80;
const IFF_LOWER_UP = 0x10000;

export const ARPHRD_ETHER = 1;

/** Length of struct ifinfomsg: family u8, padding u8, type u16, index i32, flags u32, change u32. */
const HEADER_BYTES = 16;
const AF_UNSPEC = 0;

const IFLA_ADDRESS = 1;
const IFLA_IFNAME = 3;
const IFLA_MASTER = 10;
const IFLA_WIRELESS = 11;
const IFLA_OPERSTATE = 16;
const IFLA_LINKINFO = 18;
const IFLA_CARRIER = 33;

const IFLA_INFO_KIND = 1;
const IFLA_INFO_SLAVE_KIND = 4;
const IFLA_INFO_SLAVE_DATA = 5;
const IFLA_VRF_PORT_TABLE = 1;

/** RFC 2863: drivers that do not keep the operational state leave it unknown. */
const OPERSTATE_UNKNOWN = 0;
const OPERSTATE_UP = 6;

/** Messages of another family are about the link as a bridge port; RTM_DELLINK then says that it left the bridge. */
export function decodeLink(body: Uint8Array): Decoded<LinkRecord, "truncated" | "not-ours"> {
  const index = decodeLinkIndex(body);
  if (!index.ok) return index;
  const view = viewOf(body);
  const attributes = attributesOf(body, HEADER_BYTES);
  const name = textOf(attributes.get(IFLA_IFNAME));
  // A wireless event has only this attribute beside the name, and would seem to take everything else away.
  if (name === undefined || attributes.has(IFLA_WIRELESS)) return dropped("not-ours");
  const flags = view.getUint32(8, true);
  const address = attributes.get(IFLA_ADDRESS);
  return decoded({
    index: index.value,
    name,
    hardwareType: view.getUint16(2, true),
    mac: address?.length === MAC_BYTES ? macAt(address) : ZERO_MAC,
    flags,
    hasCarrier: hasCarrier(attributes, flags),
    ...relations(attributes),
  });
}

export function decodeLinkIndex(body: Uint8Array): Decoded<number, "truncated" | "not-ours"> {
  if (body.length < HEADER_BYTES) return dropped("truncated");
  if (body[0] !== AF_UNSPEC) return dropped("not-ours");
  return decoded(viewOf(body).getInt32(4, true));
}

/** A link without carrier still has IFF_UP; one that waits for something below or behind it has carrier, but is not up. */
function hasCarrier(attributes: ReadonlyMap<number, Uint8Array>, flags: number): boolean {
  const carrier = attributes.get(IFLA_CARRIER)?.[0];
  const state = attributes.get(IFLA_OPERSTATE)?.[0] ?? OPERSTATE_UNKNOWN;
  const isPlugged = carrier === undefined ? (flags & IFF_LOWER_UP) !== 0 : carrier === 1;
  return isPlugged && (state === OPERSTATE_UP || state === OPERSTATE_UNKNOWN);
}

function relations(
  attributes: ReadonlyMap<number, Uint8Array>,
): Pick<LinkRecord, "kind" | "masterIndex" | "masterKind" | "vrfTable"> {
  const info = attributesOf(attributes.get(IFLA_LINKINFO) ?? new Uint8Array());
  const kind = textOf(info.get(IFLA_INFO_KIND));
  const masterKind = textOf(info.get(IFLA_INFO_SLAVE_KIND));
  const masterIndex = wordOf(attributes.get(IFLA_MASTER));
  const port = attributesOf(info.get(IFLA_INFO_SLAVE_DATA) ?? new Uint8Array());
  const vrfTable = masterKind === "vrf" ? wordOf(port.get(IFLA_VRF_PORT_TABLE)) : undefined;
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(masterIndex === undefined || masterIndex === 0 ? {} : { masterIndex }),
    ...(masterKind === undefined ? {} : { masterKind }),
    ...(vrfTable === undefined ? {} : { vrfTable }),
  };
}
