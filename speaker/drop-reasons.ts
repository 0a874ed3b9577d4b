/** The closed sets of drop reasons as lists, so that every series exists from the start; the compiler refuses a set that is not complete. */
import type { ReceiveDrop } from "../src/announcer/ports.ts";
import type { GossipDrop } from "../src/gossip/drop.ts";

const PACKET_DROPS: Readonly<Record<ReceiveDrop, true>> = {
  truncated: true,
  "not-ethernet-ipv4": true,
  "unknown-operation": true,
  "not-ipv6": true,
  "not-icmpv6": true,
  "not-neighbor-message": true,
  "hop-limit": true,
  checksum: true,
  code: true,
  length: true,
  "multicast-target": true,
  "option-length": true,
  "probe-destination": true,
  "probe-source-option": true,
  "solicited-multicast": true,
  "multicast-source": true,
  muted: true,
  "unusable-link": true,
  "vlan-tag": true,
  "other-protocol": true,
  "own-frame": true,
  "foreign-destination": true,
  "group-sender": true,
  "not-a-request": true,
  "not-answered-here": true,
  "no-lease": true,
  "holder-heard": true,
};

const GOSSIP_DROPS: Readonly<Record<GossipDrop, true>> = {
  empty: true,
  truncated: true,
  malformed: true,
  "unknown-type": true,
  "bad-address": true,
  "label-malformed": true,
  "label-mismatch": true,
  "not-authentic": true,
  "not-encrypted": true,
  "unexpected-encryption": true,
  "checksum-mismatch": true,
  "bad-compression": true,
  "too-deep": true,
  "too-large": true,
};

export const PACKET_DROP_REASONS: readonly string[] = Object.keys(PACKET_DROPS);
export const GOSSIP_DROP_REASONS: readonly string[] = Object.keys(GOSSIP_DROPS);
