/** Who is known: one record a name, the order in which they are probed, and an index by endpoint. */
import { type Random, shuffled } from "../base/random.ts";
import { endpointKey } from "./endpoint-key.ts";
import type { Endpoint } from "./message.ts";
import type { Member } from "./swim-event.ts";

/** A cluster of speakers is far smaller; a peer with the key that invents names must not fill memory. */
export const MAX_MEMBERS = 4_096;

/** Alive or suspect: both count as members. */
export function isMember(member: Member): boolean {
  return member.state === "alive" || member.state === "suspect";
}

export class MemberTable {
  readonly #byName = new Map<string, Member>();
  readonly #nameByEndpoint = new Map<string, string>();
  readonly #random: Random;
  #order: string[] = [];
  #all: readonly Member[] | undefined;

  constructor(random: Random) {
    this.#random = random;
  }

  get size(): number {
    return this.#byName.size;
  }

  get isFull(): boolean {
    return this.size >= MAX_MEMBERS;
  }

  get(name: string): Member | undefined {
    return this.#byName.get(name);
  }

  /** The name last known to listen there. */
  at(endpoint: Endpoint): Member | undefined {
    const name = this.#nameByEndpoint.get(endpointKey(endpoint));
    return name === undefined ? undefined : this.#byName.get(name);
  }

  /** A new name goes to a random place of the probe order, so that nodes that start together do not probe in step. */
  put(member: Member): void {
    const known = this.#byName.get(member.name);
    if (known === undefined) this.#order.splice(this.#random.below(this.#order.length + 1), 0, member.name);
    else this.#forgetEndpoint(known);
    this.#byName.set(member.name, member);
    this.#nameByEndpoint.set(endpointKey(member.endpoint), member.name);
    this.#all = undefined;
  }

  /** In the order in which they became known. */
  all(): readonly Member[] {
    this.#all ??= [...this.#byName.values()];
    return this.#all;
  }

  /** The n-th of the probe order; undefined beyond its end. */
  probed(index: number): Member | undefined {
    const name = this.#order[index];
    return name === undefined ? undefined : this.#byName.get(name);
  }

  /** Drops dead and left members unchanged since before `beforeMs` and shuffles the probe order. */
  reap(beforeMs: number): void {
    for (const member of this.all()) {
      if (isMember(member) || member.sinceMs >= beforeMs) continue;
      this.#byName.delete(member.name);
      this.#forgetEndpoint(member);
    }
    this.#all = undefined;
    this.#order = shuffled(
      this.#order.filter((name) => this.#byName.has(name)),
      this.#random,
    );
  }

  /** Up to `count` different members that pass the test, chosen evenly. */
  pick(count: number, isWanted: (member: Member) => boolean): Member[] {
    return shuffled(this.all().filter(isWanted), this.#random).slice(0, count);
  }

  #forgetEndpoint(member: Member): void {
    const key = endpointKey(member.endpoint);
    // Another name may have taken the address over.
    if (this.#nameByEndpoint.get(key) === member.name) this.#nameByEndpoint.delete(key);
  }
}
