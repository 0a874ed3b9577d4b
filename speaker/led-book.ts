/** Who leads anything, with whom behind it, and by which address it may be asked for: kept from decision to decision, because there are thousands. */
import type { ListDifference } from "../src/base/list-difference.ts";
import type { NodeName } from "../src/desired/snapshot.ts";
import type { Decision } from "../src/election/decision.ts";
import { familyOf, type Ip } from "../src/net/ip.ts";

/** What one node leads. */
interface Led {
  /** Second of how many decisions each is. */
  readonly seconds: Map<NodeName, number>;
  readonly ipv4: Set<Ip>;
  readonly ipv6: Set<Ip>;
}

export class LedBook {
  readonly #led = new Map<NodeName, Led>();

  follow({ gone, come }: ListDifference<Decision>): void {
    // First what is new: a node that leads on is not forgotten between the two.
    for (const decision of come) this.#count(decision, 1);
    for (const decision of gone) this.#count(decision, -1);
    const left = new Set(come.flatMap(({ leader, group }) => group.addresses.map((ip) => `${leader} ${ip}`)));
    for (const { leader, group } of gone) {
      const led = leader === undefined ? undefined : this.#led.get(leader);
      if (leader === undefined || led === undefined) continue;
      for (const ip of group.addresses) if (!left.has(`${leader} ${ip}`)) ipsOf(led, ip).delete(ip);
      if (led.ipv4.size + led.ipv6.size === 0) this.#led.delete(leader);
    }
  }

  leaders(): readonly { readonly node: NodeName; readonly seconds: readonly NodeName[] }[] {
    return [...this.#led].map(([node, { seconds }]) => ({ node, seconds: [...seconds.keys()] }));
  }

  /** One of those that the node leads, IPv4 before IPv6. */
  firstIp(node: NodeName): Ip | undefined {
    const led = this.#led.get(node);
    return led?.ipv4.values().next().value ?? led?.ipv6.values().next().value;
  }

  #count({ leader, second, group }: Decision, by: 1 | -1): void {
    if (leader === undefined) return;
    let led = this.#led.get(leader);
    if (led === undefined) {
      led = { seconds: new Map(), ipv4: new Set(), ipv6: new Set() };
      this.#led.set(leader, led);
    }
    if (by === 1) for (const ip of group.addresses) ipsOf(led, ip).add(ip);
    if (second === undefined) return;
    const count = (led.seconds.get(second) ?? 0) + by;
    if (count === 0) led.seconds.delete(second);
    else led.seconds.set(second, count);
  }
}

function ipsOf(led: Led, ip: Ip): Set<Ip> {
  return familyOf(ip) === 4 ? led.ipv4 : led.ipv6;
}
