/**
 * Who holds each sticky address, and since which term (DESIGN D4): what nodes remember of an address beside the snapshot and the
 * members. Every node writes what it has taken itself and tells the others; the highest term stands. Pure, but for its own state.
 *
 * Two are remembered of each address: while the node of the highest term may not lead, because it came back from the smaller side
 * of a healed partition and settles, the one before it keeps what it has led all the time.
 */
import { compareText } from "../desired/text-order.ts";
import type { Ip } from "../net/ip.ts";

/** As the messages write it: u32. */
export const GREATEST_TERM = 0xffff_ffff;
const HOLDERS_KEPT = 2;
/** Records of addresses that are not sticky here may be of a Service that is not read yet; after so long they are of none. */
export const UNKNOWN_KEPT_MS = 15 * 60_000;
/** Beside those that are known to be sticky; who has no key must not fill the memory. */
const UNKNOWN_KEPT = 4_096;

export interface Holder {
  readonly node: string;
  /** 1 for the first that ever held it; each that takes it over adds one. */
  readonly term: number;
}

/** The highest term first; of equal terms the lower name, so that all come to the same. Each node once. */
export type Holders = readonly Holder[];

/** Of addresses. The same list as long as nothing about the address changed. */
export type HoldersByIp = ReadonlyMap<Ip, Holders>;

export interface HolderRecord extends Holder {
  readonly addresses: readonly Ip[];
}

export const NO_HOLDERS: Holders = [];

export class HolderBook {
  readonly #byIp = new Map<Ip, Holders>();
  /** Records that no sticky address of ours explains, and since when. */
  readonly #unknownSinceMs = new Map<Ip, number>();

  get byIp(): HoldersByIp {
    return this.#byIp;
  }

  holderOf(ip: Ip): Holder | undefined {
    return this.#byIp.get(ip)?.[0];
  }

  /** Addresses of which something is known now that was not. `isKnown`: the address is sticky here. */
  take(records: readonly HolderRecord[], isKnown: (ip: Ip) => boolean, nowMs: number): readonly Ip[] {
    const changed: Ip[] = [];
    for (const { addresses, node, term } of records) {
      const holder = { node, term };
      for (const ip of addresses) if (this.#takeOne(ip, holder, isKnown, nowMs)) changed.push(ip);
    }
    return changed;
  }

  #takeOne(ip: Ip, holder: Holder, isKnown: (ip: Ip) => boolean, nowMs: number): boolean {
    const before = this.#byIp.get(ip) ?? NO_HOLDERS;
    const after = joined(before, [holder], HOLDERS_KEPT);
    if (after === before) return false;
    if (before === NO_HOLDERS && !isKnown(ip)) {
      if (this.#unknownSinceMs.size >= UNKNOWN_KEPT) return false;
      this.#unknownSinceMs.set(ip, nowMs);
    }
    this.#byIp.set(ip, after);
    return true;
  }

  /** Forgets what nobody has known for long. They are not told to others either, so that they die out everywhere. */
  forgetUnknown(isKnown: (ip: Ip) => boolean, nowMs: number): void {
    for (const ip of this.#byIp.keys()) {
      if (isKnown(ip)) {
        this.#unknownSinceMs.delete(ip);
        continue;
      }
      const sinceMs = this.#unknownSinceMs.get(ip);
      if (sinceMs === undefined) this.#unknownSinceMs.set(ip, nowMs);
      if (sinceMs === undefined || nowMs - sinceMs < UNKNOWN_KEPT_MS) continue;
      this.#unknownSinceMs.delete(ip);
      this.#byIp.delete(ip);
    }
  }
}

/** Of all addresses of a group together: it has one leader, so that whoever holds one of them holds all. */
export function holdersOf(addresses: readonly Ip[], byIp: HoldersByIp): Holders {
  const [first, ...others] = addresses;
  const holders = first === undefined ? undefined : byIp.get(first);
  if (others.length === 0) return holders ?? NO_HOLDERS;
  return others.reduce(
    (known, ip) => joined(known, byIp.get(ip) ?? NO_HOLDERS, Number.POSITIVE_INFINITY),
    holders ?? NO_HOLDERS,
  );
}

/** The term in which `leader` leads what these hold: a new one for who takes it over, or shares the highest with another. */
export function termOf(leader: string | undefined, [holder, other]: Holders): number {
  if (leader === undefined) return holder?.term ?? 0;
  if (leader === holder?.node && other?.term !== holder.term) return holder.term;
  return Math.min((holder?.term ?? 0) + 1, GREATEST_TERM);
}

export function isSameHolders(a: Holders, b: Holders): boolean {
  if (a === b) return true;
  return a.length === b.length && a.every(({ node, term }, place) => b[place]?.node === node && b[place].term === term);
}

/** In whatever order records come, and how often, the same comes of them. The same list when nothing is new. */
function joined(known: Holders, more: Holders, kept: number): Holders {
  const news = more.filter(({ node, term }) => (known.find((holder) => holder.node === node)?.term ?? 0) < term);
  if (news.length === 0) return known;
  const others = known.filter(({ node }) => !news.some((holder) => holder.node === node));
  const all = [...others, ...news].toSorted((a, b) => b.term - a.term || compareText(a.node, b.node)).slice(0, kept);
  return isSameHolders(known, all) ? known : all;
}
