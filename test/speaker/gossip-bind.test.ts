import { expect } from "chai";
import { findBindEndpoint } from "../../speaker/gossip-bind.ts";
import type { GossipOptions } from "../../speaker/options.ts";
import { createLog } from "../../src/base/log.ts";
import { parseIp } from "../../src/net/ip.ts";

const silent = createLog("none", () => {}, Date.now);

function options(changed: Partial<GossipOptions>): GossipOptions {
  return { port: 7946, peers: [], timing: { kind: "lan" }, ...changed };
}

describe("findBindEndpoint", () => {
  it("takes the address that the user gives", async () => {
    const bindAddress = parseIp("192.0.2.7") ?? expect.fail();
    expect(await findBindEndpoint(options({ bindAddress, port: 7000 }), silent)).to.deep.equal({
      ip: bindAddress,
      port: 7000,
    });
  });

  it("takes a loopback address when every peer is on this host", async () => {
    const peers = ["127.0.0.2", "127.0.0.3"].map((host) => ({ host, port: 7946 }));
    expect((await findBindEndpoint(options({ peers }), silent)).ip).to.match(/^127\./);
  });
});
