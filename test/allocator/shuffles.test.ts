/** What comes out must not depend on what came before: 255 orders, three ways. */
import { expect } from "chai";
import fc from "fast-check";
import type { AllocatorEvent } from "../../src/allocator/ports.ts";
import { POOLS } from "./cases.ts";
import { FAMILY_AND_POOL_CASES } from "./family-cases.ts";
import { REQUEST_CASES } from "./request-cases.ts";
import { Rig, rig } from "./rig.ts";
import { IPV4_ONLY, IPV6_ONLY, PREFERS, REQUIRES, service } from "./services.ts";

const ORDERS = { numRuns: 255 };
const CASES = [...REQUEST_CASES, ...FAMILY_AND_POOL_CASES];

/** Each wants something that no other does, so that who comes first is no matter. */
const APART = [
  service("free", IPV4_ONLY),
  service("six", IPV6_ONLY),
  service("both", REQUIRES),
  service("asks", IPV4_ONLY, { annotations: { "metallb.io/loadBalancerIPs": "192.0.2.16" } }),
  service("asks-nothing-there", IPV4_ONLY, { annotations: { "metallb.io/loadBalancerIPs": "203.0.113.1" } }),
  service("shop", IPV4_ONLY, { namespace: "shop" }),
  service("team", IPV4_ONLY, { labels: { team: "metal" } }),
  service("old", PREFERS, { ingress: ["192.0.2.1"] }),
  service("foreign", { ...IPV4_ONLY, loadBalancerClass: "example.org/x" }, { ingress: ["192.0.2.0"] }),
];

function shuffled<Item>(items: readonly Item[]): fc.Arbitrary<readonly Item[]> {
  return fc.shuffledSubarray([...items], { minLength: items.length });
}

function placed(made: Rig): string {
  const rows = [...made.services].map(
    ([key, { ingress, condition }]) => `${key} ${ingress.join()} ${condition?.message}`,
  );
  return rows.toSorted().join("\n");
}

describe("in any order", () => {
  it("every case on one controller comes out as on a fresh one", () => {
    const made = rig(...POOLS);
    fc.assert(
      fc.property(shuffled(CASES), (cases) => {
        for (const { name, spec, options, addresses, refused } of cases) {
          made.putWhole(service("web", spec, options));
          const key = `${options?.namespace ?? "default"}/web`;
          expect(made.addresses(key).toSorted(), name).to.deep.equal(addresses.toSorted());
          const { condition } = made.services.get(key) ?? {};
          expect(condition?.status, name).to.equal(refused === undefined ? "True" : "False");
          made.remove(key);
        }
        expect(made.allocator.table.book.addresses()).to.deep.equal([]);
      }),
      ORDERS,
    );
  }).timeout(0);

  it("the first readings", () => {
    const kinds = ["pools", "namespaces", "nodes", "reservations", "services", "lead"] as const;
    let expected: string | undefined;
    fc.assert(
      fc.property(shuffled(kinds), (order) => {
        const made = new Rig();
        made.pools = POOLS;
        for (const one of APART) made.services.set(`${one.namespace}/${one.name}`, one);
        const notes = {
          pools: () => made.notePools(),
          namespaces: () => made.noteNamespaces(),
          nodes: () => made.noteNodes(),
          reservations: () => made.noteReservations(),
          services: () => made.note({ kind: "services", services: [...made.services.values()] }),
          lead: () => made.note({ kind: "lead" } satisfies AllocatorEvent),
        };
        for (const kind of order) {
          notes[kind]();
          made.settle();
        }
        expected ??= placed(made);
        expect(placed(made)).to.equal(expected);
      }),
      ORDERS,
    );
    expect(expected).to.contain("default/old 192.0.2.1");
  }).timeout(0);

  it("Services that want different things, and come one by one", () => {
    let expected: string | undefined;
    const apart = APART.filter(({ name }) => name !== "free");
    fc.assert(
      fc.property(shuffled(apart), (order) => {
        const made = rig(...POOLS);
        for (const one of order) made.putWhole(one);
        expected ??= placed(made);
        expect(placed(made)).to.equal(expected);
      }),
      ORDERS,
    );
  }).timeout(0);
});
