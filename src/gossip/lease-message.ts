/**
 * What is said about strict addresses, as user messages of the kinds 7 and 8 (docs/wire.md). In payloads of their own: most nodes never
 * have any, and who knows only other kinds passes them over. Pure.
 */
import {
  type AskedPage,
  type GrantedPage,
  type GrantRefusal,
  type LeaseAsk,
  type LeaseGrant,
  type LeaseMessage,
  PAGE_ADDRESSES,
  PAGES_KEPT,
} from "../election/strict/lease-messages.ts";
import { SETS_KEPT } from "../election/strict/voter-sets.ts";
import { type Ip, ipBytes, ipOfBytes } from "../net/ip.ts";
import type { ByteWriter } from "./byte-writer.ts";
import type { MsgpackReader } from "./msgpack-reader.ts";
import { writeArrayHeader, writeMapHeader, writeText, writeUnsigned } from "./msgpack-writer.ts";
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

const KIND = { "lease-ask": 7, "lease-grant": 8 } as const;
const KEY = { node: 3, session: 15, askedMs: 16, voterSets: 17, pages: 18, refusal: 19 } as const;
const PAIRS = 5;
const REFUSALS: readonly GrantRefusal[] = ["starting", "other-voters"];
/** Kind, map, and everything but node and pages, at their longest: nine bytes for a number. */
const FRAME_BYTES = HEADER_BYTES + 2 + 7 * PAIRS + 9 * (2 + 2 * SETS_KEPT) + 8;

type Page = AskedPage | GrantedPage;

/** One entry to a payload of at most 1,200 bytes; as many payloads as its pages need. */
export function encodeLeaseMessage(message: LeaseMessage): readonly Uint8Array[] {
  const room = USER_MESSAGE_MAX_BYTES - FRAME_BYTES - Buffer.byteLength(message.node);
  const parts: Page[][] = [[]];
  let used = 0;
  for (const page of message.pages) {
    const bytes = pageBytes(page);
    if (used + bytes > room && used > 0) {
      parts.push([]);
      used = 0;
    }
    parts.at(-1)?.push(page);
    used += bytes;
  }
  return parts.map((pages) => encodeEntry({ ...message, pages } as LeaseMessage));
}

/** Entries of other kinds and broken ones are passed over; before a broken one they stand. */
export function decodeLeaseMessages(payload: Uint8Array): readonly LeaseMessage[] {
  if (!isOurPayload(payload)) return [];
  const messages: LeaseMessage[] = [];
  const entries = new EntryReader(payload, readEntry, HEADER_BYTES);
  for (let entry = entries.next(); entry !== undefined; entry = entries.next()) {
    if (typeof entry !== "string") messages.push(entry);
  }
  return messages;
}

function pageBytes(page: Page): number {
  const addresses = ("denied" in page ? page.denied : page.addresses) ?? [];
  let bytes = 1 + 9 + 9 + 3;
  for (const ip of addresses) bytes += 1 + ipBytes(ip).length;
  return bytes;
}

function encodeEntry(message: LeaseMessage): Uint8Array {
  const writer = newPayload();
  writer.u8(KIND[message.kind]);
  const refusal = message.kind === "lease-grant" ? message.refusal : undefined;
  writeMapHeader(writer, refusal === undefined ? PAIRS : PAIRS + 1);
  writeUnsigned(writer, KEY.node);
  writeText(writer, message.node);
  putNumber(writer, KEY.session, message.session);
  putNumber(writer, KEY.askedMs, message.askedMs);
  writeUnsigned(writer, KEY.voterSets);
  const voterSets = message.kind === "lease-ask" ? message.voterSets : [message.voterSet];
  writeArrayHeader(writer, voterSets.length);
  for (const id of voterSets) writeUnsigned(writer, id);
  writeUnsigned(writer, KEY.pages);
  writeArrayHeader(writer, message.pages.length);
  for (const page of message.pages) putPage(writer, page);
  if (refusal !== undefined) putNumber(writer, KEY.refusal, 1 + REFUSALS.indexOf(refusal));
  return writer.finish();
}

