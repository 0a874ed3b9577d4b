/** Random histories; ALLOCATOR_HISTORIES says how many (100000 takes minutes). */
import { expect } from "chai";
import fc from "fast-check";
import { isAddressOf } from "../../src/allocator/free-address.ts";
import { statusAddresses } from "../../src/allocator/reconcile.ts";
import { type AllocatorService, keyOf } from "../../src/allocator/service.ts";
import { sharingOf } from "../../src/allocator/sharing.ts";
import { admitsService, type World } from "../../src/allocator/world.ts";
import { ipOfBigInt } from "../../src/net/ip.ts";
import { pool } from "./objects.ts";
import { Rig } from "./rig.ts";
import { IPV4_ONLY, IPV6_ONLY, PREFERS, REQUIRES, type ServiceSpec, service } from "./services.ts";

const HISTORIES = Number(process.env["ALLOCATOR_HISTORIES"] ?? "200");

const CATALOGUE = [
  pool("dual", ["192.0.2.0/31", "2001:db8::/127"]),
  pool("v4", ["192.0.2.8/31"]),
  pool("v6", ["2001:db8::8/127"]),
  pool("shop", { addresses: ["192.0.2.16/31"], serviceAllocation: { priority: 1, namespaces: ["shop"] } }),
  pool("labelled", {
    addresses: ["192.0.2.24/31"],
    serviceAllocation: { namespaceSelectors: [{ matchLabels: { team: "a" } }] },
  }),
  pool("asked", { addresses: ["192.0.2.32/31"], autoAssign: false }),
  pool("avoids", { addresses: ["192.0.2.254/31"], avoidBuggyIPs: true }),
  pool("overlaps", ["192.0.2.1-192.0.2.9"], { creationTimestamp: "2026-01-01T00:00:00Z" }),
  pool("broken", ["garbage", "192.0.2.40/31"]),
];

const SPECS: readonly ServiceSpec[] = [IPV4_ONLY, IPV6_ONLY, PREFERS, REQUIRES];
const ASKED = ["192.0.2.0", "192.0.2.1", "192.0.2.8", "192.0.2.32", "2001:db8::", "192.0.2.0,2001:db8::", "garbage"];

const plainService = fc.record({
  index: fc.nat(5),
  spec: fc.constantFrom(...SPECS),
  type: fc.constantFrom("LoadBalancer", "LoadBalancer", "LoadBalancer", "ClusterIP"),
  asks: fc.option(fc.constantFrom(...ASKED), { freq: 3 }),
  asksPool: fc.option(fc.constantFrom("dual", "v4", "asked", "none"), { freq: 4 }),
});

const anyService = fc.record({
  plain: plainService,
  key: fc.constantFrom("", "", "k", "j"),
  port: fc.nat(2),
  policy: fc.constantFrom("Cluster", "Cluster", "Local"),
  loadBalancerClass: fc.option(fc.constant("example.org/x"), { freq: 8 }),
});

type Plain = typeof plainService extends fc.Arbitrary<infer Value> ? Value : never;
type Any = typeof anyService extends fc.Arbitrary<infer Value> ? Value : never;

function plain(
  { index, spec, type, asks, asksPool }: Plain,
  more: ServiceSpec = {},
  key = "",
  name = `s${index}`,
): AllocatorService {
  return service(
    name,
    { ...spec, type, ...more },
    {
      namespace: index % 2 === 0 ? "shop" : "default",
      createdAt: `2026-01-0${6 - index}T00:00:00Z`,
      annotations: {
        ...(asks === null ? {} : { "metallb.io/loadBalancerIPs": asks }),
        ...(asksPool === null ? {} : { "metallb.io/address-pool": asksPool }),
        ...(key === "" ? {} : { "metallb.io/allow-shared-ip": key }),
      },
    },
  );
}

function whole({ plain: facts, key, port, policy, loadBalancerClass }: Any): AllocatorService {
  const more = {
    ports: [{ port: 80 + port }],
    externalTrafficPolicy: policy,
    selector: { app: "one" },
    ...(loadBalancerClass === null ? {} : { loadBalancerClass }),
  };
  return plain(facts, more, key);
}

const pools = fc.subarray(CATALOGUE).map((some) => (rig: Rig) => void rig.setPools(...some));
const removal = fc
  .nat(5)
  .map((index) => (rig: Rig) => void rig.remove(`${index % 2 === 0 ? "shop" : "default"}/s${index}`));
const nodes = fc.subarray(["192.0.2.0", "192.0.2.9", "2001:db8::1"]).map((own) => (rig: Rig) => {
  rig.nodes = { n1: own };
  rig.noteNodes();
  rig.settle();
});
const namespaces = fc.boolean().map((isTeam) => (rig: Rig) => {
  rig.namespaces = { default: isTeam ? { team: "a" } : {} };
  rig.noteNamespaces();
  rig.settle();
});
const pinned = fc
  .constantFrom("", "shop/s0 = 192.0.2.8", "default/s1 = 192.0.2.0, 2001:db8::")
  .map((text) => (rig: Rig) => {
    rig.pinned = text;
    rig.noteReservations();
    rig.settle();
  });
