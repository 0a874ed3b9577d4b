import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { request as httpsRequest, type RequestOptions } from "node:https";
import { connect } from "node:net";
import { type PeerCertificate, connect as tlsConnect } from "node:tls";
import { expect } from "chai";
import type { AccessVerdict } from "../../src/base/access.ts";
import { SeededRandom } from "../../src/base/random.ts";
import {
  type HttpsMetricsServer,
  type MetricsServer,
  openMetricsServer,
  openPlainMetricsServer,
  type TlsSettings,
} from "../../src/http/metrics-server.ts";
import { makeSelfSigned } from "../../src/http/self-signed.ts";
import { parseIp } from "../../src/net/ip.ts";

const LOOPBACK = parseIp("127.0.0.1") ?? expect.fail();
const TLS: TlsSettings = { minVersion: "TLSv1.3" };

function certificateOf(nodeName: string, keyKind: "ecdsa" | "rsa" = "ecdsa") {
  return makeSelfSigned({ nodeName, ips: [LOOPBACK], wallMs: Date.now(), keyKind, random: new SeededRandom(1) });
}

const CERTIFICATE = certificateOf("n1");

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

function as(token: string): RequestOptions {
  return { headers: { authorization: `Bearer ${token}` } };
}

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

describe("metrics server", () => {
  let server: HttpsMetricsServer;
  let plain: MetricsServer | undefined;
  let decided: string[] = [];
  let metrics: () => Promise<string>;

  const VERDICTS: Readonly<Record<string, AccessVerdict>> = {
    good: { kind: "allowed" },
    poor: { kind: "forbidden", user: "mallory" },
    unlucky: { kind: "unknown", sentence: "the API server does not answer" },
  };
  const authorizer = {
    decide: (token: string): Promise<AccessVerdict> => {
      decided.push(token);
      return Promise.resolve(VERDICTS[token] ?? { kind: "unauthenticated" });
    },
  };

  async function open(tls: TlsSettings = TLS, certificate = CERTIFICATE): Promise<void> {
    const ports = { metrics: () => metrics(), log: silent, authorizer };
    server = await openMetricsServer(ports, { ip: LOOPBACK, port: 0 }, certificate, tls);
  }

  function ask(options: RequestOptions = {}): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const usual = { host: "127.0.0.1", port: server.port, path: "/metrics", ca: CERTIFICATE.cert, agent: false };
    const request = httpsRequest({ ...usual, ...options }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () => {
        resolve({ status: response.statusCode, headers: response.headers, text: Buffer.concat(parts).toString() });
      });
    });
    request.on("error", reject).end();
    return promise;
  }

  /** What a client hears that does not speak TLS. */
  function sayPlainly(text: string): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const socket = connect(server.port, "127.0.0.1", () => socket.write(text));
    const parts: Buffer[] = [];
    socket.on("data", (part: Buffer) => parts.push(part));
    socket.on("error", reject).on("close", () => resolve(Buffer.concat(parts).toString()));
    return promise;
  }

  function shownCertificate(): Promise<PeerCertificate> {
    const { promise, resolve, reject } = Promise.withResolvers<PeerCertificate>();
    const socket = tlsConnect({ port: server.port, host: "127.0.0.1", rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate());
      socket.destroy();
    });
    socket.on("error", reject);
    return promise;
  }

  beforeEach(() => {
    decided = [];
    metrics = () => Promise.resolve("arpeggio_build_info 1\n");
  });

  afterEach(async () => {
    await server.close();
    await plain?.close();
    plain = undefined;
  });

  it("gives whoever may read them the metrics, over a certificate that can be checked", async () => {
    await open();
    const { status, headers, text } = await ask(as("good"));
    expect({ status, text }).to.deep.equal({ status: 200, text: "arpeggio_build_info 1\n" });
    expect(headers["content-type"]).to.equal("text/plain; version=0.0.4; charset=utf-8");
    expect(decided).to.deep.equal(["good"]);
  });

  for (const { name, options, status, text } of [
    { name: "no token", options: {}, status: 401, text: "a token that the cluster knows is needed\n" },
    { name: "a wrong token", options: as("wrong"), status: 401, text: "a token that the cluster knows is needed\n" },
    { name: "a token without the right", options: as("poor"), status: 403, text: "mallory may not get /metrics\n" },
    {
      name: "an API server that is away",
      options: as("unlucky"),
      status: 503,
      text: "the API server does not answer\n",
    },
    { name: "another path", options: { path: "/status" }, status: 404, text: "there is only /metrics here\n" },
    { name: "an order", options: { method: "POST" }, status: 405, text: "/metrics is read with GET\n" },
  ]) {
    it(`answers ${status} to ${name}`, async () => {
      await open();
      const answer = await ask(options);
      expect({ status: answer.status, text: answer.text }).to.deep.equal({ status, text });
      // Strangers hold no connection.
      expect(answer.headers.connection).to.equal("close");
    });
  }

  it("says how to authenticate", async () => {
    await open();
    expect((await ask()).headers["www-authenticate"]).to.equal('Bearer realm="arpeggio"');
  });

  for (const authorization of ["good", "Basic good", "Bearer", "Bearer a b", "Bearer \u00ff"]) {
    it(`asks nobody about "${authorization}"`, async () => {
      await open();
      expect((await ask({ headers: { authorization } })).status).to.equal(401);
      expect(decided).to.deep.equal([]);
    });
  }

  it("answers 500 when the metrics cannot be read", async () => {
    await open();
    metrics = () => Promise.reject(new Error("the speaker is still starting"));
    const { status, text } = await ask(as("good"));
    expect({ status, text }).to.deep.equal({ status: 500, text: "the speaker is still starting\n" });
  });

  it("tells who speaks plain HTTP that this port speaks HTTPS", async () => {
    await open();
    const answer = await sayPlainly("GET /metrics HTTP/1.1\r\nHost: n1.example.org\r\n\r\n");
    expect(answer).to.match(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(answer).to.match(/\r\n\r\nthis port speaks HTTPS\n$/);
    expect((await ask(as("good"))).status).to.equal(200);
  });

  it("outlives strangers who hang up, or break the handshake", async () => {
    await open();
    const rude = connect(server.port, "127.0.0.1", () => rude.resetAndDestroy());
    expect(await sayPlainly("\u0016\u0003\u0001\u0000\u0005hello")).to.not.match(/^HTTP/);
    expect((await ask(as("good"))).status).to.equal(200);
  });

  it("shows the new certificate from now on, and keeps the old one when the new one is broken", async () => {
    await open();
    expect((await shownCertificate()).subjectaltname).to.equal("DNS:n1, IP Address:127.0.0.1");
    server.setCertificate(certificateOf("n2"));
    expect((await shownCertificate()).subjectaltname).to.equal("DNS:n2, IP Address:127.0.0.1");
    const { cert } = certificateOf("n3");
    expect(() => server.setCertificate({ cert, key: CERTIFICATE.key })).to.throw();
    expect(() => server.setCertificate({ cert: "no certificate", key: "no key" })).to.throw();
    expect((await shownCertificate()).subjectaltname).to.equal("DNS:n2, IP Address:127.0.0.1");
  });

  it("refuses TLS 1.2 unless it is allowed", async () => {
    await open();
    const old: RequestOptions = { ...as("good"), maxVersion: "TLSv1.2" };
    const error = await ask(old).then(
      () => undefined,
      (cause: Error) => cause.message,
    );
    expect(error).to.match(/alert protocol version/);
    await server.close();
    await open({ minVersion: "TLSv1.2" });
    expect((await ask(old)).status).to.equal(200);
  });

  it("speaks the cipher suites and groups that were chosen, and no others", async () => {
    const tls: TlsSettings = { minVersion: "TLSv1.2", ciphers: "ECDHE-ECDSA-AES256-GCM-SHA384", groups: "P-384" };
    await open(tls);
    const old: RequestOptions = { ...as("good"), maxVersion: "TLSv1.2" };
    const ecdhCurve = "P-384:P-256";
    const cipher = (name: string): RequestOptions => ({ ...old, ciphers: name, ecdhCurve });
    expect((await ask(cipher("ECDHE-ECDSA-AES256-GCM-SHA384"))).status).to.equal(200);
    expect(await ask(cipher("ECDHE-ECDSA-AES128-GCM-SHA256")).catch(() => "refused")).to.equal("refused");
    expect((await ask({ ...as("good"), minVersion: "TLSv1.3", ecdhCurve: "P-384" })).status).to.equal(200);
    expect(await ask({ ...as("good"), ecdhCurve: "X25519" }).catch(() => "refused")).to.equal("refused");
  });

  it("says what is wrong when it cannot open", async () => {
    await open();
    const ports = { metrics, log: silent, authorizer };
    const at = { ip: LOOPBACK, port: server.port };
    const busy = await openMetricsServer(ports, at, CERTIFICATE, TLS).catch((error: Error) => error);
    expect(busy).to.include({
      code: "ERR_LISTEN",
      message: `HTTPS metrics cannot listen on 127.0.0.1 port ${server.port}: EADDRINUSE`,
    });
    const broken = { cert: "no", key: "no" };
    const wrong = await openMetricsServer(ports, at, broken, TLS).catch((error: Error) => error);
    expect(wrong).to.include({ code: "ERR_CONFIG_INVALID" });
  });

  it("serves everybody plainly where that was asked for, and nothing but the metrics", async () => {
    await open();
    plain = await openPlainMetricsServer({ metrics: () => metrics(), log: silent }, { ip: LOOPBACK, port: 0 });
    const { port } = plain;
    const get = (path: string): Promise<number | undefined> => {
      const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
      const request = httpRequest({ host: "127.0.0.1", port, path, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      request.on("error", reject).end();
      return promise;
    };
    expect(await get("/metrics")).to.equal(200);
    expect(await get("/status")).to.equal(404);
    expect(decided).to.deep.equal([]);
  });
});
