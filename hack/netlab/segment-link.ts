/** The eth0 of the namespace that this process runs in: everything on it of one family, in and out. */
import { readFileSync } from "node:fs";
import type { Family } from "../../src/net/ip.ts";
import { type Mac, parseMac } from "../../src/net/mac.ts";
import { type FrameBatch, openPacketSocket, type PacketSocket } from "../../src/sys/packet-socket.ts";

/** Classic BPF (linux/filter.h): one instruction, BPF_RET | BPF_K with as many bytes as there are. */
const PASS_ALL = Uint8Array.of(0x06, 0, 0, 0, 0xff, 0xff, 0, 0);

export function openSegmentSocket(family: Family, onBatch: (frames: FrameBatch) => void): PacketSocket {
  const linkIndex = Number(readFileSync("/sys/class/net/eth0/ifindex", "utf8"));
  // A link that goes down mid-drill is part of the drill; the socket goes on when the link does.
  return openPacketSocket({ linkIndex, linkName: "eth0", family, filter: PASS_ALL, onBatch, onError: () => undefined });
}

export function ownMac(): Mac {
  const mac = parseMac(readFileSync("/sys/class/net/eth0/address", "utf8").trim());
  if (mac === undefined) throw new Error("eth0 has no Ethernet address");
  return mac;
}
