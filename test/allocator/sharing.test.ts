/** Several Services on one address: who may, who keeps it, who is named. The steps of MetalLB's TestAssignment, as states. */
import { expect } from "chai";
import { Book } from "../../src/allocator/book.ts";
import type { AllocatorService } from "../../src/allocator/service.ts";
import { ip, ips, pool } from "./objects.ts";
import { rig } from "./rig.ts";
import { IPV4_ONLY, REQUIRES, type ServiceOptions, type ServiceSpec, service } from "./services.ts";
import { bookOf, outcomeOf } from "./worlds.ts";

const TCP_80 = [{ protocol: "TCP", port: 80 }];
const TCP_443 = [{ protocol: "TCP", port: 443 }];
const UDP_80 = [{ protocol: "UDP", port: 80 }];
const POOLS = [pool("a", ["192.0.2.0/30", "2001:db8::/126"])];

function sharer(
  name: string,
  key: string,
  ports: ServiceSpec["ports"],
  spec: ServiceSpec = {},
  options: ServiceOptions = {},
): AllocatorService {
  const annotations = { ...(key === "" ? {} : { "metallb.io/allow-shared-ip": key }), ...options.annotations };
  return service(
    name,
    { ...IPV4_ONLY, ...(ports === undefined ? {} : { ports }), ...spec },
    { ...options, annotations },
  );
}

const ASKS = { annotations: { "metallb.io/loadBalancerIPs": "192.0.2.2" } };
const HOLDS = { ingress: ["192.0.2.2"] };
const LOCAL = { externalTrafficPolicy: "Local", selector: { app: "dns" } };

