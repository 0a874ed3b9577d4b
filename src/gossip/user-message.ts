/**
 * What our members send each other as memberlist user messages (DESIGN D4, docs/wire.md): A7 01, then one or more entries of a
 * kind byte and a msgpack map with small integers as keys. Unknown keys are ignored, so a later version may add some. Pure.
 */
import { GREATEST_TERM } from "../election/holders.ts";
import { type Ip, ipOfBytes } from "../net/ip.ts";
import { ByteWriter } from "./byte-writer.ts";
import type { MsgpackReader } from "./msgpack-reader.ts";
import { writeMapHeader, writeText, writeUnsigned } from "./msgpack-writer.ts";
import {
  EntryReader,
  HEADER_BYTES,
  isOurPayload,
  newPayload,
  putNumber,
  readPairs,
  USER_MESSAGE_MAX_BYTES,
  writeAddresses,
} from "./user-entries.ts";

const KIND = { claim: 1, yielded: 2, "lead-question": 3, lead: 4, sticky: 5 } as const;
const KINDS = ["claim", "yielded", "lead-question", "lead", "sticky"] as const;
/** With names of the greatest length an entry of so many IPv6 addresses fits one payload; longer lists make several entries. */
const ADDRESSES_PER_ENTRY = 24;
/** More than a claim of one address takes. */
const ENTRY_BYTES = 512;

const KEY = {
  group: 1,
  addresses: 2,
  node: 3,
  incarnation: 4,
  rule: 5,
  term: 6,
  freshness: 7,
  tier: 8,
  score: 9,
  endpointClass: 10,
  hash: 11,
  leads: 12,
  reason: 13,
  leader: 14,
} as const;

interface Basis {
  readonly incarnation: number;
  readonly rule: string;
  readonly term: number;
  readonly freshness: number;
  readonly tier: number;
  readonly score: number;
  readonly endpointClass: string;
  readonly hash: string;
}

interface AboutAddresses {
  readonly group: string;
  readonly addresses: readonly Ip[];
  readonly node: string;
}

export interface ClaimMessage extends AboutAddresses {
  readonly kind: "claim";
  readonly basis: Basis;
}

/** "I stopped." */
export interface YieldedMessage extends AboutAddresses {
  readonly kind: "yielded";
}

/** "Do you lead these?" */
export interface LeadQuestionMessage extends AboutAddresses {
  readonly kind: "lead-question";
  /** Of one that would lead them itself. */
  readonly basis?: Basis;
}

/** "I lead these", or why not. */
export interface LeadMessage extends AboutAddresses {
  readonly kind: "lead";
  readonly leads: boolean;
  readonly reason: string;
  readonly leader?: string;
  readonly freshness: number;
}

/** "Of these, this is the holder": what the sender knows, of itself or of another (DESIGN D4). */
export interface StickyMessage {
  readonly kind: "sticky";
  readonly addresses: readonly Ip[];
  readonly node: string;
  readonly term: number;
}

/** What leaders, and who would be, say to each other. */
export type LeaderMessage = ClaimMessage | YieldedMessage | LeadQuestionMessage | LeadMessage;
export type UserMessage = LeaderMessage | StickyMessage;

/** "not-ours": another program's user message. "unknown-kind": of a later version of ours, passed over. */
export type UserMessageDrop = "not-ours" | "unknown-kind" | "truncated" | "malformed";

/** Payloads of at most 1,200 bytes, several entries to each, in the order given. */
export function encodeUserMessages(messages: readonly UserMessage[]): readonly Uint8Array[] {
  const payloads: Uint8Array[] = [];
  let writer = newPayload();
  const scratch = new ByteWriter(ENTRY_BYTES);
  for (const message of messages.flatMap(splitByAddresses)) {
    const entry = encodeEntry(message, scratch);
    if (writer.length > HEADER_BYTES && writer.length + entry.length > USER_MESSAGE_MAX_BYTES) {
      payloads.push(writer.finish());
      writer = newPayload();
    }
    writer.bytes(entry);
  }
  if (writer.length > HEADER_BYTES) payloads.push(writer.finish());
  return payloads;
}

