/** User messages in gossip datagrams, as somebody who listens on the wire would find them. Worlds gossip in the clear. */
import { SeededRandom } from "../../src/base/random.ts";
import { createCodec } from "../../src/gossip/codec.ts";
import type { DatagramMessage, Dead, Suspect } from "../../src/gossip/message.ts";
import { TIMING_PRESETS, type Timing } from "../../src/gossip/timing.ts";
import { decodeUserMessages, type UserMessage } from "../../src/gossip/user-message.ts";

/** memberlist's LAN timing; compression is left out so that datagrams can be searched. */
export const WORLD_TIMING: Timing = { ...TIMING_PRESETS.lan, compresses: false };

const CODEC = createCodec({ label: "", timing: WORLD_TIMING, random: new SeededRandom(0) });
/** Type byte of a user message, then the two bytes that all of ours begin with. */
const MARK = Buffer.of(8, 0xa7, 1);
/** Bare pings and acks are most of the traffic. */
const PING_KINDS: ReadonlySet<number> = new Set([0, 1, 2]);

let last: { readonly bytes: Uint8Array; readonly messages: readonly UserMessage[] } | undefined;
let lastOpened: { readonly bytes: Uint8Array; readonly messages: readonly DatagramMessage[] } | undefined;

function opened(bytes: Uint8Array): readonly DatagramMessage[] {
  if (lastOpened?.bytes !== bytes) lastOpened = { bytes, messages: CODEC.openDatagram(bytes).messages };
  return lastOpened.messages;
}

/** Several checkers ask about each datagram, one after the other. */
export function userMessagesIn(bytes: Uint8Array): readonly UserMessage[] {
  if (PING_KINDS.has(bytes[0] ?? 0)) return [];
  if (last?.bytes !== bytes) last = { bytes, messages: takeUserMessages(bytes) };
  return last.messages;
}

function takeUserMessages(bytes: Uint8Array): readonly UserMessage[] {
  // Most datagrams carry none, and taking them all apart would double the cost of a run.
  if (!Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(MARK)) return [];
  return opened(bytes).flatMap((message) =>
    message.kind === "user" ? decodeUserMessages(message.payload).messages : [],
  );
}

export function isUserMessage(bytes: Uint8Array): boolean {
  return userMessagesIn(bytes).length > 0;
}

/** Addresses that are claimed. */
export function claimsIn(bytes: Uint8Array): readonly string[] {
  return userMessagesIn(bytes).flatMap((message) => (message.kind === "claim" ? message.addresses : []));
}

/** Suspicions and verdicts in a datagram; bare pings and acks are passed over unread. */
export function accusationsIn(bytes: Uint8Array): readonly (Suspect | Dead)[] {
  if (PING_KINDS.has(bytes[0] ?? 0)) return [];
  return opened(bytes).filter(
    (message): message is Suspect | Dead => message.kind === "suspect" || message.kind === "dead",
  );
}

export function carriesAck(bytes: Uint8Array): boolean {
  if (bytes[0] === 2) return true;
  return opened(bytes).some(({ kind }) => kind === "ack");
}
