import { expect } from "chai";
import fc from "fast-check";
import { familyOf, type Ip, ipBytes } from "../../src/net/ip.ts";
import { parsePrefix } from "../../src/net/prefix.ts";
import { buildPacketFilter, type PacketFilter } from "../../src/packet/filter.ts";
import { FilterInForce } from "../../src/packet/filter-in-force.ts";
import { runFilter } from "./bpf-interpreter.ts";
import { golden, ip } from "./golden.ts";

const POOLS = ["192.0.2.0/24", "198.51.100.0/25"].map((text) => parsePrefix(text) ?? expect.fail(text));
/** So few that addresses in a row that is broken once and again do not fit. */
const MAX_INSTRUCTIONS = 40;
const FEW = ["192.0.2.1", "192.0.2.3"].map(ip);
const MANY = Array.from({ length: 20 }, (_, index) => ip(`192.0.2.${1 + 2 * index}`));

function passes(filter: PacketFilter, target: Ip): boolean {
  const frame = golden("arping-request").slice();
  frame.set(ipBytes(ip("203.0.113.7")), 28);
  frame.set(ipBytes(target), 38);
  return runFilter(filter.program, frame, {}).passedBytes > 0;
}

function next(inForce: FilterInForce, addresses: readonly Ip[], poolPrefixes = POOLS): PacketFilter | undefined {
  return inForce.next({ family: 4, addresses: new Set(addresses), come: addresses, poolPrefixes }, MAX_INSTRUCTIONS);
}

describe("FilterInForce", () => {
  it("is built once for addresses of a pool that passes whole", () => {
    const inForce = new FilterInForce();
    expect(next(inForce, MANY)?.precision).to.equal("prefixes");
    expect(next(inForce, MANY)).to.equal(undefined);
    expect(next(inForce, [...MANY, ip("192.0.2.200"), ip("2001:db8::1")])).to.equal(undefined);
    expect(next(inForce, MANY.slice(1))).to.equal(undefined);
  });

  for (const { name, addresses, pools } of [
    { name: "an address that no such pool holds", addresses: [...MANY, ip("198.51.100.1")], pools: POOLS },
    { name: "half of them gone", addresses: MANY.slice(0, 9), pools: POOLS },
    { name: "other pools", addresses: MANY, pools: POOLS.slice(0, 1) },
  ]) {
    it(`is built anew for ${name}`, () => {
      const inForce = new FilterInForce();
      next(inForce, MANY);
      expect(next(inForce, addresses, pools)).to.deep.equal(
        buildPacketFilter({ family: 4, addresses, poolPrefixes: pools }, MAX_INSTRUCTIONS),
      );
    });
  }

  it("follows every change while addresses fit, and is built anew when it is forgotten", () => {
    const inForce = new FilterInForce();
    expect(next(inForce, FEW)?.precision).to.equal("exact");
    expect(next(inForce, FEW.slice(1))?.precision).to.equal("exact");
    next(inForce, MANY);
    inForce.forget();
    expect(next(inForce, MANY)?.precision).to.equal("prefixes");
  });

  it("is left alone while no address of its family comes, and there is none", () => {
    const inForce = new FilterInForce();
    expect(next(inForce, [ip("2001:db8::1")])?.program).to.have.length(1);
    expect(next(inForce, [ip("2001:db8::1"), ip("2001:db8::2")])).to.equal(undefined);
    expect(next(inForce, FEW)?.precision).to.equal("exact");
  });

  it("goes by the pools where a thousand addresses in a row would fit: it follows each that comes without being built anew", () => {
    const pool = parsePrefix("198.18.0.0/16") ?? expect.fail("pool");
    const row = Array.from({ length: 1_002 }, (_, index) => ip(`198.18.${index >> 8}.${index & 255}`));
    const inForce = new FilterInForce();
    const ask = (count: number): PacketFilter | undefined => {
      const addresses = row.slice(0, count);
      return inForce.next({ family: 4, addresses: new Set(addresses), come: addresses, poolPrefixes: [pool] }, 4_096);
    };
    expect(ask(1_000)?.precision).to.equal("exact");
    expect(ask(1_001)?.precision).to.equal("prefixes");
    expect(ask(1_002)).to.equal(undefined);
  });

  it("lets every wanted address pass, whatever came before", () => {
    const some = fc.subarray([
      ...MANY,
      ...FEW,
      ...["198.51.100.1", "198.51.100.200", "203.0.113.1", "2001:db8::1"].map(ip),
    ]);
    fc.assert(
      fc.property(fc.array(some, { maxLength: 8 }), (history) => {
        const inForce = new FilterInForce();
        let filter = buildPacketFilter({ family: 4, addresses: [], poolPrefixes: [] });
        let before: readonly Ip[] = [];
        for (const addresses of history) {
          const come = addresses.filter((address) => !before.includes(address));
          const wanted = { family: 4, addresses: new Set(addresses), come, poolPrefixes: POOLS } as const;
          filter = inForce.next(wanted, MAX_INSTRUCTIONS) ?? filter;
          before = addresses;
          for (const address of addresses) {
            if (familyOf(address) === 4) expect(passes(filter, address), address).to.equal(true);
          }
        }
      }),
    );
  });
});
