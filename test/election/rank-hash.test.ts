import { hash } from "node:crypto";
import { expect } from "chai";
import fc from "fast-check";
import { rankHead } from "../../src/election/rank-hash.ts";
import { type Ip, parseIp } from "../../src/net/ip.ts";

function ip(text: string): Ip {
  return parseIp(text) ?? expect.fail(text);
}

/** The first 8 hex digits by OpenSSL. */
function headByOpenssl(text: string): number {
  return Number.parseInt(hash("sha256", text, "hex").slice(0, 8), 16);
}

describe("rankHead", () => {
  const key = fc.oneof(fc.ipV4(), fc.ipV6()).map(ip);

  it("is the head of the hash for any node name", () => {
    const node = fc.oneof(fc.string({ maxLength: 60 }), fc.string({ unit: "binary", maxLength: 60 }), fc.domain());
    fc.assert(
      fc.property(node, key, (name, address) => {
        expect(rankHead(name, address)).to.equal(headByOpenssl(`${name}#${address}`));
      }),
    );
  });
  it("is so for names of every length, the longest that fit one block among them", () => {
    const address = ip("192.0.2.1");
    for (let length = 0; length <= 80; length++) {
      const name = "x".repeat(length);
      expect(rankHead(name, address), `${length} letters`).to.equal(headByOpenssl(`${name}#${address}`));
    }
  });
});
