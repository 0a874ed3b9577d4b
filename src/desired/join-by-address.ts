/** From Services to address groups (DESIGN D3). Pure. */
import type { Ip } from "../net/ip.ts";
import type { AddressGroup, GroupService } from "./group.ts";

/** Connected components of Services over the addresses they share. `services` is oldest first, and stays so in each group. */
export function joinByAddress(services: readonly GroupService[]): AddressGroup[] {
  const parents = services.map((_, index) => index);
  const rootOf = (index: number): number => {
    let root = index;
    while ((parents[root] ?? root) !== root) root = parents[root] ?? root;
    for (let step = index; step !== root; ) {
      const next = parents[step] ?? root;
      parents[step] = root;
      step = next;
    }
    return root;
  };
  const holders = new Map<Ip, number>();
  for (const [index, service] of services.entries()) {
    for (const ip of service.addresses) {
      const other = holders.get(ip);
      if (other === undefined) holders.set(ip, index);
      // The lower index, the older Service, becomes the root, so that components come out in order of age.
      else joinRoots(parents, rootOf(other), rootOf(index));
    }
  }
  const components = new Map<number, GroupService[]>();
  for (const [index, service] of services.entries()) {
    const root = rootOf(index);
    const component = components.get(root);
    if (component === undefined) components.set(root, [service]);
    else component.push(service);
  }
  return [...components.values()].flatMap(groupOf);
}

function joinRoots(parents: number[], a: number, b: number): void {
  parents[Math.max(a, b)] = Math.min(a, b);
}

function groupOf(services: readonly GroupService[]): AddressGroup[] {
  const oldest = services[0];
  const key = oldest?.addresses[0];
  if (oldest === undefined || key === undefined) return [];
  const addresses =
    services.length === 1 ? oldest.addresses : [...new Set(services.flatMap((service) => service.addresses))];
  return [{ key, addresses, services }];
}
