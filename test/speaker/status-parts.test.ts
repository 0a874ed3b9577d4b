import { expect } from "chai";
import { joinAddressParts } from "../../speaker/address-order.ts";
import type { Leadership } from "../../speaker/leadership.ts";
import type { Speaker } from "../../speaker/speaker.ts";
import { addressParts, type StatusContext } from "../../speaker/status-view.ts";
import type { Decision } from "../../src/election/decision.ts";
import type { Holder } from "../../src/election/holders.ts";
import { compareIps, type Ip } from "../../src/net/ip.ts";

const CONTEXT: StatusContext = {
  nodeName: "n1",
  nowMs: 0,
  startedMs: 0,
  linkProblems: new Map(),
  isoOf: (atMs) => new Date(atMs).toISOString(),
};

/** A Service and its two addresses: the later it was made, the lower they are. */
function groupOf(number: number): Decision["group"] {
  const rest = 60_000 - number;
  const addresses = [
    `2001:db8::${rest.toString(16)}`,
    `198.18.${rest >> 8}.${rest & 0xff}`,
  ] as readonly string[] as Ip[];
  const service = { namespace: "default", name: `s${number}`, addresses };
  return { key: addresses[0], addresses, services: [service] } as unknown as Decision["group"];
}

/** What `addressParts` looks at of a speaker that leads nothing. */
function speakerOf(
  groups: readonly Decision["group"][],
  refused: readonly unknown[] = [],
  { sticky, held }: { readonly sticky?: Decision["sticky"]; readonly held?: Holder } = {},
): Speaker {
  const led: Leadership = { leader: "n2", reason: "lowest-hash", sinceMs: 0 };
  const leadership = new Map(groups.flatMap(({ addresses }) => addresses.map((ip) => [ip, led])));
  const decisions = groups.map((group) => ({ group, leader: "n2" }));
  const holding = { isSticky: () => sticky !== undefined || held !== undefined, holderOf: () => held };
  const decisionOf = () => ({ sticky, group: { services: [] } });
  const council = { decisions, leadership, derived: { groups, refused }, holding, decisionOf };
  return { council, announcer: { addressState: () => undefined }, orphans: { taken: new Map() } } as unknown as Speaker;
}

describe("addresses of /status", () => {
  it("come in parts that are small however many there are, each address once", () => {
    const groups = Array.from({ length: 1_050 }, (_, number) => groupOf(number));
    const parts = [...addressParts(speakerOf(groups), CONTEXT)];
    expect(Math.max(...parts.map(({ length }) => length))).to.be.at.most(400);
    const all = joinAddressParts(parts);
    expect(all).to.have.length(2_100);
    const ips = all.map(({ address }) => address as Ip);
    expect(ips).to.deep.equal([...new Set(ips)].toSorted(compareIps));
    expect(all.at(-1)).to.include({ leader: "n2", state: "follower", reason: "lowest-hash" });
    expect(all.at(-1)?.services).to.deep.equal(["default/s0"]);
  });

  it("name those that no election decides, and none that one does", () => {
    const group = groupOf(1);
    const [taken] = group.addresses;
    const refusal = { namespace: "default", name: "r", reason: "no-pool", addresses: [taken, "192.0.2.9"] };
    const all = joinAddressParts([...addressParts(speakerOf([group], [refusal]), CONTEXT)]);
    expect(all).to.have.length(3);
    expect(all[0]).to.include({ address: "192.0.2.9", state: "nobody", reason: "no-pool" });
    expect(all.find(({ address }) => address === taken)?.services).to.deep.equal(["default/s1"]);
  });

  for (const { name, of, says } of [
    { name: "not sticky", of: {}, says: undefined },
    {
      name: "kept where they are",
      of: { sticky: { holder: "n2", term: 4, insteadOf: "n1" } },
      says: { isInForce: true, holder: "n2", term: 4, insteadOf: "n1" },
    },
    {
      name: "sticky under a rule that knows no such thing",
      of: { held: { node: "n3", term: 2 } },
      says: { isInForce: false, holder: "n3", term: 2 },
    },
  ]) {
    it(`say that they are ${name}`, () => {
      const [parts] = [...addressParts(speakerOf([groupOf(1)], [], of), CONTEXT)];
      expect(parts?.map(({ sticky }) => sticky)).to.deep.equal([says, says]);
    });
  }

  it("are none where there are none", () => {
    expect([...addressParts(speakerOf([]), CONTEXT)]).to.deep.equal([]);
    expect(joinAddressParts([])).to.deep.equal([]);
  });
});
