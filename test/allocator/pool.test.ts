/** Entries, sizes and gaps of pools; the values of the counters are those that MetalLB's own tests expect, but for its two defects. */
import { expect } from "chai";
import fc from "fast-check";
import { AddressSet } from "../../src/allocator/address-set.ts";
import { parseDurationMs } from "../../src/allocator/duration.ts";
import { lowestFree } from "../../src/allocator/free-address.ts";
import { readNodeAddresses } from "../../src/allocator/node-addresses.ts";
import { poolNumbers } from "../../src/allocator/pool-numbers.ts";
import { PoolSet } from "../../src/allocator/pool-set.ts";
import { type Ip, ipOfBigInt, ipToBigInt } from "../../src/net/ip.ts";
import { ip, ips, pool } from "./objects.ts";

const NOBODY = new AddressSet();

function availableOf(addresses: readonly string[], avoidBuggyIPs: boolean) {
  const { availableIPv4, availableIPv6 } = poolNumbers(pool("a", { addresses, avoidBuggyIPs }), NOBODY, [], true);
  return [availableIPv4, availableIPv6];
}

function at(offset: number): Ip {
  return ipOfBigInt(ipToBigInt(ip("192.0.1.240")) + BigInt(offset), 4);
}

describe("numbers of a pool", () => {
  for (const { addresses, avoids = false, available } of [
    { addresses: ["192.0.2.0/24"], available: ["256", "0"] },
    { addresses: ["192.0.2.0/24", "198.51.100.0/25"], available: ["384", "0"] },
    { addresses: ["192.0.2.0/24", "198.51.100.0/25"], avoids: true, available: ["381", "0"] },
    { addresses: ["192.0.2.0/31", "2001:db8::/127"], avoids: true, available: ["1", "2"] },
    { addresses: ["192.0.2.0/32"], avoids: true, available: ["0", "0"] },
    { addresses: ["192.0.2.255/32", "192.0.2.7/32"], avoids: true, available: ["1", "0"] },
    { addresses: ["10.0.0.0/8"], avoids: true, available: ["16646144", "0"] },
    { addresses: ["192.0.2.9-192.0.3.1"], avoids: true, available: ["247", "0"] },
    { addresses: ["2001:db8::/65"], available: ["0", "9223372036854775807"] },
    { addresses: ["2001:db8::/66"], available: ["0", "4611686018427387904"] },
    { addresses: ["2001:db8::/32"], available: ["0", "9223372036854775807"] },
  ]) {
    it(`${addresses.join(", ")}${avoids ? ", avoiding .0 and .255" : ""}: ${available.join(" and ")}`, () => {
      expect(availableOf(addresses, avoids)).to.deep.equal(available);
    });
  }

  it("an address in use is assigned and not available, one of a Node is neither, a refused pool has none to give", () => {
    const used = new AddressSet(ips("192.0.2.1", "192.0.2.2", "203.0.113.1", "2001:db8::1"));
    const nodes = ips("192.0.2.3", "192.0.2.2", "203.0.113.9");
    const mixed = pool("a", ["192.0.2.0/29", "2001:db8::/126"]);
    expect(poolNumbers(mixed, used, nodes, true)).to.deep.equal({
      assignedIPv4: "2",
      assignedIPv6: "1",
      availableIPv4: "5",
      availableIPv6: "3",
    });
    expect(poolNumbers(mixed, used, nodes, false).availableIPv4).to.equal("0");
  });

  it("are what counting one by one gives", () => {
    fc.assert(
      fc.property(
        fc.nat(40),
        fc.nat(40),
        fc.boolean(),
        fc.uniqueArray(fc.nat(90), { maxLength: 30 }),
        fc.uniqueArray(fc.nat(90), { maxLength: 5 }),
        (start, more, avoidBuggyIPs, used, nodes) => {
          const addresses = [`${at(start)}-${at(start + more)}`];
          const taken = new AddressSet(used.map(at));
          const numbers = poolNumbers(pool("a", { addresses, avoidBuggyIPs }), taken, nodes.map(at), true);
          const all = Array.from({ length: more + 1 }, (_value, index) => start + index);
          const free = all.filter(
            (offset) =>
              !used.includes(offset) && !nodes.includes(offset) && !(avoidBuggyIPs && /\.(0|255)$/.test(at(offset))),
          );
          expect(numbers.availableIPv4).to.equal(String(free.length));
          expect(numbers.assignedIPv4).to.equal(String(all.filter((offset) => used.includes(offset)).length));
          const lowest = lowestFree(pool("a", { addresses, avoidBuggyIPs }), 4, [taken, new AddressSet(nodes.map(at))]);
          expect(lowest).to.equal(free[0] === undefined ? undefined : at(free[0]));
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe("the lowest free address", () => {
  it("is in the first range as written, not in the lowest one", () => {
    expect(lowestFree(pool("a", ["198.51.100.7/32", "192.0.2.0/24"]), 4, [])).to.equal("198.51.100.7");
  });

  it("of a /64 is found behind the addresses in use, and in the gaps between them", () => {
    const wide = pool("a", ["2001:db8::/64"]);
    const base = ipToBigInt(ip("2001:db8::"));
    const used = new AddressSet(Array.from({ length: 5_000 }, (_value, index) => ipOfBigInt(base + BigInt(index), 6)));
    expect(lowestFree(wide, 6, [used])).to.equal("2001:db8::1388");
    used.delete(ip("2001:db8::3e8"));
    expect(lowestFree(wide, 6, [used])).to.equal("2001:db8::3e8");
    expect(lowestFree(wide, 4, [used])).to.equal(undefined);
  });
});

function pinned(name: string, address: string, priority?: number) {
  return pool(name, { addresses: [address], serviceAllocation: priority === undefined ? {} : { priority } });
}

describe("PoolSet", () => {
  it("tries pools with serviceAllocation by priority, 0 and none last, then by name; then the others by name", () => {
    const pools = new PoolSet([
      pool("b-open", ["192.0.2.1/32"]),
      pool("a-open", ["192.0.2.2/32"]),
      pool("asked", { addresses: ["192.0.2.3/32"], autoAssign: false }),
      pinned("none", "192.0.2.4/32"),
      pinned("zero", "192.0.2.5/32", 0),
      pinned("twenty", "192.0.2.6/32", 20),
      pinned("five", "192.0.2.7/32", 5),
      pinned("broken", "192.0.2.8", 1),
    ]);
    const names = pools.automatic.map(({ name }) => name);
    expect(names).to.deep.equal(["five", "twenty", "none", "zero", "a-open", "b-open"]);
  });

  it("refuses the younger of two that overlap and names both; the older owns the addresses", () => {
    const older = pool("old", ["192.0.2.0/25"], { creationTimestamp: "2026-01-01T00:00:00Z" });
    const younger = pool("new", ["198.51.100.0/24", "192.0.2.7-192.0.2.9"], {
      creationTimestamp: "2026-01-02T00:00:00Z",
    });
    const pools = new PoolSet([younger, older]);
    expect(pools.automatic.map(({ name }) => name)).to.deep.equal(["old"]);
    expect(pools.faultOf(younger)).to.equal(
      'spec.addresses[1] is "192.0.2.7-192.0.2.9": overlaps with already defined CIDR "192.0.2.0/25" of IPAddressPool old',
    );
    expect(pools.poolOf(ips("192.0.2.8"))?.name).to.equal("old");
    expect(pools.poolOf(ips("198.51.100.1"))?.name).to.equal("new");
    expect(pools.poolOf(ips("198.51.100.1", "192.0.2.8"))?.name).to.equal("new");
    expect(pools.poolOf(ips("198.51.100.1", "192.0.2.100"))?.name).to.equal(undefined);
  });

  for (const { entry, must } of [
    { entry: "192.0.2.1", must: "must be a prefix such as" },
    { entry: "192.0.2.9-192.0.2.1", must: "must not end before it starts" },
    { entry: "192.0.2.9-2001:db8::1", must: "must not start with an IPv4" },
    { entry: "", must: "must be a prefix such as" },
  ]) {
    it(`refuses a pool with the entry ${JSON.stringify(entry)}; its other entries go on counting`, () => {
      const refused = pool("a", [entry, "198.51.100.0/24"]);
      const pools = new PoolSet([refused]);
      expect(pools.faultOf(refused)).to.match(/^spec\.addresses\[0\] is "/);
      expect(pools.faultOf(refused)).to.contain(must);
      expect(pools.automatic).to.deep.equal([]);
      expect(pools.poolOf(ips("198.51.100.1"))?.name).to.equal("a");
    });
  }

  it("host bits are masked, spaces around the dash allowed; an address that is avoided belongs to no pool", () => {
    const pools = new PoolSet([
      pool("a", { addresses: ["192.0.2.9/24", "198.51.100.1 - 198.51.100.9"], avoidBuggyIPs: true }),
    ]);
    expect(pools.poolOf(ips("192.0.2.1"))?.name).to.equal("a");
    expect(pools.poolOf(ips("198.51.100.9"))?.name).to.equal("a");
    expect(pools.poolOf(ips("192.0.2.255"))).to.equal(undefined);
    expect(pools.poolAround(ip("192.0.2.255"))?.name).to.equal("a");
  });
});

describe("readNodeAddresses", () => {
  it("internal and external, of a Node of any form", () => {
    const addresses = [
      { type: "InternalIP", address: "192.0.2.1" },
      { type: "ExternalIP", address: "2001:DB8::1" },
      { type: "Hostname", address: "n1" },
      { type: "InternalIP" },
    ];
    expect(readNodeAddresses({ status: { addresses } })).to.deep.equal(["192.0.2.1", "2001:db8::1"]);
    for (const node of [undefined, null, 3, {}, { status: null }, { status: { addresses: 3 } }])
      expect(readNodeAddresses(node)).to.deep.equal([]);
  });
});

describe("parseDurationMs", () => {
  for (const [text, ms] of [
    ["90m", 5_400_000],
    ["24h", 86_400_000],
    ["7d", 604_800_000],
    ["0h", undefined],
    ["7", undefined],
    ["1h30m", undefined],
    ["", undefined],
  ] as const) {
    it(`${JSON.stringify(text)}: ${ms}`, () => expect(parseDurationMs(text)).to.equal(ms));
  }
});
