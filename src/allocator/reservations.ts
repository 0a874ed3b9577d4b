/**
 * Addresses kept for Services by name: `reserved` after a Service was deleted, for a time; `pinned` by hand. Lines of the ConfigMap
 * `arpeggio-reservations`. Pure.
 */
import { compareText } from "../desired/text-order.ts";
import { type Ip, parseIp } from "../net/ip.ts";
import { AddressSet } from "./address-set.ts";
import type { ServiceKey } from "./service.ts";
import { secondsText } from "./time-text.ts";

export interface Reserved {
  readonly key: ServiceKey;
  readonly addresses: readonly Ip[];
  /** Wall time. */
  readonly untilMs: number;
}

export interface Pinned {
  readonly key: ServiceKey;
  readonly addresses: readonly Ip[];
}

/** What could be read, and a sentence for each line that is skipped. */
export interface ReadLines<Line> {
  readonly lines: readonly Line[];
  readonly problems: readonly string[];
}

/** More are not kept: the oldest are dropped. A ConfigMap holds 1 MiB. */
export const MAX_RESERVED = 5_000;

/** Longer text in a sentence is cut. */
const LONGEST_LINE = 80;

export class Reservations {
  readonly reserved: readonly Reserved[];
  readonly pinned: readonly Pinned[];
  /** What nobody but the Service that it is pinned for may have. */
  readonly pinnedSet: AddressSet;
  /** What is kept for a while, and is given back early when a pool is otherwise full. */
  readonly reservedSet: AddressSet;
  readonly #owners = new Map<Ip, Pinned | Reserved>();
  readonly #byKey = new Map<ServiceKey, readonly Ip[]>();

  constructor(reserved: readonly Reserved[] = [], pinned: readonly Pinned[] = []) {
    this.reserved = reserved;
    this.pinned = pinned;
    this.pinnedSet = new AddressSet(pinned.flatMap(({ addresses }) => addresses));
    this.reservedSet = new AddressSet(reserved.flatMap(({ addresses }) => addresses));
    // What is pinned wins over what is reserved; of lines that name one address the first stands.
    for (const line of [...pinned, ...reserved]) {
      const free = line.addresses.filter((ip) => !this.#owners.has(ip));
      for (const ip of free) this.#owners.set(ip, line);
      this.#byKey.set(line.key, [...(this.#byKey.get(line.key) ?? []), ...free]);
    }
  }

  /** Who an address is kept for. */
  ownerOf(ip: Ip): Pinned | Reserved | undefined {
    return this.#owners.get(ip);
  }

  /** What is kept for a Service, pinned first. */
  of(key: ServiceKey): readonly Ip[] {
    return this.#byKey.get(key) ?? [];
  }
}

/** Lines `namespace/name address[,address] until`. */
export function parseReserved(text: string): ReadLines<Reserved> {
  return readLines(text, "reserved", (line) => {
    const [key = "", addresses = "", until = "", ...rest] = line.split(/\s+/);
    const untilMs = Date.parse(until);
    const read = addressesOf(addresses);
    if (!isKey(key) || read === undefined || Number.isNaN(untilMs) || rest.length > 0)
      return "must be namespace/name, addresses with commas between them, and an RFC 3339 time, with spaces between the three";
    return { key, addresses: read, untilMs };
  });
}

/** Oldest first, at most `MAX_RESERVED` of those that end last. */
export function formatReserved(reserved: readonly Reserved[]): string {
  return trimReserved(reserved)
    .map(({ key, addresses, untilMs }) => `${key} ${addresses.join(",")} ${secondsText(untilMs)}\n`)
    .join("");
}

/** In the order in which they end. */
export function trimReserved(reserved: readonly Reserved[]): readonly Reserved[] {
  const sorted = reserved.toSorted((a, b) => a.untilMs - b.untilMs || compareText(a.key, b.key));
  return sorted.slice(Math.max(0, sorted.length - MAX_RESERVED));
}

/** Lines `namespace/name = address[, address]`, `#` begins a comment. */
export function parsePinned(text: string): ReadLines<Pinned> {
  const owners = new Map<Ip, ServiceKey>();
  return readLines(text, "pinned", (line) => {
    const [left = "", right, ...rest] = line.split("=");
    const key = left.trim();
    const addresses = addressesOf(right ?? "");
    if (!isKey(key) || addresses === undefined || rest.length > 0)
      return "must be namespace/name = address[, address], of which at most one of each family";
    const taken = addresses.find((ip) => owners.has(ip));
    if (taken !== undefined) return `${taken} is pinned for ${owners.get(taken)} by a line before it`;
    for (const ip of addresses) owners.set(ip, key);
    return { key, addresses };
  });
}

function readLines<Line>(text: string, name: string, read: (line: string) => Line | string): ReadLines<Line> {
  const lines: Line[] = [];
  const problems: string[] = [];
  for (const [index, raw] of text.split("\n").entries()) {
    const line = raw.replace(/#.*/, "").trim();
    if (line === "") continue;
    const found = read(line);
    if (typeof found !== "string") lines.push(found);
    else problems.push(`ConfigMap arpeggio-reservations, key ${name}, line ${index + 1} is ${quoted(line)}: ${found}`);
  }
  return { lines, problems };
}

function quoted(line: string): string {
  return JSON.stringify(line.length <= LONGEST_LINE ? line : `${line.slice(0, LONGEST_LINE)}…`);
}

function isKey(text: string): boolean {
  return /^[^/\s]+\/[^/\s]+$/.test(text);
}

/** At least one, at most one of each family. */
function addressesOf(text: string): readonly Ip[] | undefined {
  const addresses: Ip[] = [];
  for (const part of text.split(",")) {
    const ip = parseIp(part.trim());
    if (ip === undefined || addresses.some((other) => other.includes(":") === ip.includes(":"))) return undefined;
    addresses.push(ip);
  }
  return addresses;
}
