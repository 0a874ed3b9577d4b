/** Frames that other programs sent, as test/golden/packet/frames.json keeps them (hack/golden/packet captures them). */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect } from "chai";
import { bytesOfHex, concatBytes } from "../../src/base/bytes.ts";
import { type Ip, parseIp } from "../../src/net/ip.ts";
import { type Mac, parseMac } from "../../src/net/mac.ts";

export interface GoldenFrame {
  readonly name: string;
  readonly command: string;
  readonly frame: Uint8Array;
}

const FILE = resolve(import.meta.dirname, "../../../test/golden/packet/frames.json");

export const GOLDEN_FRAMES: readonly GoldenFrame[] = (
  JSON.parse(readFileSync(FILE, "utf8")) as { frames: { name: string; command: string; frame: string }[] }
).frames.map((entry) => ({ ...entry, frame: hex(entry.frame) }));

export function golden(name: string): Uint8Array {
  return GOLDEN_FRAMES.find((frame) => frame.name === name)?.frame ?? expect.fail(`no golden frame ${name}`);
}

export function hex(text: string): Uint8Array {
  return bytesOfHex(text) ?? expect.fail(`not hexadecimal: ${text}`);
}

export function ip(text: string): Ip {
  return parseIp(text) ?? expect.fail(`no address: ${text}`);
}

export function mac(text: string): Mac {
  return parseMac(text) ?? expect.fail(`no MAC: ${text}`);
}

/** The same bytes at a non-zero offset inside a larger buffer that is full of `filler`. */
export function insideLarger(bytes: Uint8Array, filler = 0xa5): Uint8Array {
  const larger = concatBytes([new Uint8Array(7).fill(filler), bytes, new Uint8Array(64).fill(filler)]);
  return larger.subarray(7, 7 + bytes.length);
}

/** A copy with one byte changed. */
export function withByte(bytes: Uint8Array, offset: number, value: number): Uint8Array {
  const copy = bytes.slice();
  copy[offset] = value;
  return copy;
}
