/** A set of addresses of both families that can say where the next gap is. */
import { compareIps, type Family, familyOf, type Ip, ipToBigInt } from "../net/ip.ts";
import { IntervalSet } from "./interval-set.ts";

export class AddressSet {
  readonly #families: Readonly<Record<Family, IntervalSet>> = { 4: new IntervalSet(), 6: new IntervalSet() };

  constructor(addresses: Iterable<Ip> = []) {
    for (const ip of [...addresses].toSorted(compareIps)) this.add(ip);
  }

  has(ip: Ip): boolean {
    return this.of(familyOf(ip)).has(ipToBigInt(ip));
  }

  add(ip: Ip): void {
    this.of(familyOf(ip)).add(ipToBigInt(ip));
  }

  delete(ip: Ip): void {
    this.of(familyOf(ip)).delete(ipToBigInt(ip));
  }

  of(family: Family): IntervalSet {
    return this.#families[family];
  }
}
