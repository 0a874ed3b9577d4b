/** Sets of addresses as those see them who only ask. Pure. */
import type { Ip } from "./ip.ts";

export interface AddressSet extends Iterable<Ip> {
  readonly size: number;
  has(ip: Ip): boolean;
}

export const NO_ADDRESSES: AddressSet = new Set();

/** Both as one, each address once, without copying thousands for the sake of a few: it changes as they do. */
export function unionOf(many: AddressSet, few: AddressSet): AddressSet {
  const others = (): readonly Ip[] => [...few].filter((ip) => !many.has(ip));
  return {
    get size() {
      return many.size + others().length;
    },
    has: (ip) => many.has(ip) || few.has(ip),
    *[Symbol.iterator]() {
      yield* many;
      yield* others();
    },
  };
}
