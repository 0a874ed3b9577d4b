/** Address groups of rows that come and go: only the groups that a change touches are joined anew. Pure, but for its own state. */
import { isSameList } from "../base/same-list.ts";
import type { Ip } from "../net/ip.ts";
import type { AddressGroup, Derived, GroupService, RefusedService } from "./group.ts";
import { joinByAddress } from "./join-by-address.ts";
import { compareText } from "./text-order.ts";

/** What came of a Service, and its place among all: oldest first. */
export interface TableRow {
  readonly namespace: string;
  readonly name: string;
  readonly createdMs: number;
  /** At most one of the two. */
  readonly member?: GroupService;
  readonly refused?: RefusedService;
}

interface Entry {
  readonly group: AddressGroup;
  /** As many as the group has Services, in the same order. */
  readonly rows: readonly TableRow[];
}

const NOTHING: Derived = { groups: [], refused: [] };

export class GroupTable {
  /** Both in order of age; an entry is as old as its first row. */
  #entries: readonly Entry[] = [];
  #refusals: readonly TableRow[] = [];
  readonly #byIp = new Map<Ip, Entry>();
  #derived = NOTHING;

  get derived(): Derived {
    return this.#derived;
  }

  /** Takes rows away, then adds others: all that have changed, together. Groups of which nothing changed stay the same objects. */
  replace(gone: readonly TableRow[], come: readonly TableRow[]): void {
    const groups = this.#replaceMembers(gone, come);
    const refused = this.#replaceRefusals(gone, come);
    if (groups !== this.#derived.groups || refused !== this.#derived.refused) this.#derived = { groups, refused };
  }

  #replaceMembers(gone: readonly TableRow[], come: readonly TableRow[]): Derived["groups"] {
    const touched = new Set<Entry>();
    for (const { member } of [...gone, ...come]) {
      for (const ip of member?.addresses ?? []) {
        const entry = this.#byIp.get(ip);
        if (entry !== undefined) touched.add(entry);
      }
    }
    const without = new Set(gone);
    const rows = [...touched].flatMap((entry) => entry.rows.filter((row) => !without.has(row)));
    for (const row of come) if (row.member !== undefined) rows.push(row);
    if (rows.length === 0 && touched.size === 0) return this.#derived.groups;
    const joined = this.#join(rows.toSorted(compareAge));
    for (const { group } of touched) for (const ip of group.addresses) this.#byIp.delete(ip);
    for (const entry of joined) for (const ip of entry.group.addresses) this.#byIp.set(ip, entry);
    this.#entries = merged(this.#entries, touched, joined, (a, b) => compareAge(a.rows[0], b.rows[0]));
    return this.#entries.map(({ group }) => group);
  }

  #join(rows: readonly TableRow[]): Entry[] {
    const rowOf = new Map<GroupService, TableRow>();
    for (const row of rows) if (row.member !== undefined) rowOf.set(row.member, row);
    return joinByAddress([...rowOf.keys()]).map((group) => {
      const known = this.#byIp.get(group.key)?.group;
      const isKnown = known?.key === group.key && isSameList(known.services, group.services);
      const own = group.services.flatMap((service) => rowOf.get(service) ?? []).slice();
      return { group: isKnown ? known : group, rows: own };
    });
  }

  #replaceRefusals(gone: readonly TableRow[], come: readonly TableRow[]): Derived["refused"] {
    const without = new Set(gone.filter(({ refused }) => refused !== undefined));
    const added = come.filter(({ refused }) => refused !== undefined);
    if (without.size === 0 && added.length === 0) return this.#derived.refused;
    this.#refusals = merged(this.#refusals, without, added.toSorted(compareAge), compareAge);
    return this.#refusals.flatMap(({ refused }) => refused ?? []);
  }
}

/** By creation, then namespace/name. */
function compareAge(a: TableRow | undefined, b: TableRow | undefined): number {
  if (a === undefined || b === undefined) return 0;
  return a.createdMs - b.createdMs || compareText(a.namespace, b.namespace) || compareText(a.name, b.name);
}

/** `list` without `gone` and with `come`, all in order. */
function merged<Item>(
  list: readonly Item[],
  gone: ReadonlySet<Item>,
  come: readonly Item[],
  compare: (a: Item, b: Item) => number,
): readonly Item[] {
  if (list.length === 0) return come;
  const result: Item[] = [];
  let next = 0;
  for (const item of list) {
    if (gone.size > 0 && gone.has(item)) continue;
    for (let added = come[next]; added !== undefined && compare(added, item) < 0; added = come[++next]) {
      result.push(added);
    }
    result.push(item);
  }
  for (; next < come.length; next++) {
    const added = come[next];
    if (added !== undefined) result.push(added);
  }
  return result;
}