const restart = fc.boolean().map((fences) => (rig: Rig) => void rig.start(fences));
const astray = fc
  .array(fc.constantFrom("answered", "lost", "late", "refused"), { maxLength: 3 })
  .map((fates) => (rig: Rig) => {
    rig.fates = fates;
  });
const delays = fc.constantFrom(
  (rig: Rig) => {
    rig.isWatchHeld = true;
  },
  (rig: Rig) => void rig.release(),
  (rig: Rig) => void rig.landLate(),
  (rig: Rig) => void rig.wait(1_000),
  (rig: Rig) => void rig.wait(40_000),
);

function started(): Rig {
  const rig = new Rig();
  rig.pools = CATALOGUE.slice(0, 4);
  return rig.start();
}

/** Nothing is under way any more. */
function atRest(rig: Rig): Rig {
  rig.fates = [];
  return rig.release().landLate().wait(600_000).wait(600_000);
}

describe("random histories", () => {
  it("whatever becomes of writes and news, no write gives an address that another Service has", () => {
    const put = plainService.map((facts) => (rig: Rig) => void rig.put(plain(facts)));
    const step = fc.oneof(
      { weight: 6, arbitrary: put },
      pools,
      removal,
      nodes,
      pinned,
      restart,
      astray,
      astray,
      delays,
      delays,
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30, size: "max" }), (steps) => {
        const rig = started();
        rig.onWrite = () => expect(doubled(rig)).to.deep.equal([]);
        for (const take of steps) take(rig);
        atRest(rig);
        const { writes } = rig;
        expect(rig.start().writes, "at rest nothing is left to write").to.equal(writes);
      }),
      { numRuns: HISTORIES },
    );
  }).timeout(0);

  it("at rest nobody shares who may not, everybody has an address who could, and a restart writes nothing", () => {
    const put = anyService.map((facts) => (rig: Rig) => void rig.put(whole(facts)));
    const edit = fc.tuple(anyService, fc.subarray(["192.0.2.0", "192.0.2.8", "2001:db8::"])).map(
      ([facts, ingress]) =>
        (rig: Rig) =>
          void rig.putWhole({ ...whole(facts), ingress }),
    );
    const step = fc.oneof({ weight: 8, arbitrary: put }, pools, removal, nodes, namespaces, pinned, edit);
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25, size: "max" }), (steps) => {
        const rig = started();
        for (const take of steps) {
          take(rig);
          expect(doubled(rig)).to.deep.equal([]);
          expect(neglected(rig)).to.deep.equal([]);
        }
        const { writes } = rig;
        expect(rig.start().writes).to.equal(writes);
      }),
      { numRuns: HISTORIES },
    );
  }).timeout(0);
});

/** Ours that have an address together and may not. */
function doubled(rig: Rig): readonly string[] {
  const ours = [...rig.services.values()].filter(isOurs);
  return ours.flatMap((a, index) =>
    ours.slice(index + 1).flatMap((b) => {
      const common = statusAddresses(a).find((ip) => statusAddresses(b).includes(ip));
      return common === undefined || maySit(a, b) ? [] : [`${common}: ${keyOf(a)}, ${keyOf(b)}`];
    }),
  );
}

/** Ours that ask for nothing, have nothing, and could have something: found by trying every address of every pool. */
function neglected(rig: Rig): readonly string[] {
  const { world } = rig.allocator.surroundings;
  if (world === undefined) return ["nothing read"];
  const waiting = [...rig.services.values()].filter(
    (one) =>
      isOurs(one) &&
      one.ingress.length === 0 &&
      Object.keys(one.annotations).every((key) => key.endsWith("allow-shared-ip")),
  );
  return waiting.flatMap((one) => (couldHave(one, world, rig) ? [keyOf(one)] : []));
}

function couldHave(one: AllocatorService, world: World, rig: Rig): boolean {
  const isDual = one.clusterIps.length === 2;
  return world.pools.all.some((from) => {
    if (!world.pools.gives(from) || !from.autoAssign || !admitsService(from, one, world)) return false;
    const has = (family: 4 | 6) =>
      from.ranges.some((range) => {
        if (range.family !== family) return false;
        for (let value = range.first; value <= range.last; value++) {
          const ip = ipOfBigInt(value, family);
          const owner = world.reservations.ownerOf(ip);
          const isOpen =
            isAddressOf(from, ip) && !world.nodes.set.has(ip) && (owner === undefined || owner.key === keyOf(one));
          const holders = [...rig.services.values()].filter((other) => statusAddresses(other).includes(ip));
          if (isOpen && holders.every((other) => isOurs(other) && maySit(one, other))) return true;
        }
        return false;
      });
    const [first] = one.clusterIps;
    if (!isDual) return has(first?.includes(":") === true ? 6 : 4);
    return one.ipFamilyPolicy === "PreferDualStack" ? has(4) || has(6) : has(4) && has(6);
  });
}

function maySit(a: AllocatorService, b: AllocatorService): boolean {
  const [x, y] = [sharingOf(a), sharingOf(b)];
  return x.key !== "" && x.key === y.key && x.policy === y.policy && !x.ports.some((port) => y.ports.includes(port));
}

function isOurs({ isLoadBalancer, loadBalancerClass }: AllocatorService): boolean {
  return isLoadBalancer && loadBalancerClass === undefined;
}