/** The entries before a broken one stand. */
export function decodeUserMessages(payload: Uint8Array): {
  readonly messages: readonly UserMessage[];
  readonly drops: readonly UserMessageDrop[];
} {
  if (!isOurPayload(payload)) return { messages: [], drops: ["not-ours"] };
  const messages: UserMessage[] = [];
  const drops: UserMessageDrop[] = [];
  const entries = entriesOf(payload, HEADER_BYTES);
  for (let entry = entries.next(); entry !== undefined; entry = entries.next()) {
    if (typeof entry === "string") drops.push(entry);
    else messages.push(entry);
  }
  return { messages, drops };
}

export function ofLeaders(messages: readonly UserMessage[]): readonly LeaderMessage[] {
  return messages.every(isOfLeaders) ? messages : messages.filter(isOfLeaders);
}

function isOfLeaders(message: UserMessage): message is LeaderMessage {
  return message.kind !== "sticky";
}

/** Of a message after its header, or of a section of the user state. */
export function entriesOf(bytes: Uint8Array, offset = 0): EntryReader<UserMessage | UserMessageDrop> {
  return new EntryReader(bytes, readEntry, offset);
}

/** Entries without the header of a message, as many of the first as fit. */
export function encodeEntries(messages: Iterable<UserMessage>, maxBytes: number): Uint8Array {
  const writer = new ByteWriter(ENTRY_BYTES);
  const scratch = new ByteWriter(ENTRY_BYTES);
  for (const message of messages) {
    for (const part of splitByAddresses(message)) {
      const entry = encodeEntry(part, scratch);
      if (writer.length + entry.length > maxBytes) return writer.finish();
      writer.bytes(entry);
    }
  }
  return writer.finish();
}

function splitByAddresses(message: UserMessage): readonly UserMessage[] {
  if (message.addresses.length <= ADDRESSES_PER_ENTRY) return [message];
  const count = Math.ceil(message.addresses.length / ADDRESSES_PER_ENTRY);
  return Array.from({ length: count }, (_, part) => ({
    ...message,
    addresses: message.addresses.slice(part * ADDRESSES_PER_ENTRY, (part + 1) * ADDRESSES_PER_ENTRY),
  }));
}

/** Valid until the writer is used again. */
function encodeEntry(message: UserMessage, writer: ByteWriter): Uint8Array {
  writer.clear();
  writer.u8(KIND[message.kind]);
  if (message.kind === "sticky") {
    writeMapHeader(writer, 3);
    putAddresses(writer, message.addresses);
    putText(writer, KEY.node, message.node);
    putNumber(writer, KEY.term, message.term);
    return writer.finish();
  }
  const basis = "basis" in message ? message.basis : undefined;
  const pairs = basis === undefined ? 3 : 11;
  writeMapHeader(writer, message.kind === "lead" ? 7 : pairs);
  putText(writer, KEY.group, message.group);
  putAddresses(writer, message.addresses);
  putText(writer, KEY.node, message.node);
  if (basis !== undefined) putBasis(writer, basis);
  if (message.kind === "lead") putLead(writer, message);
  return writer.finish();
}

function putAddresses(writer: ByteWriter, addresses: readonly Ip[]): void {
  writeUnsigned(writer, KEY.addresses);
  writeAddresses(writer, addresses);
}

function putBasis(writer: ByteWriter, basis: Basis): void {
  putNumber(writer, KEY.incarnation, basis.incarnation);
  putText(writer, KEY.rule, basis.rule);
  putNumber(writer, KEY.term, basis.term);
  putNumber(writer, KEY.freshness, basis.freshness);
  putNumber(writer, KEY.tier, basis.tier);
  putNumber(writer, KEY.score, basis.score);
  putText(writer, KEY.endpointClass, basis.endpointClass);
  putText(writer, KEY.hash, basis.hash);
}

