/**
 * A node's word as gossip metadata (DESIGN D4, docs/wire.md): A7 01, then fields of type u8, length u8 and value, sorted, so
 * that equal facts are equal bytes. Every number is in network order. Pure.
 */
import { compareBytes, concatBytes } from "../base/bytes.ts";
import { type Decoded, decoded, dropped } from "../base/decoded.ts";
import { type NodeWord, RULES, type Rule, WORD_FLAGS, type WordLink, type WordPrefix } from "../election/word.ts";
import { familyOf, IPV4_BYTES, IPV6_BYTES, ipBytes, ipOfBytes } from "../net/ip.ts";
import { MAC_BYTES, macAt, macBytes } from "../net/mac.ts";
import { prefixOf } from "../net/prefix.ts";
import { ByteWriter } from "./byte-writer.ts";

/** memberlist's limit of Meta: its owner would crash beyond it. */
export const WORD_MAX_BYTES = 512;
const MAGIC = 0xa7;
const FORMAT = 1;
const FIELD = { rules: 1, flags: 2, ready: 3, trouble: 4, link: 5, prefix: 6, truncated: 7 } as const;
const LINK_FIXED_BYTES = 4 + 1 + MAC_BYTES;
const PREFIX_FIXED_BYTES = 4 + 1 + 1;
const USABLE = 1;
const RETURNING = 0b10;

/** "not-a-word": nothing of ours, as with a Go member. */
export type WordDrop = "not-a-word" | "truncated" | "malformed";

/**
 * What does not fit is left out, and the word says so: prefixes first, the last ones before the others, then link names,
 * then links. Names that no advertisement names are the caller's to leave out.
 */
export function encodeWord(word: NodeWord): Uint8Array {
  const fixed = [rulesField(word), flagsField(word), readyField(word), troubleField(word)];
  const links = word.links.map((link) => linkField(link, link.name ?? "")).toSorted(compareBytes);
  const bareLinks = word.links.map((link) => linkField(link, "")).toSorted(compareBytes);
  const prefixes = word.prefixes.map(prefixField).toSorted(compareBytes);
  const marker = word.isTruncated ? [field(FIELD.truncated, [])] : [];

  const whole = join([...fixed, ...links, ...prefixes, ...marker]);
  if (whole.length <= WORD_MAX_BYTES) return whole;
  const truncated = field(FIELD.truncated, []);
  const spare = WORD_MAX_BYTES - join([...fixed, truncated]).length;
  const kept = totalOf(links) <= spare ? links : fitting(bareLinks, spare);
  return join([...fixed, ...kept, ...fitting(prefixes, spare - totalOf(kept)), truncated]);
}

/** Unknown types are ignored, and so is what follows the known part of a field; a missing field has its least value. */
export function decodeWord(meta: Uint8Array): Decoded<NodeWord, WordDrop> {
  if (meta[0] !== MAGIC || meta[1] !== FORMAT) return dropped("not-a-word");
  const reader = new WordReader();
  for (let offset = 2; offset < meta.length; ) {
    const type = meta[offset] ?? 0;
    const length = meta[offset + 1];
    offset += 2;
    if (length === undefined || length > meta.length - offset) return dropped("truncated");
    if (!reader.take(type, meta.subarray(offset, offset + length))) return dropped("malformed");
    offset += length;
  }
  return decoded(reader.word());
}

/** Collects the fields in whatever order they come. */
class WordReader {
  #highestRule: Rule = "metallb-1";
  #ruleInUse: Rule = "metallb-1";
  #flags = 0;
  #readySeconds = 0;
  #trouble = { restarts: 0, refutes: 0, troubleAgeSeconds: 0 };
  readonly #links: WordLink[] = [];
  readonly #prefixes: WordPrefix[] = [];
  #isTruncated = false;

