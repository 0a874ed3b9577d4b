/** Addresses kept by name: how the lines are read, and who gets them. */
import { expect } from "chai";
import {
  formatReserved,
  parsePinned,
  parseReserved,
  Reservations,
  trimReserved,
} from "../../src/allocator/reservations.ts";
import { ips, pool } from "./objects.ts";
import { IPV4_ONLY, REQUIRES, service } from "./services.ts";
import { NOW_MS, outcomeOf } from "./worlds.ts";

const POOLS = [pool("a", ["192.0.2.0/31", "2001:db8::/127"]), pool("b", ["198.51.100.0/31"])];
const kept = (key: string, ...texts: readonly string[]) => ({ key, addresses: ips(...texts), untilMs: NOW_MS + 1_000 });
const asks = (text: string) => ({ annotations: { "metallb.io/loadBalancerIPs": text } });

describe("lines of the ConfigMap", () => {
  it("reserved: read as written", () => {
    const text = "shop/db 192.0.2.1,2001:db8::1 2026-03-01T01:00:00Z\nshop/web 192.0.2.2 2026-03-02T00:00:00Z\n";
    const { lines, problems } = parseReserved(text);
    expect(problems).to.deep.equal([]);
    expect(lines[0]).to.deep.equal({
      key: "shop/db",
      addresses: ["192.0.2.1", "2001:db8::1"],
      untilMs: Date.parse("2026-03-01T01:00:00Z"),
    });
    expect(formatReserved(lines)).to.equal(text);
  });

  it("reserved: of more than 5,000 those that end first are dropped", () => {
    const many = Array.from({ length: 5_001 }, (_value, index) => ({
      ...kept(`a/${index}`, "192.0.2.1"),
      untilMs: 9_000 - index,
    }));
    expect(trimReserved(many).length).to.equal(5_000);
    expect(trimReserved(many)[0]?.key).to.equal("a/4999");
  });

  it("pinned: spaces, comments and empty lines are allowed", () => {
    const { lines, problems } = parsePinned(
      "# by hand\n\nshop/db = 192.0.2.1, 2001:db8::1 # both\nshop/web=192.0.2.2\n",
    );
    expect(problems).to.deep.equal([]);
    expect(lines).to.deep.equal([
      { key: "shop/db", addresses: ["192.0.2.1", "2001:db8::1"] },
      { key: "shop/web", addresses: ["192.0.2.2"] },
    ]);
  });

  for (const { text, says } of [
    { text: "shop/web", says: "must be namespace/name = address" },
    { text: "web = 192.0.2.1", says: "must be namespace/name = address" },
    { text: "shop/web = ", says: "must be namespace/name = address" },
    { text: "shop/web = 192.0.2.1, 192.0.2.2", says: "at most one of each family" },
    { text: "shop/web = 192.0.2.1 = x", says: "must be namespace/name = address" },
    { text: "shop/web = 192.0.2.7", says: "192.0.2.7 is pinned for shop/db by a line before it" },
  ]) {
    it(`pinned: ${JSON.stringify(text)} is named and skipped`, () => {
      const { lines, problems } = parsePinned(`shop/db = 192.0.2.7\n${text}\nshop/last = 192.0.2.8`);
      expect(lines.map(({ key }) => key)).to.deep.equal(["shop/db", "shop/last"]);
      expect(problems.length).to.equal(1);
      expect(problems[0])
        .to.match(/^ConfigMap arpeggio-reservations, key pinned, line 2 is "/)
        .and.to.contain(says);
    });
  }

  it("reserved: a bad line is named and skipped", () => {
    const { lines, problems } = parseReserved("shop/db 192.0.2.1 tomorrow\nshop/web 192.0.2.2 2026-03-02T00:00:00Z");
    expect(lines.map(({ key }) => key)).to.deep.equal(["shop/web"]);
    expect(problems[0]).to.match(
      /^ConfigMap arpeggio-reservations, key reserved, line 1 is "shop\/db 192.0.2.1 tomorrow": must be/,
    );
  });
});

describe("an address that is kept", () => {
  it("goes to its Service, even from a pool without autoAssign, and even before a lower one", () => {
    const pools = [...POOLS, pool("hand", { addresses: ["203.0.113.0/24"], autoAssign: false })];
    const reservations = new Reservations([kept("default/web", "192.0.2.1")], []);
    expect(outcomeOf(service("web"), { pools, reservations }).addresses).to.deep.equal(["192.0.2.1"]);
    const pinned = new Reservations([], [{ key: "default/web", addresses: ips("203.0.113.7") }]);
    expect(outcomeOf(service("web"), { pools, reservations: pinned }).addresses).to.deep.equal(["203.0.113.7"]);
  });

  it("of one family is completed from the same pool", () => {
    const reservations = new Reservations([], [{ key: "default/web", addresses: ips("2001:db8::1") }]);
    const { addresses } = outcomeOf(service("web", REQUIRES), { pools: POOLS, reservations });
    expect(addresses).to.deep.equal(["192.0.2.0", "2001:db8::1"]);
  });

  it("is passed over by others, who take the next pool before they take it", () => {
    const reservations = new Reservations([kept("shop/x", "192.0.2.0"), kept("shop/y", "192.0.2.1")]);
    expect(outcomeOf(service("web"), { pools: POOLS, reservations }).addresses).to.deep.equal(["198.51.100.0"]);
    const none = [pool("a", ["192.0.2.0/31"])];
    expect(outcomeOf(service("web"), { pools: none, reservations }).addresses).to.deep.equal(["192.0.2.0"]);
  });

  it("by hand is never given to others", () => {
    const reservations = new Reservations([], [{ key: "shop/x", addresses: ips("192.0.2.0") }]);
    const pools = [pool("a", ["192.0.2.0/32"])];
    expect(outcomeOf(service("web"), { pools, reservations }).refusal?.reason).to.equal("no-free-address");
    const asking = outcomeOf(service("web", IPV4_ONLY, asks("192.0.2.0")), { pools, reservations });
    expect(asking.refusal?.reason).to.equal("address-reserved");
  });

  it("for a while is given to who asks for it only when its pool is full", () => {
    const reservations = new Reservations([kept("shop/x", "192.0.2.0")]);
    const asking = service("web", IPV4_ONLY, asks("192.0.2.0"));
    expect(outcomeOf(asking, { pools: POOLS, reservations }).refusal?.reason).to.equal("address-reserved");
    const others = [service("b", IPV4_ONLY, { ingress: ["192.0.2.1"] })];
    expect(outcomeOf(asking, { pools: POOLS, reservations, others }).addresses).to.deep.equal(["192.0.2.0"]);
  });
});
