import { createSecureContext } from "node:tls";
import { expect } from "chai";
import { parseCipherSuites, parseGroups, parseTlsVersion } from "../../src/daemon/tls-option-values.ts";

describe("parseTlsVersion", () => {
  it("takes MetalLB's words", () => {
    expect(parseTlsVersion("")).to.deep.equal({ ok: true, value: "TLSv1.3" });
    expect(parseTlsVersion("VersionTLS13")).to.deep.equal({ ok: true, value: "TLSv1.3" });
    expect(parseTlsVersion("VersionTLS12")).to.deep.equal({ ok: true, value: "TLSv1.2" });
  });

  for (const text of ["VersionTLS11", "TLSv1.2", "1.3"]) {
    it(`refuses ${text}`, () => {
      const problem = `"${text}" is neither VersionTLS12 nor VersionTLS13`;
      expect(parseTlsVersion(text)).to.deep.equal({ ok: false, problem });
    });
  }
});

describe("parseCipherSuites", () => {
  // The suites of Go's crypto/tls that OpenSSL still has, by the names that Kubernetes' programs take.
  for (const [iana, openssl] of [
    ["TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256"],
    ["TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"],
    ["TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"],
    ["TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "ECDHE-ECDSA-AES128-SHA"],
    ["TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256", "ECDHE-ECDSA-AES128-SHA256"],
    ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"],
    ["TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384"],
    ["TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", "ECDHE-RSA-CHACHA20-POLY1305"],
    ["TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "ECDHE-RSA-AES256-SHA"],
    ["TLS_RSA_WITH_AES_128_GCM_SHA256", "AES128-GCM-SHA256"],
    ["TLS_RSA_WITH_AES_256_CBC_SHA", "AES256-SHA"],
  ] as const) {
    it(`knows ${iana}`, () => {
      expect(parseCipherSuites(iana)).to.deep.equal({ ok: true, value: openssl });
    });
  }

  it("keeps the order, and leaves out what belongs to TLS 1.3", () => {
    const text = "TLS_AES_128_GCM_SHA256, TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256";
    const value = "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-RSA-AES128-GCM-SHA256";
    expect(parseCipherSuites(text)).to.deep.equal({ ok: true, value });
    for (const none of ["", "TLS_AES_256_GCM_SHA384"]) {
      expect(parseCipherSuites(none)).to.deep.equal({ ok: true, value: undefined });
    }
  });

  for (const name of [
    "TLS_RSA_WITH_RC4_128_SHA",
    "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
    "ECDHE-RSA-AES128-GCM-SHA256",
    "ALL",
  ]) {
    it(`refuses ${name}`, () => {
      const problem = `"${name}" is no cipher suite that is known here`;
      expect(parseCipherSuites(`TLS_AES_128_GCM_SHA256,${name}`)).to.deep.equal({ ok: false, problem });
    });
  }
});

describe("parseGroups", () => {
  it("takes IANA's numbers, in order, and leaves out those that are not known here", () => {
    const value = "X25519MLKEM768:X25519:P-256";
    expect(parseGroups("4588,29, 65535,23")).to.deep.equal({ ok: true, value });
    expect(parseGroups("")).to.deep.equal({ ok: true, value: undefined });
  });

  it("gives names that OpenSSL knows", () => {
    const parsed = parseGroups("23,24,25,29,30,4587,4588,4589");
    expect(() => createSecureContext({ ecdhCurve: parsed.ok ? (parsed.value ?? "") : "" })).to.not.throw();
  });

  for (const { text, problem } of [
    { text: "0", problem: '"0" is no number from 1 to 65535' },
    { text: "65536", problem: '"65536" is no number from 1 to 65535' },
    { text: "X25519", problem: '"X25519" is no number from 1 to 65535' },
    { text: "29,23,29", problem: "29 stands there twice" },
    { text: "65000,65001", problem: "none of 65000,65001 is known here" },
  ]) {
    it(`refuses ${text}`, () => {
      expect(parseGroups(text)).to.deep.equal({ ok: false, problem });
    });
  }
});