function putPage(writer: ByteWriter, page: Page): void {
  const addresses = "denied" in page ? page.denied : page.addresses;
  writeArrayHeader(writer, addresses === undefined ? 2 : 3);
  writeUnsigned(writer, page.number);
  writeUnsigned(writer, page.version);
  if (addresses !== undefined) writeAddresses(writer, addresses);
}

interface Entry {
  node: string;
  session: number;
  askedMs: number;
  voterSets: number[];
  pages: { number: number; version: number; addresses: readonly Ip[] | undefined }[];
  refusal: number;
}

function readEntry(kind: number, reader: MsgpackReader): LeaseMessage | "passed-over" {
  if (kind !== KIND["lease-ask"] && kind !== KIND["lease-grant"]) {
    reader.skip();
    return "passed-over";
  }
  const entry: Entry = { node: "", session: 0, askedMs: 0, voterSets: [], pages: [], refusal: 0 };
  readPairs(reader, (key) => readField(entry, key, reader));
  const { node, session, askedMs, voterSets, pages } = entry;
  const [voterSet] = voterSets;
  if (reader.fault !== undefined || node === "" || voterSet === undefined) return "passed-over";
  if (kind === KIND["lease-ask"]) return askOf(entry);
  const refusal = REFUSALS[entry.refusal - 1];
  const granted = pages.map(({ number, version, addresses }) => ({ number, version, denied: addresses ?? [] }));
  const grant: LeaseGrant = { kind: "lease-grant", node, session, askedMs, voterSet, pages: granted };
  return refusal === undefined ? grant : { ...grant, refusal };
}

function askOf({ node, session, askedMs, voterSets, pages }: Entry): LeaseAsk {
  const asked = pages.map(
    ({ addresses, ...page }): AskedPage => (addresses === undefined ? page : { ...page, addresses }),
  );
  return { kind: "lease-ask", node, session, askedMs, voterSets, pages: asked };
}

function readField(entry: Entry, key: number, reader: MsgpackReader): void {
  switch (key) {
    case KEY.node:
      entry.node = reader.readText();
      return;
    case KEY.session:
      entry.session = readNumber(reader);
      return;
    case KEY.askedMs:
      entry.askedMs = readNumber(reader);
      return;
    case KEY.voterSets:
      entry.voterSets = readList(reader, 2 * SETS_KEPT, readNumber);
      return;
    case KEY.pages:
      entry.pages = readList(reader, PAGES_KEPT, readPage).filter((page) => page !== undefined);
      return;
    case KEY.refusal:
      entry.refusal = readNumber(reader);
      return;
    default:
      reader.skip();
  }
}

/** Undefined for a page that cannot be taken whole: half of one would say what it does not. */
function readPage(reader: MsgpackReader): Entry["pages"][number] | undefined {
  const { count } = reader.readContainer();
  const number = count > 0 ? readNumber(reader) : 0;
  const version = count > 1 ? readNumber(reader) : 0;
  const addresses = count > 2 ? readList(reader, PAGE_ADDRESSES + 1, (from) => ipOfBytes(from.readRaw())) : undefined;
  for (let index = 3; index < count && reader.fault === undefined; index++) reader.skip();
  const sound = addresses?.filter((ip) => ip !== undefined);
  const isWhole = sound?.length === addresses?.length && (sound?.length ?? 0) <= PAGE_ADDRESSES;
  return isWhole ? { number, version, addresses: sound } : undefined;
}

/** What is beyond the most is passed over. */
function readList<Item>(reader: MsgpackReader, most: number, read: (reader: MsgpackReader) => Item): Item[] {
  const { count } = reader.readContainer();
  const items: Item[] = [];
  for (let index = 0; index < count && reader.fault === undefined; index++) {
    if (index < most) items.push(read(reader));
    else reader.skip();
  }
  return items;
}

function readNumber(reader: MsgpackReader): number {
  return reader.readInteger(0, Number.MAX_SAFE_INTEGER);
}
