/**
 * What our members put into an ack: how they hold the one who asked, so that a node learns that it is held dead (DESIGN D6).
 * Format u8, state u8, incarnation u32 in network order. A Go member sends no payload, which means contact only.
 */
import { u32At } from "../base/bytes.ts";
import { RECORD_STATES } from "./message.ts";
import type { HeldAs } from "./swim-event.ts";

const FORMAT = 1;
const PAYLOAD_BYTES = 6;
/** The number of a state is its place; the first four are memberlist's own. */
const STATES = [...RECORD_STATES, "unknown"] as const;

export function encodeHeldAs(held: HeldAs): Uint8Array {
  const bytes = new Uint8Array(PAYLOAD_BYTES);
  bytes[0] = FORMAT;
  bytes[1] = STATES.indexOf(held.state);
  for (let index = 0; index < 4; index++) bytes[2 + index] = held.incarnation >>> (24 - 8 * index);
  return bytes;
}

/** Undefined for another format, and for what is no payload of ours at all; bytes after the sixth are ignored. */
export function decodeHeldAs(payload: Uint8Array): HeldAs | undefined {
  if (payload.length < PAYLOAD_BYTES || payload[0] !== FORMAT) return undefined;
  const state = STATES[payload[1] ?? STATES.length];
  if (state === undefined) return undefined;
  return { state, incarnation: u32At(payload, 2) };
}
