/**
 * What CEL can say about one entry of a pool. The same words stand in our CustomResourceDefinition, as rules of the schema, and in the
 * policy over MetalLB's, which has none. What `isIP` and `isCIDR` refuse is what MetalLB refuses: leading zeros, zones; IPv4 addresses
 * written as IPv6 too. Host bits in a prefix and spaces around the dash are accepted, as by MetalLB.
 */

/** A predicate over an entry, with the sentence that is said when it does not hold. */
export interface EntryRule {
  /** CEL of type bool; `entry` is CEL of type string. */
  readonly holds: (entry: string) => string;
  /** For where the value cannot be shown. */
  readonly message: string;
  /** CEL of type string, begins with the entry. */
  readonly sentence: (entry: string) => string;
}

/** The longest that is an entry, and spaces. Without a limit the API server counts with 3 MiB for each and refuses the rule as too dear. */
export const ENTRY_MAX_LENGTH = 128;

/** More than a pool will have; the rules' estimated cost is a multiple of it. */
export const POOL_MAX_ENTRIES = 5_000;

const NEITHER = "is neither a CIDR such as 192.0.2.0/24 nor a range such as 192.0.2.10-192.0.2.20";
const TWO_FAMILIES = "is a range of two families: both ends must be IPv4 or both IPv6";
const REVERSED = "is a range that ends before it starts";

export const ENTRY_RULES: readonly EntryRule[] = [
  {
    holds: (entry) => `${entry}.contains('-') ? ${isRange(entry)} : isCIDR(${entry})`,
    message: NEITHER,
    sentence: quotedThen(NEITHER),
  },
  {
    holds: (entry) => `${isNoRange(entry)} || ip(${rangeStart(entry)}).family() == ip(${rangeEnd(entry)}).family()`,
    message: TWO_FAMILIES,
    sentence: quotedThen(TWO_FAMILIES),
  },
  {
    // CEL has no numbers of 128 bits: IPv6 ranges are left to whoever reads the pool.
    holds: (entry) =>
      `${isNoRange(entry)} || ip(${rangeStart(entry)}).family() == 6 || ip(${rangeEnd(entry)}).family() == 6` +
      ` || ${ipv4Number(rangeStart(entry))} <= ${ipv4Number(rangeEnd(entry))}`,
    message: REVERSED,
    sentence: quotedThen(REVERSED),
  },
];

/** CEL of type bool, for an entry with a dash: two addresses. A second dash is in no address. */
export function isRange(entry: string): string {
  return `isIP(${rangeStart(entry)}) && isIP(${rangeEnd(entry)})`;
}

function isNoRange(entry: string): string {
  return `!${entry}.contains('-') || !isIP(${rangeStart(entry)}) || !isIP(${rangeEnd(entry)})`;
}

/** CEL. By substring: the API server cannot tell how long the parts of a `split` may be, and finds everything after it too dear. */
export function rangeStart(entry: string): string {
  return `${entry}.substring(0, ${entry}.indexOf('-')).trim()`;
}

export function rangeEnd(entry: string): string {
  return `${entry}.substring(${entry}.indexOf('-') + 1).trim()`;
}

/** CEL of an IPv4 address in text as a number. */
export function ipv4Number(text: string): string {
  return `[${text}.split('.')].map(o, int(o[0]) * 16777216 + int(o[1]) * 65536 + int(o[2]) * 256 + int(o[3]))[0]`;
}

function quotedThen(must: string): EntryRule["sentence"] {
  return (entry) => `'"' + ${entry} + '" ${must}'`;
}