  /** False when the value cannot be read. */
  take(type: number, value: Uint8Array): boolean {
    const view = new DataView(value.buffer, value.byteOffset, value.byteLength);
    switch (type) {
      case FIELD.rules:
        return value.length >= 2 && this.#takeRules(value);
      case FIELD.flags:
        if (value.length < 2) return false;
        this.#flags = view.getUint16(0);
        return true;
      case FIELD.ready:
        if (value.length < 4) return false;
        this.#readySeconds = view.getUint32(0);
        return true;
      case FIELD.trouble:
        if (value.length < 6) return false;
        this.#trouble = {
          restarts: view.getUint8(0),
          refutes: view.getUint8(1),
          troubleAgeSeconds: view.getUint32(2),
        };
        return true;
      case FIELD.link:
        return value.length >= LINK_FIXED_BYTES && this.#takeLink(value, view);
      case FIELD.prefix:
        return value.length >= PREFIX_FIXED_BYTES && this.#takePrefix(value, view);
      case FIELD.truncated:
        this.#isTruncated = true;
        return true;
      default:
        return true;
    }
  }

  word(): NodeWord {
    return {
      highestRule: this.#highestRule,
      ruleInUse: this.#ruleInUse,
      flags: WORD_FLAGS.filter((_, bit) => (this.#flags & (1 << bit)) !== 0),
      readySeconds: this.#readySeconds,
      ...this.#trouble,
      links: this.#links,
      prefixes: this.#prefixes,
      isTruncated: this.#isTruncated,
    };
  }

  #takeRules(value: Uint8Array): boolean {
    const highest = ruleOf(value[0] ?? 0);
    const inUse = ruleOf(value[1] ?? 0);
    if (highest === undefined || inUse === undefined) return false;
    this.#highestRule = highest;
    this.#ruleInUse = inUse;
    return true;
  }

  #takeLink(value: Uint8Array, view: DataView): boolean {
    const name = new TextDecoder().decode(value.subarray(LINK_FIXED_BYTES));
    const flags = view.getUint8(4);
    this.#links.push({
      index: view.getUint32(0),
      isUsable: (flags & USABLE) !== 0,
      ...((flags & RETURNING) === 0 ? {} : { isReturning: true }),
      mac: macAt(value, 5),
      ...(name === "" ? {} : { name }),
    });
    return true;
  }

  #takePrefix(value: Uint8Array, view: DataView): boolean {
    const family = view.getUint8(4);
    const length = view.getUint8(5);
    const address = new Uint8Array(family === 4 ? IPV4_BYTES : IPV6_BYTES);
    const significant = value.subarray(PREFIX_FIXED_BYTES, PREFIX_FIXED_BYTES + bytesOfBits(length));
    const isSound =
      (family === 4 || family === 6) && length <= 8 * address.length && significant.length === bytesOfBits(length);
    if (!isSound) return false;
    address.set(significant);
    const ip = ipOfBytes(address);
    // A mapped IPv4 address in the IPv6 form would change its family.
    if (ip === undefined || familyOf(ip) !== family) return false;
    this.#prefixes.push({ linkIndex: view.getUint32(0), prefix: prefixOf(ip, length) });
    return true;
  }
}

/** Numbers start at 1. A rule that this version does not know is above all that it knows. */
function ruleOf(number: number): Rule | undefined {
  return RULES[Math.min(number, RULES.length) - 1];
}

function rulesField(word: NodeWord): Uint8Array {
  return field(FIELD.rules, [RULES.indexOf(word.highestRule) + 1, RULES.indexOf(word.ruleInUse) + 1]);
}

function flagsField(word: NodeWord): Uint8Array {
  let bits = 0;
  for (const flag of word.flags) bits |= 1 << WORD_FLAGS.indexOf(flag);
  return field(FIELD.flags, [bits >>> 8, bits & 0xff]);
}

function readyField(word: NodeWord): Uint8Array {
  return field(FIELD.ready, uint32(word.readySeconds));
}

function troubleField(word: NodeWord): Uint8Array {
  const counts = [Math.min(word.restarts, 0xff), Math.min(word.refutes, 0xff)];
  return field(FIELD.trouble, [...counts, ...uint32(word.troubleAgeSeconds)]);
}

function linkField(link: WordLink, name: string): Uint8Array {
  const flags = (link.isUsable ? USABLE : 0) | (link.isReturning === true ? RETURNING : 0);
  return field(FIELD.link, [...uint32(link.index), flags, ...macBytes(link.mac), ...new TextEncoder().encode(name)]);
}

function prefixField({ linkIndex, prefix }: WordPrefix): Uint8Array {
  const significant = ipBytes(prefix.network).subarray(0, bytesOfBits(prefix.length));
  return field(FIELD.prefix, [...uint32(linkIndex), familyOf(prefix.network), prefix.length, ...significant]);
}

function field(type: number, value: readonly number[]): Uint8Array {
  return Uint8Array.of(type, value.length, ...value);
}

function uint32(value: number): readonly number[] {
  const writer = new ByteWriter(4);
  writer.u32(Math.min(value, 0xffff_ffff));
  return [...writer.finish()];
}

function bytesOfBits(bits: number): number {
  return Math.ceil(bits / 8);
}

function join(fields: readonly Uint8Array[]): Uint8Array {
  return concatBytes([Uint8Array.of(MAGIC, FORMAT), ...fields]);
}

function totalOf(fields: readonly Uint8Array[]): number {
  return fields.reduce((total, { length }) => total + length, 0);
}

/** The first ones that fit together. */
function fitting(fields: readonly Uint8Array[], bytes: number): readonly Uint8Array[] {
  let left = bytes;
  const firstMissing = fields.findIndex(({ length }) => {
    left -= length;
    return left < 0;
  });
  return firstMissing === -1 ? fields : fields.slice(0, firstMissing);
}
