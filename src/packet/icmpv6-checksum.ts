/** The ICMPv6 checksum over message and pseudo-header (RFC 4443 §2.3, RFC 8200 §8.1). Pure. */
import { u16At } from "../base/bytes.ts";
import { IPV6_HEADER_BYTES, IPV6_SOURCE_OFFSET, NEXT_HEADER_ICMPV6 } from "./ipv6.ts";

/** Offset of the checksum in an ICMPv6 message. */
export const ICMPV6_CHECKSUM_OFFSET = 2;

/**
 * One's complement sum over the pseudo-header and the `messageBytes` that follow the IPv6 header at `offset`. A message with its
 * checksum in place gives 0; one with a zero there gives the checksum to write. The caller has checked the bounds.
 */
export function icmpv6ChecksumAt(bytes: Uint8Array, offset: number, messageBytes: number): number {
  // Source and destination stand right before the message: one run of 16-bit words covers both.
  const end = offset + IPV6_HEADER_BYTES + messageBytes;
  let sum = messageBytes + NEXT_HEADER_ICMPV6;
  for (let index = offset + IPV6_SOURCE_OFFSET; index < end - 1; index += 2) {
    sum += u16At(bytes, index);
  }
  if (messageBytes % 2 === 1) sum += (bytes[end - 1] ?? 0) << 8;
  // At most 32,786 words of 16 bits: the sum fits 32 bits, and two folds bring it to 16.
  sum = (sum & 0xffff) + (sum >>> 16);
  sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}
