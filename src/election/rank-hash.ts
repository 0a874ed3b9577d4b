/**
 * SHA-256 of `node#key` (FIPS 180-4), by which nodes are ranked: MetalLB's hash, so that both rank alike. Its head is worked out here
 * for texts that fit one block, because a million calls of node:crypto cost more than a second, and a first decision needs as many.
 */
import { hash } from "node:crypto";

/** 8 hex digits are 32 bits. */
const HEAD_DIGITS = 8;
/** A block of 64 bytes, less the end mark and the length. */
const MAX_BYTES = 55;
const LENGTH_WORD = 15;
const HASH_SIGN = 0x23;
const END_MARK = 0x80;
const MAX_ASCII = 0x7f;

const INITIAL = [
  0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
] as const;

/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
const CONSTANTS = Int32Array.from(firstPrimes(64), (prime) => fractionBits(Math.cbrt(prime)));
const words = new Int32Array(64);

/**
 * Works out the heads of the nodes from number `from` on, for one key, into `heads` by their numbers; those before may be written again. The
 * same list of nodes only grows from call to call.
 */
export type RankHeads = (nodes: readonly string[], key: string, heads: Uint32Array, from: number) => void;

export const rankHeads: RankHeads = (nodes, key, heads, from) => {
  for (let number = from; number < nodes.length; number++) heads[number] = rankHead(nodes[number] ?? "", key);
};

/** Lower-case hex. */
export function rankHash(node: string, key: string): string {
  return hash("sha256", `${node}#${key}`, "hex");
}

/** The first 32 bits of the hash: with a hundred nodes one address in a million has two that are alike in them. */
export function rankHead(node: string, key: string): number {
  const length = node.length + 1 + key.length;
  if (length > MAX_BYTES) return slowHead(node, key);
  words.fill(0, 0, LENGTH_WORD);
  if (!putAscii(node, 0)) return slowHead(node, key);
  putByte(node.length, HASH_SIGN);
  putAscii(key, node.length + 1);
  putByte(length, END_MARK);
  words[LENGTH_WORD] = 8 * length;
  return headOfBlock();
}

function slowHead(node: string, key: string): number {
  return Number.parseInt(rankHash(node, key).slice(0, HEAD_DIGITS), 16);
}

/** False for text of which a letter is more than a byte. */
function putAscii(text: string, offset: number): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > MAX_ASCII) return false;
    putByte(offset + index, code);
  }
  return true;
}

function putByte(offset: number, byte: number): void {
  words[offset >>> 2] = (words[offset >>> 2] ?? 0) | (byte << (24 - 8 * (offset & 3)));
}

/** FIPS 180-4 §6.2.2 for the block in `words`, of which only the first word of the result is wanted. */
function headOfBlock(): number {
  for (let t = 16; t < 64; t++) {
    const x = words[t - 15] ?? 0;
    const y = words[t - 2] ?? 0;
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    words[t] = ((words[t - 16] ?? 0) + s0 + (words[t - 7] ?? 0) + s1) | 0;
  }
  let a = INITIAL[0] | 0;
  let b = INITIAL[1] | 0;
  let c = INITIAL[2] | 0;
  let d = INITIAL[3] | 0;
  let e = INITIAL[4] | 0;
  let f = INITIAL[5] | 0;
  let g = INITIAL[6] | 0;
  let h = INITIAL[7] | 0;
  for (let t = 0; t < 64; t++) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const one = (h + s1 + ((e & f) ^ (~e & g)) + (CONSTANTS[t] ?? 0) + (words[t] ?? 0)) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + one) | 0;
    d = c;
    c = b;
    b = a;
    a = (one + two) | 0;
  }
  return (a + INITIAL[0]) >>> 0;
}

function fractionBits(value: number): number {
  return Math.floor((value - Math.floor(value)) * 2 ** 32);
}

function firstPrimes(count: number): number[] {
  const primes: number[] = [];
  for (let number = 2; primes.length < count; number++) {
    if (primes.every((prime) => number % prime !== 0)) primes.push(number);
  }
  return primes;
}