describe("an address that another Service has", () => {
  for (const { name, other, own, refused, names } of [
    {
      name: "no keys",
      other: sharer("b", "", TCP_80, {}, HOLDS),
      own: sharer("w", "", TCP_443, {}, ASKS),
      refused: "address-in-use",
    },
    {
      name: "a key on one side only",
      other: sharer("b", "", TCP_80, {}, HOLDS),
      own: sharer("w", "k", TCP_443, {}, ASKS),
      refused: "address-in-use",
    },
    {
      name: "different keys",
      other: sharer("b", "j", TCP_80, {}, HOLDS),
      own: sharer("w", "k", TCP_443, {}, ASKS),
      refused: "sharing-key-differs",
      names: "default/b",
    },
    {
      name: "one port in common",
      other: sharer("b", "k", TCP_80, {}, HOLDS),
      own: sharer("w", "k", [...TCP_443, ...TCP_80], {}, ASKS),
      refused: "port-in-use",
      names: "TCP/80",
    },
    {
      name: "Cluster and Local",
      other: sharer("b", "k", TCP_80, {}, HOLDS),
      own: sharer("w", "k", TCP_443, { externalTrafficPolicy: "Local" }, ASKS),
      refused: "sharing-policy-differs",
    },
    {
      name: "Cluster, and Local without selector",
      other: sharer("b", "k", TCP_80, {}, HOLDS),
      own: sharer("w", "k", TCP_443, { externalTrafficPolicy: "Local", selector: {} }, ASKS),
      refused: "sharing-policy-differs",
    },
    {
      name: "Local with other selectors",
      other: sharer("b", "k", TCP_80, { ...LOCAL, selector: { app: "other" } }, HOLDS),
      own: sharer("w", "k", TCP_443, LOCAL, ASKS),
      refused: "sharing-policy-differs",
    },
    { name: "other ports", other: sharer("b", "k", TCP_80, {}, HOLDS), own: sharer("w", "k", TCP_443, {}, ASKS) },
    {
      name: "the same port of two protocols",
      other: sharer("b", "k", TCP_80, {}, HOLDS),
      own: sharer("w", "k", UDP_80, {}, ASKS),
    },
    {
      name: "Local with one selector",
      other: sharer("b", "k", TCP_80, LOCAL, HOLDS),
      own: sharer("w", "k", TCP_443, LOCAL, ASKS),
    },
    {
      name: "Cluster with different selectors, of two namespaces",
      other: sharer("b", "k", TCP_80, { selector: { app: "x" } }, { ...HOLDS, namespace: "shop" }),
      own: sharer("w", "k", TCP_443, {}, ASKS),
    },
    {
      name: "the key under MetalLB's old prefix",
      other: sharer("b", "k", TCP_80, {}, HOLDS),
      own: sharer(
        "w",
        "",
        TCP_443,
        {},
        { annotations: { ...ASKS.annotations, "metallb.universe.tf/allow-shared-ip": "k" } },
      ),
    },
  ] as const) {
    it(`${name}: ${refused ?? "shared"}`, () => {
      const outcome = outcomeOf(own, { pools: POOLS, others: [other] });
      expect(outcome.refusal?.reason).to.equal(refused);
      expect(outcome.addresses).to.deep.equal(refused === undefined ? ["192.0.2.2"] : []);
      const said = outcome.events.map(({ message }) => message).join();
      expect(said)
        .to.contain(names ?? "")
        .and.to.contain("192.0.2.2");
    });
  }

  it("is given before a free one to a Service with its key, the lowest first; others get a free one", () => {
    const others = [sharer("b", "k", TCP_80, {}, HOLDS), sharer("c", "k", TCP_80, {}, { ingress: ["192.0.2.3"] })];
    expect(outcomeOf(sharer("w", "k", TCP_443), { pools: POOLS, others }).addresses).to.deep.equal(["192.0.2.2"]);
    expect(outcomeOf(sharer("w", "k", TCP_80), { pools: POOLS, others }).addresses).to.deep.equal(["192.0.2.0"]);
    expect(outcomeOf(sharer("w", "j", TCP_443), { pools: POOLS, others }).addresses).to.deep.equal(["192.0.2.0"]);
  });

  it("of both families of one pool, one shared and one new", () => {
    const others = [sharer("b", "k", TCP_80, {}, HOLDS)];
    const { addresses } = outcomeOf(sharer("w", "k", TCP_443, REQUIRES), { pools: POOLS, others });
    expect(addresses).to.deep.equal(["192.0.2.2", "2001:db8::"]);
  });

  it("may not be shared with a Service that a pool does not admit", () => {
    const pools = [pool("a", { addresses: ["192.0.2.0/30"], serviceAllocation: { namespaces: ["shop"] } })];
    const others = [sharer("b", "k", TCP_80, {}, { ...HOLDS, namespace: "shop" })];
    expect(outcomeOf(sharer("w", "k", TCP_443, {}, ASKS), { pools, others }).refusal?.reason).to.equal(
      "pool-does-not-admit",
    );
  });
});

function at(day: number): ServiceOptions {
  return { createdAt: `2026-01-0${day}T00:00:00Z`, ...HOLDS };
}

