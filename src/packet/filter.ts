/**
 * Kernel filters for the packet sockets: classic BPF programs, so that only packets about our addresses wake the
 * process. Pure: addresses in, instructions out.
 *
 * ARP passes when its target or its sender is in the set, whatever the operation; IPv6 passes when it is a Neighbor
 * Solicitation or Advertisement whose target is in the set. A frame for another host's MAC, or with a VLAN tag other
 * than that of VLAN 0 (a priority tag), concerns somebody else and is dropped here. Before a socket of one protocol
 * sees a frame, the kernel takes the tag away, and of a foreign VLAN it leaves only this: the packet is "for another
 * host", even a broadcast. (On the conduit link of a DSA switch it leaves the tag itself.)
 *
 * Sets are searched by binary trees, for a stranger's packet pays for the whole search. Conditional jumps reach 255
 * instructions only, so every fragment is written to be left at its end: a miss falls through to what follows it.
 */
import { type Family, familyOf, type Ip, ipBytes, ipv4ToNumber } from "../net/ip.ts";
import { bitsOf, type Prefix } from "../net/prefix.ts";

/** struct sock_filter (linux/filter.h) */
export interface BpfInstruction {
  readonly code: number;
  readonly jt: number;
  readonly jf: number;
  readonly k: number;
}

/** How closely a program follows the wanted addresses: exactly, by the pools that hold them, or not at all. */
export type FilterPrecision = "exact" | "prefixes" | "family";

export interface PacketFilter {
  readonly precision: FilterPrecision;
  /** Pools that pass whole; only with precision "prefixes". */
  readonly prefixes: readonly Prefix[];
  readonly program: readonly BpfInstruction[];
}

export interface WantedPackets {
  readonly family: Family;
  /** Addresses of the other family are left out. */
  readonly addresses: readonly Ip[];
  /** What to let pass where the addresses do not fit, as far as they hold one of the addresses. */
  readonly poolPrefixes: readonly Prefix[];
}

/** BPF_MAXINSNS of the kernel; net.core.optmem_max may allow less. */
export const MAX_FILTER_INSTRUCTIONS = 4_096;

const LOAD_WORD = 0x20;
const LOAD_HALF = 0x28;
const LOAD_BYTE = 0x30;
const JUMP = 0x05;
const JUMP_EQUAL = 0x15;
const JUMP_GREATER = 0x25;
const JUMP_GREATER_EQUAL = 0x35;
const JUMP_SET = 0x45;
const RETURN = 0x06;

/** Bytes of the frame that pass: all of them. */
const WHOLE_FRAME = 0xffff_ffff;
/** SKF_AD_OFF + SKF_AD_PKTTYPE, SKF_AD_VLAN_TAG, SKF_AD_VLAN_TAG_PRESENT: what the kernel knows beside the bytes. */
const PACKET_TYPE = 0xffff_f004;
const VLAN_TAG = 0xffff_f02c;
const VLAN_TAG_PRESENT = 0xffff_f030;
const VLAN_ID_BITS = 0xfff;
const PACKET_OTHERHOST = 3;

const ETHERTYPE_OFFSET = 12;
const ETHERTYPE: Readonly<Record<Family, number>> = { 4: 0x0806, 6: 0x86dd };
/** RFC 826, behind 14 bytes of Ethernet. */
const ARP_SENDER_OFFSET = 28;
const ARP_TARGET_OFFSET = 38;
/** RFC 8200 §3 and RFC 4861 §4.3, §4.4: next header, ICMPv6 type, target. */
const NEXT_HEADER_OFFSET = 20;
const ICMPV6 = 58;
const ICMPV6_TYPE_OFFSET = 54;
const NEIGHBOR_SOLICITATION = 135;
const NEIGHBOR_ADVERTISEMENT = 136;
const NDP_TARGET_OFFSET = 62;

const NO_WORDS: readonly number[] = [];

/** Ranges compared one by one at a tree's leaf: fewer compare faster, more make the program shorter. */
const LEAF_RANGES = 16;
/** An 8-bit offset. */
const MAX_CONDITIONAL_JUMP = 255;

