import { expect } from "chai";
import fc from "fast-check";
import { Filters, PRUNE_DELAY_MS } from "../../src/announcer/filters.ts";
import type { Ip } from "../../src/net/ip.ts";
import { ip, lineOf, VIP, VIP6 } from "./rig.ts";

const OTHER = ip("192.0.2.11");

function told(filters: Filters, atMs: number): string[] {
  return filters.due(() => true, atMs).map(lineOf);
}

describe("Filters", () => {
  it("tells at once what has come, and what has gone with it or 50 ms later", () => {
    const filters = new Filters();
    filters.move(VIP, [], [1], 0);
    expect(told(filters, 0)).to.deep.equal([`filter eth1 [${VIP}]`]);
    filters.move(VIP, [1], [], 10);
    expect(told(filters, 59)).to.deep.equal([]);
    expect(filters.nextDeadlineMs()).to.equal(10 + PRUNE_DELAY_MS);
    filters.move(VIP6, [], [1], 59);
    expect(told(filters, 59)).to.deep.equal([`filter eth1 [${VIP6}]`]);
    expect(filters.nextDeadlineMs()).to.equal(undefined);
  });
  it("tells many that go one after the other once in 50 ms", () => {
    const filters = new Filters();
    const addresses = Array.from({ length: 100 }, (_, index) => ip(`198.51.100.${index}`));
    for (const address of addresses) filters.move(address, [], [1], 0);
    expect(told(filters, 0).length).to.equal(1);
    const lines = addresses.flatMap((address, index) => {
      filters.move(address, [1], [], index);
      return told(filters, index);
    });
    expect([...lines, ...told(filters, 200)].length).to.equal(2);
  });
  it("says nothing of one that comes back in time", () => {
    const filters = new Filters();
    filters.move(VIP, [], [1, 2], 0);
    told(filters, 0);
    filters.move(VIP, [1, 2], [2], 10);
    filters.move(VIP, [2], [1, 2], 20);
    expect(filters.nextDeadlineMs()).to.equal(undefined);
    expect(told(filters, 1_000)).to.deep.equal([]);
  });
  it("says nothing about links that are gone, and everything when they are there again", () => {
    const filters = new Filters();
    filters.move(VIP, [], [1], 0);
    told(filters, 0);
    filters.move(VIP, [1], [], 10);
    expect(filters.due(() => false, 100)).to.deep.equal([]);
    filters.move(OTHER, [], [1], 200);
    expect(told(filters, 200)).to.deep.equal([`filter eth1 [${OTHER}]`]);
  });
  it("never lacks an address, and keeps none longer than 50 ms", () => {
    const steps = fc.array(
      fc.record({
        address: fc.constantFrom(VIP, VIP6, OTHER),
        links: fc.subarray([1, 2]),
        waitMs: fc.integer({ min: 0, max: 40 }),
      }),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(steps, (moves) => {
        const filters = new Filters();
        const wanted = new Map<Ip, readonly number[]>();
        const known = new Map<number, ReadonlySet<Ip>>();
        const settle = (atMs: number): void => {
          for (const effect of filters.due(() => true, atMs)) {
            if (effect.kind !== "filter") continue;
            const before = known.get(effect.linkIndex);
            const addresses = new Set(effect.addresses);
            expect(new Set(effect.come)).to.deep.equal(
              new Set([...addresses].filter((one) => before?.has(one) !== true)),
            );
            known.set(effect.linkIndex, addresses);
          }
        };
        let nowMs = 0;
        for (const { address, links, waitMs } of moves) {
          filters.move(address, wanted.get(address) ?? [], links, nowMs);
          wanted.set(address, links);
          settle(nowMs);
          for (const [one, on] of wanted) for (const link of on) expect(known.get(link)?.has(one)).to.equal(true);
          nowMs += waitMs;
          settle(nowMs);
        }
        settle(nowMs + PRUNE_DELAY_MS);
        for (const [link, addresses] of known) {
          for (const one of addresses) expect(wanted.get(one), `${one} on ${link}`).to.include(link);
        }
        expect(filters.nextDeadlineMs()).to.equal(undefined);
      }),
    );
  });
});