describe("an address that a Service has already, and another too", () => {
  const kept = ["192.0.2.2"];

  it("the oldest of strangers keeps it, by time, then by namespace and name", () => {
    const [first, second] = [sharer("b", "", TCP_80, {}, at(1)), sharer("a", "", TCP_80, {}, at(2))];
    expect(outcomeOf(first, { pools: POOLS, others: [second] }).addresses).to.deep.equal(kept);
    const moved = outcomeOf(second, { pools: POOLS, others: [first] });
    expect(moved.addresses).to.deep.equal(["192.0.2.0"]);
    expect(moved.events.map(({ reason }) => reason)).to.deep.equal(["ClearAssignment", "IPAllocated"]);
    const third = sharer("c", "", TCP_80, {}, at(1));
    expect(outcomeOf(first, { pools: POOLS, others: [third] }).addresses).to.deep.equal(kept);
  });

  it("one that has no right to it takes it from nobody", () => {
    const oldest = sharer("a", "k", TCP_80, {}, at(1));
    const stranger = sharer("b", "j", TCP_80, {}, at(2));
    const third = sharer("c", "k", TCP_443, {}, at(3));
    expect(outcomeOf(third, { pools: POOLS, others: [oldest, stranger] }).addresses).to.deep.equal(kept);
    expect(outcomeOf(stranger, { pools: POOLS, others: [oldest, third] }).addresses).to.deep.equal(["192.0.2.0"]);
  });

  it("a sharer that changes its key, policy or ports against an older one loses it", () => {
    const others = [sharer("a", "k", TCP_80, {}, at(1))];
    for (const own of [
      sharer("b", "j", TCP_443, {}, at(2)),
      sharer("b", "k", TCP_443, { externalTrafficPolicy: "Local" }, at(2)),
      sharer("b", "k", TCP_80, {}, at(2)),
    ]) {
      expect(outcomeOf(own, { pools: POOLS, others }).addresses).to.deep.equal(["192.0.2.0"]);
    }
    expect(outcomeOf(sharer("b", "k", UDP_80, {}, at(2)), { pools: POOLS, others }).addresses).to.deep.equal(kept);
  });

  it("a sole holder may change its key in place", () => {
    expect(outcomeOf(sharer("a", "new", TCP_80, {}, at(1)), { pools: POOLS }).addresses).to.deep.equal(kept);
  });
});

describe("Book", () => {
  it("is the same after any order of changes as made anew from what counts", () => {
    const [b, c] = [sharer("b", "k", TCP_80, {}, HOLDS), sharer("c", "k", TCP_443, {}, HOLDS)];
    const book = bookOf([c, b]);
    const holderB = book.holder("default/b");
    book.remove("default/b");
    expect(book.holdersOf(ip("192.0.2.2")).map(({ key }) => key)).to.deep.equal(["default/c"]);
    const sharing = { key: "k", policy: "Cluster", ports: [] };
    expect([...book.sharedBy(sharing)]).to.deep.equal(ips("192.0.2.2"));
    book.remove("default/c");
    expect([...book.sharedBy(sharing)]).to.deep.equal([]);
    expect(book.used.has(ip("192.0.2.2"))).to.equal(false);
    expect(book.addresses()).to.deep.equal([]);
    if (holderB !== undefined) book.put(holderB);
    expect(book.addresses()).to.deep.equal(new Book(holderB === undefined ? [] : [holderB]).addresses());
  });
});

describe("who waits for an address that others share", () => {
  it("is told of one that joins them, by whatever hand", () => {
    const stands = rig(pool("a", ["192.0.2.0/30"]))
      .put(sharer("b", "k", TCP_80, {}, ASKS))
      .settle();
    stands.put(sharer("w", "j", TCP_443, {}, ASKS)).settle();
    const sentence = () => stands.services.get("default/w")?.condition?.message;
    expect(sentence()).to.contain("default/b").and.not.contain("default/c");
    stands.put(sharer("c", "k", UDP_80, {}, ASKS)).settle();
    expect(stands.addresses("default/c")).to.deep.equal(["192.0.2.2"]);
    expect(sentence()).to.contain("default/b").and.contain("default/c");
  });

  it("is told of them in order of age, whoever came to be known first: a restart has nothing else to say", () => {
    const stands = rig(pool("a", ["192.0.2.0/30"]));
    const foreign = { loadBalancerClass: "example.org/x" };
    stands.putWhole(sharer("old", "", TCP_80, {}, { ...HOLDS, createdAt: "2026-01-03T00:00:00Z" })).settle();
    stands.putWhole(sharer("new", "", TCP_80, foreign, { ...HOLDS, createdAt: "2026-01-06T00:00:00Z" })).settle();
    stands.put(sharer("w", "", TCP_80, {}, { ...ASKS, createdAt: "2026-01-05T00:00:00Z" })).settle();
    expect(stands.services.get("default/w")?.condition?.message).to.contain("in use by default/old, default/new:");
    const { writes } = stands;
    expect(stands.start().settle().writes).to.equal(writes);
  });
});