/** An address prefix as big-endian words: all before `lo` and `hi` are equal, all after are free. */
interface Entry {
  readonly words: readonly number[];
  readonly lo: number;
  readonly hi: number;
}

const NO_ENTRIES: readonly Entry[] = [];

/** The values of one word: all of them pass, or those whose following words are among `deeper`. */
interface Branch {
  readonly lo: number;
  readonly hi: number;
  readonly deeper: readonly Entry[];
}

/**
 * The closest filter of at most `maxInstructions`; of more than `exactAtMost` addresses it goes by the pools that hold some. An empty set
 * drops everything.
 */
export function buildPacketFilter(
  wanted: WantedPackets,
  maxInstructions: number = MAX_FILTER_INSTRUCTIONS,
  exactAtMost: number = Number.POSITIVE_INFINITY,
): PacketFilter {
  const { family } = wanted;
  const addresses = sortedHosts(wanted);
  if (addresses.length === 0) return { precision: "exact", prefixes: [], program: [dropFrame()] };
  const prefixes = wanted.poolPrefixes.filter(
    (prefix) => familyOf(prefix.network) === family && holdsAny(prefixEntry(prefix), addresses),
  );
  const triesExact = prefixes.length === 0 || wanted.addresses.length <= exactAtMost;
  const exact = triesExact ? programOf(family, addresses, maxInstructions) : undefined;
  if (exact !== undefined) return { precision: "exact", prefixes: [], program: exact };
  const byPools = programOf(family, [...addresses, ...prefixes.map(prefixEntry)], maxInstructions);
  if (byPools !== undefined) return { precision: "prefixes", prefixes, program: byPools };
  const everything = programOf(family, [{ words: NO_WORDS, lo: 0, hi: 0xffff_ffff }], MAX_FILTER_INSTRUCTIONS);
  return { precision: "family", prefixes: [], program: everything ?? [passFrame()] };
}

/** An array of struct sock_filter in the byte order of this machine, as SO_ATTACH_FILTER takes it. */
export function encodeFilter(program: readonly BpfInstruction[]): Uint8Array {
  const bytes = new Uint8Array(8 * program.length);
  const halves = new Uint16Array(bytes.buffer);
  const words = new Uint32Array(bytes.buffer);
  for (const [index, { code, jt, jf, k }] of program.entries()) {
    halves[4 * index] = code;
    bytes[8 * index + 2] = jt;
    bytes[8 * index + 3] = jf;
    words[2 * index + 1] = k;
  }
  return bytes;
}

/** Undefined when it is longer than `maxInstructions`. */
function programOf(family: Family, entries: readonly Entry[], maxInstructions: number): BpfInstruction[] | undefined {
  const branches = branchesOf(entries);
  // Every branch costs one instruction or more in each search: what cannot fit is not even written.
  if (branches.length * (family === 4 ? 2 : 1) > maxInstructions) return undefined;
  const program = family === 4 ? arpProgram(branches) : ndpProgram(branches);
  return program.length <= maxInstructions ? program : undefined;
}

function arpProgram(branches: readonly Branch[]): BpfInstruction[] {
  // Jumps are relative, so target and sender are searched by the same instructions.
  const search = tree(branches, ARP_TARGET_OFFSET);
  return [
    ...dropForeign(),
    ...requireValue(LOAD_HALF, ETHERTYPE_OFFSET, ETHERTYPE[4]),
    load(LOAD_WORD, ARP_TARGET_OFFSET),
    ...search,
    load(LOAD_WORD, ARP_SENDER_OFFSET),
    ...search,
    dropFrame(),
  ];
}

function ndpProgram(branches: readonly Branch[]): BpfInstruction[] {
  return [
    ...dropForeign(),
    ...requireValue(LOAD_HALF, ETHERTYPE_OFFSET, ETHERTYPE[6]),
    ...requireValue(LOAD_BYTE, NEXT_HEADER_OFFSET, ICMPV6),
    load(LOAD_BYTE, ICMPV6_TYPE_OFFSET),
    jump(JUMP_EQUAL, NEIGHBOR_SOLICITATION, 2, 0),
    jump(JUMP_EQUAL, NEIGHBOR_ADVERTISEMENT, 1, 0),
    dropFrame(),
    load(LOAD_WORD, NDP_TARGET_OFFSET),
    ...tree(branches, NDP_TARGET_OFFSET),
    dropFrame(),
  ];
}

