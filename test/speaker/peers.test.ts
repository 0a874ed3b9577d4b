import { expect } from "chai";
import { addressesOfNodes, peersAt, resolvePeers, sourceAddressTowards } from "../../speaker/peers.ts";
import type { NodeFacts } from "../../src/desired/snapshot.ts";
import { parseIp } from "../../src/net/ip.ts";

const ip = (text: string) => parseIp(text) ?? expect.fail(text);

function node(internalIps: readonly string[]): NodeFacts {
  return {
    name: "n1",
    labels: {},
    isUnschedulable: false,
    taintKeys: [],
    isNetworkUnavailable: false,
    isNotReady: false,
    wantsStepDown: false,
    ignoresCordon: false,
    internalIps,
  };
}

describe("peers", () => {
  it("takes addresses as they are and asks the resolver for names; an unknown name is no peer for now", async () => {
    const peers = await resolvePeers([
      { host: "192.0.2.1", port: 7946 },
      { host: "no-such-host.invalid", port: 7946 },
      { host: "2001:db8::1", port: 7000 },
    ]);
    expect(peers).to.deep.equal([
      { ip: ip("192.0.2.1"), port: 7946 },
      { ip: ip("2001:db8::1"), port: 7000 },
    ]);
  });

  it("takes every address of every Node, and passes over what is none", () => {
    const addresses = addressesOfNodes([node(["192.0.2.1", "node-a"]), node(["2001:db8::1"])]);
    expect(peersAt(addresses, 7946, undefined)).to.deep.equal([
      { ip: ip("192.0.2.1"), port: 7946 },
      { ip: ip("2001:db8::1"), port: 7946 },
    ]);
  });

  it("dials nobody at an address of another family than its own: no speaker listens there", () => {
    const addresses = ["192.0.2.1", "2001:db8::1"];
    expect(peersAt(addresses, 7946, 4)).to.deep.equal([{ ip: ip("192.0.2.1"), port: 7946 }]);
    expect(peersAt(addresses, 7946, 6)).to.deep.equal([{ ip: ip("2001:db8::1"), port: 7946 }]);
  });

  it("finds the address that this host sends from, without sending", async () => {
    expect(await sourceAddressTowards({ ip: ip("127.0.0.9"), port: 9 })).to.match(/^127\./);
  });
});