function putLead(writer: ByteWriter, { freshness, leads, reason, leader = "" }: LeadMessage): void {
  putNumber(writer, KEY.freshness, freshness);
  putNumber(writer, KEY.leads, leads ? 1 : 0);
  putText(writer, KEY.reason, reason);
  putText(writer, KEY.leader, leader);
}

function putText(writer: ByteWriter, key: number, text: string): void {
  writeUnsigned(writer, key);
  writeText(writer, text);
}

/** What an entry may hold; a missing key leaves its value empty or 0. */
interface Entry {
  group: string;
  addresses: readonly Ip[] | undefined;
  node: string;
  leads: number;
  reason: string;
  leader: string;
  readonly basis: { -readonly [Name in keyof Basis]: Basis[Name] };
}

function readEntry(number: number, reader: MsgpackReader): UserMessage | UserMessageDrop {
  const kind = KINDS.find((name) => KIND[name] === number);
  if (kind === undefined) {
    reader.skip();
    return "unknown-kind";
  }
  const { group, addresses, node, basis, leads, reason, leader } = readFields(reader);
  if (addresses === undefined || addresses.length === 0 || node === "") return "malformed";
  if (kind === "sticky") {
    const { term } = basis;
    return term < 1 || term > GREATEST_TERM ? "malformed" : { kind, addresses, node, term };
  }
  if (group === "") return "malformed";
  const about = { group, addresses, node };
  if (kind === "claim") return { kind, ...about, basis };
  if (kind === "lead") {
    const { freshness } = basis;
    return { kind, ...about, leads: leads !== 0, reason, freshness, ...(leader === "" ? {} : { leader }) };
  }
  // Every basis names a rule.
  return kind === "yielded" || basis.rule === "" ? { kind, ...about } : { kind, ...about, basis };
}

function readFields(reader: MsgpackReader): Entry {
  const entry: Entry = {
    group: "",
    addresses: undefined,
    node: "",
    leads: 0,
    reason: "",
    leader: "",
    basis: { incarnation: 0, rule: "", term: 0, freshness: 0, tier: 0, score: 0, endpointClass: "", hash: "" },
  };
  readPairs(reader, (key) => readField(entry, key, reader));
  return entry;
}

function readField(entry: Entry, key: number, reader: MsgpackReader): void {
  const { basis } = entry;
  switch (key) {
    case KEY.group:
      entry.group = reader.readText();
      return;
    case KEY.addresses:
      entry.addresses = readAddresses(reader);
      return;
    case KEY.node:
      entry.node = reader.readText();
      return;
    case KEY.incarnation:
      basis.incarnation = reader.readInteger(0, 0xffff_ffff);
      return;
    case KEY.rule:
      basis.rule = reader.readText();
      return;
    case KEY.term:
      basis.term = readNumber(reader);
      return;
    case KEY.freshness:
      basis.freshness = readNumber(reader);
      return;
    case KEY.tier:
      basis.tier = readNumber(reader);
      return;
    case KEY.score:
      basis.score = readNumber(reader);
      return;
    case KEY.endpointClass:
      basis.endpointClass = reader.readText();
      return;
    case KEY.hash:
      basis.hash = reader.readText();
      return;
    case KEY.leads:
      entry.leads = readNumber(reader);
      return;
    case KEY.reason:
      entry.reason = reader.readText();
      return;
    case KEY.leader:
      entry.leader = reader.readText();
      return;
    default:
      reader.skip();
  }
}

function readNumber(reader: MsgpackReader): number {
  return reader.readInteger(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
}

/** Undefined when one of them has neither 4 nor 16 bytes: a claim stands for all of its addresses or for none. */
function readAddresses(reader: MsgpackReader): readonly Ip[] | undefined {
  const { count } = reader.readContainer();
  const addresses: (Ip | undefined)[] = [];
  for (let index = 0; index < count && reader.fault === undefined; index++) addresses.push(ipOfBytes(reader.readRaw()));
  const sound = addresses.filter((address) => address !== undefined);
  return sound.length === addresses.length ? sound : undefined;
}