function dropForeign(): BpfInstruction[] {
  return [
    load(LOAD_WORD, PACKET_TYPE),
    jump(JUMP_EQUAL, PACKET_OTHERHOST, 0, 1),
    dropFrame(),
    load(LOAD_WORD, VLAN_TAG_PRESENT),
    jump(JUMP_EQUAL, 0, 3, 0),
    load(LOAD_WORD, VLAN_TAG),
    jump(JUMP_SET, VLAN_ID_BITS, 0, 1),
    dropFrame(),
  ];
}

function requireValue(size: number, offset: number, value: number): BpfInstruction[] {
  return [load(size, offset), jump(JUMP_EQUAL, value, 1, 0), dropFrame()];
}

/** Passes the frame when the word at `offset`, which is loaded, is in the set, and so are those behind it; else falls through. */
function tree(branches: readonly Branch[], offset: number): BpfInstruction[] {
  const [first] = branches;
  if (first === undefined) return [];
  if (branches.length <= LEAF_RANGES && branches.every((branch) => branch.deeper.length === 0)) return leaf(branches);
  if (branches.length === 1) {
    const next = offset + 4;
    return guarded(first, [load(LOAD_WORD, next), ...tree(branchesOf(first.deeper), next)]);
  }
  const middle = branches.length >>> 1;
  const left = tree(branches.slice(0, middle), offset);
  const right = tree(branches.slice(middle), offset);
  // A miss on the left jumps over the right side.
  const leftWithExit = [...left, jumpAlways(right.length)];
  const pivot = branches[middle]?.lo ?? 0;
  if (leftWithExit.length <= MAX_CONDITIONAL_JUMP) {
    return [jump(JUMP_GREATER_EQUAL, pivot, leftWithExit.length, 0), ...leftWithExit, ...right];
  }
  return [jump(JUMP_GREATER_EQUAL, pivot, 0, 1), jumpAlways(leftWithExit.length), ...leftWithExit, ...right];
}

/** One value of this word, then the search in the words behind it. */
function guarded(branch: Branch, search: readonly BpfInstruction[]): BpfInstruction[] {
  if (search.length <= MAX_CONDITIONAL_JUMP) return [jump(JUMP_EQUAL, branch.lo, 0, search.length), ...search];
  return [jump(JUMP_EQUAL, branch.lo, 1, 0), jumpAlways(search.length), ...search];
}

/** Comparisons one behind the other before one "pass"; written from the last to the first, when distances are known. */
function leaf(branches: readonly Branch[]): BpfInstruction[] {
  const reversed: BpfInstruction[] = [passFrame()];
  for (const { lo, hi } of branches.toReversed()) {
    const isLast = reversed.length === 1;
    // The last comparison falls into "pass" or jumps over it; the others jump to it or go on.
    const hit = isLast ? 0 : reversed.length - 1;
    const miss = isLast ? 1 : 0;
    if (lo === hi) reversed.push(jump(JUMP_EQUAL, lo, hit, miss));
    else reversed.push(jump(JUMP_GREATER_EQUAL, lo, hit, miss), jump(JUMP_GREATER, hi, miss + 1, 0));
  }
  return reversed.toReversed();
}

/** The first words of the entries, sorted, without overlaps: neighbouring free ranges become one. */
function branchesOf(entries: readonly Entry[]): Branch[] {
  const shallow = entries.filter((entry) => entry.words.length === 0);
  const ranges = mergedRanges(shallow);
  if (shallow.length === entries.length) return ranges;
  const deeper = new Map<number, Entry[]>();
  for (const entry of entries) {
    const [word, ...words] = entry.words;
    if (word === undefined || isInside(ranges, word)) continue;
    const known = deeper.get(word);
    const rest = { words, lo: entry.lo, hi: entry.hi };
    if (known === undefined) deeper.set(word, [rest]);
    else known.push(rest);
  }
  const branches = [...deeper].map(([word, rest]): Branch => ({ lo: word, hi: word, deeper: rest }));
  return [...ranges, ...branches].toSorted((a, b) => a.lo - b.lo);
}

