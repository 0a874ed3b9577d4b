/** The Nodes' own addresses: a Service that got one would take a Node off the network. Pure. */
import { fieldOf } from "../desired/resource-readers.ts";
import { type Ip, parseIp } from "../net/ip.ts";
import { AddressSet } from "./address-set.ts";

export class NodeAddresses {
  readonly all: readonly Ip[];
  readonly set: AddressSet;
  readonly #nodes = new Map<Ip, string>();

  /** By Node name. */
  constructor(nodes: ReadonlyMap<string, readonly Ip[]> = new Map()) {
    for (const [name, addresses] of nodes) for (const ip of addresses) this.#nodes.set(ip, name);
    this.all = [...this.#nodes.keys()];
    this.set = new AddressSet(this.all);
  }

  nodeOf(ip: Ip): string | undefined {
    return this.#nodes.get(ip);
  }
}

/** `status.addresses` of a Node of any form, internal and external alike; host names are left out. */
export function readNodeAddresses(node: unknown): readonly Ip[] {
  const addresses = fieldOf(fieldOf(node, "status"), "addresses");
  if (!Array.isArray(addresses)) return [];
  return (addresses as readonly unknown[]).flatMap((entry) => {
    const address = fieldOf(entry, "address");
    const ip = typeof address === "string" ? parseIp(address) : undefined;
    return ip === undefined ? [] : [ip];
  });
}
