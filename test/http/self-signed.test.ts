import { X509Certificate } from "node:crypto";
import { expect } from "chai";
import { SeededRandom } from "../../src/base/random.ts";
import { makeSelfSigned } from "../../src/http/self-signed.ts";
import { parseIp } from "../../src/net/ip.ts";

const IPS = ["192.0.2.1", "2001:db8::1"].map((text) => parseIp(text) ?? expect.fail());
const SUBJECT = { nodeName: "n1.example.org", ips: IPS, wallMs: Date.UTC(2026, 0, 2) };

for (const keyKind of ["ecdsa", "rsa"] as const) {
  describe(`makeSelfSigned with ${keyKind}`, () => {
    const { cert, key } = makeSelfSigned({ ...SUBJECT, keyKind, random: new SeededRandom(1) });
    const parsed = new X509Certificate(cert);

    it("is signed by its own key", () => {
      expect(parsed.verify(parsed.publicKey)).to.equal(true);
      expect(parsed.publicKey.asymmetricKeyType).to.equal(keyKind === "rsa" ? "rsa" : "ec");
      expect(key).to.match(/^-----BEGIN PRIVATE KEY-----\n/);
    });

    it("names the node and its addresses", () => {
      expect(parsed.subject).to.equal("CN=arpeggio-speaker");
      expect(parsed.subjectAltName).to.equal(
        "DNS:n1.example.org, IP Address:192.0.2.1, IP Address:2001:DB8:0:0:0:0:0:1",
      );
    });

    it("is valid from the day before, for ten years", () => {
      expect(parsed.validFrom).to.equal("Jan  1 00:00:00 2026 GMT");
      expect(parsed.validTo).to.equal("Dec 31 00:00:00 2035 GMT");
    });
  });
}

describe("makeSelfSigned", () => {
  it("writes years from 2050 on with four digits", () => {
    const wallMs = Date.UTC(2045, 0, 2);
    const { cert } = makeSelfSigned({ ...SUBJECT, wallMs, keyKind: "ecdsa", random: new SeededRandom(1) });
    expect(new X509Certificate(cert).validTo).to.equal("Dec 31 00:00:00 2054 GMT");
  });

  it("has a positive serial number, whatever the first byte", () => {
    for (const first of [0x00, 0x7f, 0x80, 0xff]) {
      const bytes = Uint8Array.from({ length: 16 }, (_each, at) => (at === 0 ? first : 1));
      const random = { bytes: () => bytes, float: () => 0, below: () => 0 };
      const { cert } = makeSelfSigned({ ...SUBJECT, keyKind: "ecdsa", random });
      const hex = Buffer.from(bytes).toString("hex").toUpperCase().replace(/^00/, "");
      expect(new X509Certificate(cert).serialNumber).to.equal(hex);
    }
  });
});
