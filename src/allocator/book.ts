/**
 * Who has which address, with which key and ports. Made from the Services on every complete list; between two lists the entry of one
 * Service is replaced by what it says now. Nothing is counted: what is in use is a set.
 */
import { compareIps, type Ip } from "../net/ip.ts";
import { AddressSet } from "./address-set.ts";
import { type Age, compareAge, type ServiceKey } from "./service.ts";
import { type Clash, clashOf, type Sharing, sharingGroup } from "./sharing.ts";

export interface Holder extends Age {
  /** Each once. */
  readonly addresses: readonly Ip[];
  readonly sharing: Sharing;
}

/** One Service that stands in another's way on an address. */
export interface AddressClash {
  readonly address: Ip;
  readonly holder: Holder;
  readonly clash: Clash;
}

/** What a decision may ask of the book. */
export interface BookView {
  readonly used: AddressSet;
  /** The oldest first. */
  holdersOf(ip: Ip): readonly Holder[];
  /** Addresses of which some holder has this key and policy, and none of these with one of the ports, in no order. */
  sharedBy(sharing: Sharing): Iterable<Ip>;
}

export class Book implements BookView {
  readonly used: AddressSet;
  readonly #holders = new Map<ServiceKey, Holder>();
  readonly #byAddress = new Map<Ip, readonly Holder[]>();
  /** By key and policy; and by key, policy and port. */
  readonly #byGroup = new Map<string, Set<Ip>>();

  constructor(holders: Iterable<Holder> = []) {
    const all = [...holders];
    this.used = new AddressSet(all.flatMap(({ addresses }) => addresses));
    for (const holder of all) this.put(holder);
  }

  holder(key: ServiceKey): Holder | undefined {
    return this.#holders.get(key);
  }

  holdersOf(ip: Ip): readonly Holder[] {
    return this.#byAddress.get(ip) ?? [];
  }

  *sharedBy(sharing: Sharing): Iterable<Ip> {
    const group = sharingGroup(sharing) ?? "";
    const all = this.#byGroup.get(group);
    if (all === undefined) return;
    const used = sharing.ports.flatMap((port) => this.#byGroup.get(portGroup(group, port)) ?? []);
    // Thousands with one key and one port: none of them can share, and each is told so at once.
    if (used.some(({ size }) => size === all.size)) return;
    for (const ip of all) if (!used.some((addresses) => addresses.has(ip))) yield ip;
  }

  /** In place of what the Service had before. Without an address it is forgotten. */
  put(holder: Holder): void {
    this.remove(holder.key);
    if (holder.addresses.length === 0) return;
    this.#holders.set(holder.key, holder);
    for (const ip of holder.addresses) {
      const others = this.#byAddress.get(ip);
      // In order of age: what is said of holders must not depend on who came to be known first.
      this.#byAddress.set(ip, others === undefined ? [holder] : [...others, holder].toSorted(compareAge));
      this.used.add(ip);
      for (const name of groupsOf(holder)) addTo(this.#byGroup, name, ip);
    }
  }

  remove(key: ServiceKey): void {
    const holder = this.#holders.get(key);
    if (holder === undefined) return;
    this.#holders.delete(key);
    const groups = groupsOf(holder);
    for (const ip of holder.addresses) {
      const others = this.holdersOf(ip).filter((other) => other !== holder);
      if (others.length === 0) {
        this.#byAddress.delete(ip);
        this.used.delete(ip);
      } else this.#byAddress.set(ip, others);
      const left = new Set(groups.length === 0 ? [] : others.flatMap(groupsOf));
      for (const name of groups) if (!left.has(name)) removeFrom(this.#byGroup, name, ip);
    }
  }

  /** Every address that somebody has, ascending, IPv4 first. */
  addresses(): readonly Ip[] {
    return [...this.#byAddress.keys()].toSorted(compareIps);
  }
}

/** Who stands in the way of a Service that would take the address; every holder counts. */
export function clashesOn(address: Ip, sharing: Sharing, book: BookView): readonly AddressClash[] {
  return clashesWith(address, sharing, book.holdersOf(address));
}

/**
 * Who stands in the way of a Service that has the address already: only those that have it by right, which are, from the oldest on,
 * each that may share with all before it. So of strangers the oldest keeps the address, and what one has no right to hurts nobody.
 */
export function olderClashesOn(address: Ip, own: Age, sharing: Sharing, book: BookView): readonly AddressClash[] {
  const older = book.holdersOf(address).filter((holder) => holder.key !== own.key && compareAge(holder, own) < 0);
  if (older.length === 0) return [];
  const rightful: Holder[] = [];
  for (const holder of older) {
    if (clashesWith(address, holder.sharing, rightful).length === 0) rightful.push(holder);
  }
  return clashesWith(address, sharing, rightful);
}

function clashesWith(address: Ip, sharing: Sharing, holders: readonly Holder[]): readonly AddressClash[] {
  return holders.flatMap((holder) => {
    const clash = clashOf(sharing, holder.sharing);
    return clash === undefined ? [] : [{ address, holder, clash }];
  });
}

function groupsOf({ sharing }: Holder): readonly string[] {
  const group = sharingGroup(sharing);
  return group === undefined ? [] : [group, ...sharing.ports.map((port) => portGroup(group, port))];
}

function portGroup(group: string, port: string): string {
  return `${group} ${port}`;
}

function addTo(groups: Map<string, Set<Ip>>, group: string, ip: Ip): void {
  const found = groups.get(group);
  if (found === undefined) groups.set(group, new Set([ip]));
  else found.add(ip);
}

function removeFrom(groups: Map<string, Set<Ip>>, group: string, ip: Ip): void {
  const found = groups.get(group);
  found?.delete(ip);
  if (found?.size === 0) groups.delete(group);
}