function mergedRanges(entries: readonly Entry[]): Branch[] {
  const merged: Branch[] = [];
  let last: { lo: number; hi: number; readonly deeper: readonly Entry[] } | undefined;
  for (const { lo, hi } of entries.toSorted((a, b) => a.lo - b.lo)) {
    if (last !== undefined && lo <= last.hi + 1) last.hi = Math.max(last.hi, hi);
    else {
      last = { lo, hi, deeper: NO_ENTRIES };
      merged.push(last);
    }
  }
  return merged;
}

/** Binary search: `ranges` are sorted and do not overlap. */
function isInside(ranges: readonly Branch[], word: number): boolean {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ranges[middle]?.lo ?? 0) <= word) low = middle + 1;
    else high = middle;
  }
  const range = ranges[low - 1];
  return range !== undefined && word <= range.hi;
}

/** The addresses of the family as entries, in ascending order; IPv4 neighbours are one entry. */
function sortedHosts({ family, addresses }: WantedPackets): Entry[] {
  const own = addresses.filter((ip) => familyOf(ip) === family);
  if (family === 6) {
    return own.map((network) => prefixEntry({ network, length: bitsOf(6) })).toSorted(compareEntries);
  }
  // By far the most addresses are of this kind, and sorting plain words costs a tenth.
  const words = Uint32Array.from(own, ipv4ToNumber).toSorted();
  const entries: Entry[] = [];
  for (let at = 0; at < words.length; at++) {
    const lo = words[at] ?? 0;
    while (at + 1 < words.length && (words[at + 1] ?? 0) - (words[at] ?? 0) <= 1) at++;
    entries.push({ words: NO_WORDS, lo, hi: words[at] ?? lo });
  }
  return entries;
}

/** By the first address; both have equally many words before it, or one is the prefix of a shorter path. */
function compareEntries(a: Entry, b: Entry): number {
  const depth = Math.min(a.words.length, b.words.length);
  for (let index = 0; index < depth; index++) {
    const difference = (a.words[index] ?? 0) - (b.words[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return (a.words[depth] ?? a.lo) - (b.words[depth] ?? b.lo);
}

function prefixEntry(prefix: Prefix): Entry {
  const words = wordsOf(prefix.network);
  const whole = Math.max(0, Math.ceil(prefix.length / 32) - 1);
  const freeBits = 32 - (prefix.length - 32 * whole);
  const span = 2 ** freeBits;
  const word = words[whole] ?? 0;
  const lo = word - (word % span);
  return { words: words.slice(0, whole), lo, hi: lo + span - 1 };
}

/** Whether one of `hosts`, which are sorted, lies in the prefix. */
function holdsAny(prefix: Entry, hosts: readonly Entry[]): boolean {
  let low = 0;
  let high = hosts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const host = hosts[middle];
    if (host !== undefined && compareEntries(host, prefix) < 0) low = middle + 1;
    else high = middle;
  }
  // Neighbours that begin before the prefix may reach into it.
  const before = hosts[low - 1];
  if (before !== undefined && before.lo !== before.hi && prefix.words.length === 0 && before.hi >= prefix.lo)
    return true;
  const first = hosts[low];
  if (first === undefined || prefix.words.some((word, index) => word !== first.words[index])) return false;
  return (first.words[prefix.words.length] ?? first.lo) <= prefix.hi;
}

function wordsOf(ip: Ip): number[] {
  const bytes = ipBytes(ip);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Array.from({ length: bytes.length / 4 }, (_, index) => view.getUint32(4 * index));
}

function load(code: number, offset: number): BpfInstruction {
  return { code, jt: 0, jf: 0, k: offset };
}

/** Distances count from the instruction that follows. */
function jump(code: number, k: number, jt: number, jf: number): BpfInstruction {
  return { code, jt, jf, k };
}

function jumpAlways(distance: number): BpfInstruction {
  return { code: JUMP, jt: 0, jf: 0, k: distance };
}

function passFrame(): BpfInstruction {
  return { code: RETURN, jt: 0, jf: 0, k: WHOLE_FRAME };
}

function dropFrame(): BpfInstruction {
  return { code: RETURN, jt: 0, jf: 0, k: 0 };
}
