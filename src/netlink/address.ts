/** RTM_NEWADDR and RTM_DELADDR: struct ifaddrmsg and IFA_* attributes (linux/if_addr.h). Pure. */
import { type Decoded, decoded, dropped } from "../base/decoded.ts";
import { type Ip, ipOfBytes } from "../net/ip.ts";
import { attributesOf, viewOf, wordOf } from "./message.ts";

export interface AddressRecord {
  readonly linkIndex: number;
  readonly ip: Ip;
  /** Together with the address the kernel's key: one address may stand on a link with two lengths. */
  readonly prefixLength: number;
  /** False while duplicate address detection runs, or when it found another holder (RFC 4862 §5.4). */
  readonly isAssigned: boolean;
}

/** Length of struct ifaddrmsg: family u8, prefix length u8, flags u8, scope u8, index u32. */
const HEADER_BYTES = 8;
const IFA_ADDRESS = 1;
const IFA_LOCAL = 2;
const IFA_FLAGS = 8;
const IFA_F_OPTIMISTIC = 0x04;
const IFA_F_DADFAILED = 0x08;
const IFA_F_TENTATIVE = 0x40;

export function decodeAddress(body: Uint8Array): Decoded<AddressRecord, "truncated" | "not-ours"> {
  if (body.length < HEADER_BYTES) return dropped("truncated");
  const attributes = attributesOf(body, HEADER_BYTES);
  // On a point-to-point link IFA_ADDRESS is the other end's.
  const bytes = attributes.get(IFA_LOCAL) ?? attributes.get(IFA_ADDRESS);
  const ip = bytes === undefined ? undefined : ipOfBytes(bytes);
  if (ip === undefined) return dropped("not-ours");
  // The header has room for eight flags only.
  const flags = wordOf(attributes.get(IFA_FLAGS)) ?? body[2] ?? 0;
  const isTentative = (flags & IFA_F_TENTATIVE) !== 0 && (flags & IFA_F_OPTIMISTIC) === 0;
  return decoded({
    linkIndex: viewOf(body).getUint32(4, true),
    ip,
    prefixLength: body[1] ?? 0,
    isAssigned: !isTentative && (flags & IFA_F_DADFAILED) === 0,
  });
}
