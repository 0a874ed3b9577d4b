/**
 * CEL that finds entries of pools that overlap. IPv4 prefixes and ranges are compared as pairs of numbers; of two IPv6 prefixes one
 * holds the other's address; an IPv6 range and a prefix overlap if the prefix holds an end of it. Two IPv6 ranges, and a range around a
 * prefix, are beyond CEL, which has no numbers of 128 bits: whoever reads the pools refuses those.
 */

import type { Variable } from "./policy.ts";
import { ipv4Number, isRange, rangeEnd, rangeStart } from "./pool-entry-rules.ts";

/**
 * Pairs that are compared, at most. An evaluation may cost 1,000,000, about 0.2 s of a quiet core, and it is done for every other pool;
 * a pair costs about 14 (IPv4) and 70 (IPv6). What is more is left to whoever reads the pools.
 */
const MAX_IPV4_PAIRS = 10_000;
const MAX_IPV6_PAIRS = 2_500;
/** An entry costs about 200 to be read. */
const MAX_ENTRIES = 1_000;

/** Sizes of IPv4 prefixes, by the number of their host bits. CEL has no powers. */
const SIZES: Variable = {
  name: "sizes",
  expression: `[${Array.from({ length: 33 }, (_size, bits) => 2 ** bits).join(", ")}]`,
};

/**
 * Variables `NAMEIpv4` and `NAMEIpv6` of the readable entries in a list of texts: `{text, first, last}`, and `{text, cidrs, ips}` with
 * what an entry holds for certain.
 */
export function entryVariables(name: string, list: string): readonly Variable[] {
  const entries = `(${list}.size() <= ${MAX_ENTRIES} ? ${list} : [])`;
  const prefixes = (family: 4 | 6) => `${entries}.filter(a, isCIDR(a) && cidr(a).ip().family() == ${family})`;
  const [start, end] = [rangeStart("a"), rangeEnd("a")];
  const isOf = (family: 4 | 6) => `ip(${start}).family() == ${family} && ip(${end}).family() == ${family}`;
  const ranges = (family: 4 | 6) => `${entries}.filter(a, a.contains('-') && ${isRange("a")} && ${isOf(family)})`;
  const size = "variables.sizes[32 - cidr(a).prefixLength()]";
  return [
    {
      name: `${name}Ipv4`,
      expression: `${prefixes(4)}
  .map(a, {'text': dyn(a), 'ip': dyn(${ipv4Number("a.split('/')[0]")}), 'size': dyn(${size})})
  .map(e, {'text': e.text, 'first': dyn(e.ip - e.ip % e.size), 'last': dyn(e.ip - e.ip % e.size + e.size - 1)})
+ ${ranges(4)}
  .map(a, {'text': dyn(a), 'first': dyn(${ipv4Number(start)}), 'last': dyn(${ipv4Number(end)})})`,
    },
    {
      name: `${name}Ipv6`,
      expression: `${prefixes(6)}.map(a, {'text': dyn(a), 'cidrs': dyn([cidr(a)]), 'ips': dyn([cidr(a).ip()])})
+ ${ranges(6)}.map(a, {'text': dyn(a), 'cidrs': dyn([]), 'ips': dyn([ip(${start}), ip(${end})])})`,
    },
  ];
}

/** Variable `clashes`: `{text, with}` for entries of `mine` that overlap others of `theirs`, names of `entryVariables`. */
export function clashVariables(mine: string, theirs: string): readonly Variable[] {
  return [
    { name: `${mine}Box`, expression: boxOf(mine) },
    { name: `${theirs}Box`, expression: boxOf(theirs) },
    // Pools mostly lie apart: then no pair is left to compare.
    { name: `${mine}Near`, expression: within(mine, `${theirs}Box`) },
    { name: `${theirs}Near`, expression: within(theirs, `${mine}Box`) },
    {
      name: "clashes",
      expression: `${clashesOf(`variables.${mine}Near`, `variables.${theirs}Near`, MAX_IPV4_PAIRS, IPV4_OVERLAP)}
+ ${clashesOf(`variables.${mine}Ipv6`, `variables.${theirs}Ipv6`, MAX_IPV6_PAIRS, IPV6_OVERLAP)}`,
    },
  ];
}

/** Variable `clashes` as above, for entries of one list. */
export function innerClashVariable(name: string): Variable {
  // Each entry overlaps itself; one that stands twice is another matter.
  const ipv4 = clashesOf(
    `variables.${name}Ipv4`,
    `variables.${name}Ipv4`,
    MAX_IPV4_PAIRS,
    `e.text != o.text && ${IPV4_OVERLAP}`,
  );
  const ipv6 = clashesOf(
    `variables.${name}Ipv6`,
    `variables.${name}Ipv6`,
    MAX_IPV6_PAIRS,
    `e.text != o.text && (${IPV6_OVERLAP})`,
  );
  return { name: "clashes", expression: `${ipv4}\n+ ${ipv6}` };
}

export { SIZES };

const IPV4_OVERLAP = "e.first <= o.last && o.first <= e.last";
const IPV6_OVERLAP =
  "e.cidrs.exists(c, o.ips.exists(i, c.containsIP(i))) || o.cidrs.exists(c, e.ips.exists(i, c.containsIP(i)))";

/** Of one entry each; the lists are too long: none. */
function clashesOf(mine: string, theirs: string, maxPairs: number, overlap: string): string {
  return `(${mine}.size() * ${theirs}.size() > ${maxPairs} ? [] : ${mine}.filter(e, ${theirs}.exists(o, ${overlap}))
  .map(e, {'text': e.text, 'with': ${theirs}.filter(o, ${overlap})[0].text}))`;
}

/** The list's IPv4 entries of which a part lies in a box. */
function within(name: string, box: string): string {
  return `variables.${name}Ipv4.filter(e, e.first <= variables.${box}[1] && variables.${box}[0] <= e.last)`;
}

/** The numbers from the first to the last of a list's IPv4 entries. */
function boxOf(name: string): string {
  const entries = `variables.${name}Ipv4`;
  return `${entries}.size() == 0 ? [1, 0] : [${entries}.map(e, int(e.first)).min(), ${entries}.map(e, int(e.last)).max()]`;
}
