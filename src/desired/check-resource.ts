/** What MetalLB refuses beyond its schema: addresses that are none, and selectors that say a thing twice or never hold. Pure. */
import type { IPAddressPoolResource } from "../../api/ip-address-pool.ts";
import type { L2AdvertisementResource } from "../../api/l2-advertisement.ts";
import type { LabelSelectorResource } from "../../api/label-selector.ts";
import { type Range, rangesOverlap } from "../net/prefix.ts";
import { type PoolEntryDrop, parsePoolEntry } from "./pool-entry.ts";
import { type Fault, type FieldPath, fault } from "./sentence.ts";

const ENTRY_MUST: Readonly<Record<PoolEntryDrop, string>> = {
  "not-a-prefix-or-range": "must be a prefix such as 192.0.2.0/24 or a range such as 192.0.2.10-192.0.2.20",
  "range-end-before-start": "must not end before it starts",
  "range-of-two-families": "must not start with an IPv4 and end with an IPv6 address, or the other way round",
};

export function poolFault({ spec }: IPAddressPoolResource): Fault | undefined {
  const allocation = spec.serviceAllocation;
  const path = ["spec", "serviceAllocation"];
  return (
    entriesFault(spec.addresses) ??
    repeatFault([...path, "namespaces"], allocation?.namespaces) ??
    selectorsFault([...path, "namespaceSelectors"], allocation?.namespaceSelectors) ??
    selectorsFault([...path, "serviceSelectors"], allocation?.serviceSelectors)
  );
}

export function advertisementFault({ spec }: L2AdvertisementResource): Fault | undefined {
  return (
    repeatFault(["spec", "ipAddressPools"], spec?.ipAddressPools) ??
    selectorsFault(["spec", "ipAddressPoolSelectors"], spec?.ipAddressPoolSelectors) ??
    selectorsFault(["spec", "nodeSelectors"], spec?.nodeSelectors) ??
    selectorsFault(["spec", "serviceSelectors"], spec?.serviceSelectors) ??
    firstOf(spec?.preferredNodeSelectors, ({ preference }, index) =>
      selectorFault(["spec", "preferredNodeSelectors", index, "preference"], preference),
    )
  );
}

function entriesFault(entries: readonly string[]): Fault | undefined {
  const seen: Range[] = [];
  return firstOf(entries, (text, index) => {
    const path = ["spec", "addresses", index];
    const entry = parsePoolEntry(text);
    if (!entry.ok) return fault(path, text, ENTRY_MUST[entry.reason]);
    if (seen.some((range) => rangesOverlap(range, entry.value))) {
      return fault(path, text, "must not overlap with an entry before it");
    }
    seen.push(entry.value);
    return undefined;
  });
}

function selectorsFault(path: FieldPath, selectors: readonly LabelSelectorResource[] | undefined): Fault | undefined {
  const single = firstOf(selectors, (selector, index) => selectorFault([...path, index], selector));
  return single ?? repeatFault(path, selectors?.map(canonical));
}

/** The rules of apimachinery's LabelSelectorAsSelector. */
function selectorFault(path: FieldPath, selector: LabelSelectorResource): Fault | undefined {
  return firstOf(selector.matchExpressions, ({ operator, values = [] }, index) => {
    const wantsValues = operator === "In" || operator === "NotIn";
    if (wantsValues === values.length > 0) return undefined;
    const at = [...path, "matchExpressions", index];
    return wantsValues
      ? fault([...at, "values"], values, `must not be empty with ${operator}`)
      : fault([...at, "values"], values, `must be empty with ${operator}`);
  });
}

function repeatFault(path: FieldPath, values: readonly string[] | undefined): Fault | undefined {
  return firstOf(values, (value, index) =>
    values?.indexOf(value) === index ? undefined : fault([...path, index], undefined, "repeats an entry before it"),
  );
}

/** Equal for selectors that differ only in the order of their parts. */
function canonical({ matchLabels = {}, matchExpressions = [] }: LabelSelectorResource): string {
  const labels = Object.entries(matchLabels).map((entry) => JSON.stringify(entry));
  const expressions = matchExpressions.map(({ key, operator, values = [] }) =>
    JSON.stringify([key, operator, sorted(values)]),
  );
  return JSON.stringify([sorted(labels), sorted(expressions)]);
}

function sorted(texts: readonly string[]): readonly string[] {
  return [...texts].toSorted((a, b) => (a < b ? -1 : Number(a > b)));
}

function firstOf<Item>(
  items: readonly Item[] | undefined,
  check: (item: Item, index: number) => Fault | undefined,
): Fault | undefined {
  for (const [index, item] of (items ?? []).entries()) {
    const found = check(item, index);
    if (found !== undefined) return found;
  }
  return undefined;
}
