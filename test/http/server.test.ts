import { expect } from "chai";
import type { FastifyInstance } from "fastify";
import type { StatusDocument } from "../../api/status.ts";
import type { LogFields } from "../../src/base/log.ts";
import { createHttpServer, type Faces, openHttpServer } from "../../src/http/server.ts";
import { type Ip, parseIp } from "../../src/net/ip.ts";
import { ADDRESS, STATUS } from "./example-documents.ts";

const JSON_ONLY = { accept: "application/json" };
const LOOPBACK = parseIp("127.0.0.1") ?? expect.fail();

function never(): Promise<never> {
  return new Promise(() => {});
}

describe("HTTP server", () => {
  const logged: (LogFields | undefined)[] = [];
  const asked: (Ip | boolean)[] = [];
  let app: FastifyInstance;
  let answers: Partial<Faces> = {};

  const log = {
    debug: () => {},
    info: () => {},
    warn: () => {},
    error: (_message: string, fields?: LogFields) => void logged.push(fields),
  };
  const faces = (): Faces => ({
    version: "1.2.3",
    readStatus: () => STATUS,
    readAddress: (ip) => {
      asked.push(ip);
      return ip === ADDRESS.address ? ADDRESS : undefined;
    },
    health: () => ({ ok: true, sentence: "ok" }),
    readiness: () => ({ ok: true, sentences: ["ready"] }),
    metrics: async () => "arpeggio_build_info 1\n",
    setStepDown: (isWanted) => void asked.push(isWanted),
    ...answers,
  });

  const start = (changed: Partial<Faces> = {}) => {
    answers = changed;
    app = createHttpServer(faces(), log);
  };

  beforeEach(() => {
    logged.length = 0;
    asked.length = 0;
  });
  afterEach(() => app.close());

  it("gives curl aligned text and JSON to who asks for it, of one value", async () => {
    start();
    const text = await app.inject({ url: "/status", headers: { accept: "*/*" } });
    expect(text.headers["content-type"]).to.equal("text/plain; charset=utf-8");
    expect(text.body).to.match(/^node {5}n1, arpeggio 1\.2\.3/);
    const json = await app.inject({ url: "/status", headers: JSON_ONLY });
    expect(json.headers["content-type"]).to.equal("application/json; charset=utf-8");
    expect(json.headers["cache-control"]).to.equal("no-store");
    expect(json.headers["vary"]).to.equal("accept");
    expect(json.json()).to.deep.equal(STATUS);
  });

  for (const [accept, isJson] of [
    ["text/html,application/xhtml+xml,*/*;q=0.8", false],
    ["application/json, text/plain;q=0.5", true],
    ["text/plain, application/json;q=0.5", false],
    ["text/plain, application/json", true],
    ["application/json;q=0", false],
    ["APPLICATION/JSON; q=x", false],
    ["APPLICATION/JSON ; q=0.1", true],
  ] as const) {
    it(`answers Accept: ${accept} with ${isJson ? "JSON" : "text"}`, async () => {
      start();
      const { headers } = await app.inject({ url: "/status", headers: { accept } });
      expect(headers["content-type"]).to.match(isJson ? /^application\/json/ : /^text\/plain/);
    });
  }

  for (const url of ["/status/addresses/2001:db8::100", "/status/addresses/2001%3ADB8%3a0%3A%3A100"]) {
    it(`finds ${url}`, async () => {
      start();
      const { statusCode, body } = await app.inject({ url, headers: JSON_ONLY });
      expect(statusCode).to.equal(200);
      expect(JSON.parse(body)).to.deep.equal(ADDRESS);
      expect(asked).to.deep.equal(["2001:db8::100"]);
    });
  }

  for (const { url, status, code, sentence } of [
    {
      url: "/status/addresses/192.0.2",
      status: 400,
      code: "ERR_HTTP_BAD_REQUEST",
      sentence: '"192.0.2" is no IP address',
    },
    {
      url: "/status/addresses/192.0.2.9",
      status: 404,
      code: "ERR_HTTP_NOT_FOUND",
      sentence: "no Service has the address 192.0.2.9",
    },
    { url: "/status/addresses/%zz", status: 400, code: "ERR_HTTP_BAD_REQUEST", sentence: "the URL is not valid" },
    { url: "/stats", status: 404, code: "ERR_HTTP_NOT_FOUND", sentence: "there is no /stats here" },
  ]) {
    it(`answers ${url} with ${status} and a sentence`, async () => {
      start();
      const text = await app.inject({ url });
      expect([text.statusCode, text.body]).to.deep.equal([status, `${sentence}\n`]);
      const json = await app.inject({ url, headers: JSON_ONLY });
      expect(json.json()).to.deep.equal({ code, sentence });
    });
  }

  for (const [fault, status, where] of [
    ["a field that the schema does not have", { ...STATUS, secret: "x" }, '"/secret"'],
    [
      "a reason outside its set",
      { ...STATUS, election: { ...STATUS.election, reason: "because" } },
      '"/election/reason"',
    ],
    ["a time that is none", { ...STATUS, at: "yesterday" }, '"/at"'],
  ] as const) {
    it(`takes ${fault} for our fault: 500, with code, and logged`, async () => {
      start({ readStatus: () => status as unknown as StatusDocument });
      const { statusCode, body } = await app.inject({ url: "/status", headers: JSON_ONLY });
      expect(statusCode).to.equal(500);
      expect(body).to.include('"code":"ERR_DOCUMENT_INVALID"');
      expect(body).to.include(JSON.stringify(where).slice(1, -1));
      expect(logged).to.have.length(1);
      expect(logged[0]).to.include({ code: "ERR_DOCUMENT_INVALID", path: "/status" });
    });
  }

  it("checks the address document too", async () => {
    start({ readAddress: () => ({ ...ADDRESS, candidates: [{ rank: 0 }] }) as never });
    const { statusCode, body } = await app.inject({ url: "/status/addresses/2001:db8::100", headers: JSON_ONLY });
    expect(statusCode).to.equal(500);
    expect(body).to.include('"code":"ERR_DOCUMENT_INVALID"');
  });

  it("answers 500 when reading fails, and names the error's code", async () => {
    start({ readStatus: async () => Promise.reject(Object.assign(new Error("wire thread gone"), { code: "EPIPE" })) });
    const { statusCode, body } = await app.inject({ url: "/status" });
    expect([statusCode, body]).to.deep.equal([500, "wire thread gone\n"]);
    expect(logged[0]).to.include({ code: "EPIPE", problem: "wire thread gone" });
  });

  it("answers though the wire thread does not", async () => {
    start({ readStatus: never, readAddress: never, metrics: never });
    await app.close();
    app = createHttpServer(faces(), log, 1);
    for (const url of ["/status", "/status/addresses/192.0.2.1", "/metrics"]) {
      const { statusCode, body } = await app.inject({ url });
      expect([statusCode, body]).to.deep.equal([500, "the wire thread did not answer within 0.001 s; see /healthz\n"]);
    }
    expect(logged[0]).to.include({ code: "ERR_HTTP_TIMEOUT" });
  });

  it("fails /healthz and /readyz with 503 and says why", async () => {
    start({
      health: () => ({ ok: false, sentence: "the wire thread stands still for 2.1 s" }),
      readiness: () => ({ ok: false, sentences: ["sources are not read", "eth0: EPERM"] }),
    });
    const health = await app.inject("/healthz");
    expect([health.statusCode, health.body]).to.deep.equal([503, "the wire thread stands still for 2.1 s\n"]);
    const ready = await app.inject("/readyz");
    expect([ready.statusCode, ready.body]).to.deep.equal([503, "sources are not read\neth0: EPERM\n"]);
  });

  it("answers /healthz, /readyz and /metrics", async () => {
    start();
    expect((await app.inject("/healthz")).statusCode).to.equal(200);
    expect((await app.inject("/readyz")).body).to.equal("ready\n");
    const metrics = await app.inject("/metrics");
    expect(metrics.headers["content-type"]).to.equal("text/plain; version=0.0.4; charset=utf-8");
    expect(metrics.body).to.equal("arpeggio_build_info 1\n");
  });

  it("takes the order to step down, and takes it back", async () => {
    start();
    const down = await app.inject({ method: "POST", url: "/step-down", headers: JSON_ONLY });
    expect([down.statusCode, down.body]).to.deep.equal([200, '{"isSteppingDown":true}\n']);
    // What `curl -d ''` sends.
    const form = { "content-type": "application/x-www-form-urlencoded" };
    expect((await app.inject({ method: "POST", url: "/step-down", headers: form, payload: "" })).statusCode).to.equal(
      200,
    );
    expect((await app.inject({ method: "DELETE", url: "/step-down" })).body).to.equal("no longer stepping down\n");
    expect(asked).to.deep.equal([true, true, false]);
  });

  for (const [from, status] of [
    ["127.0.0.1", 200],
    ["127.9.9.9", 200],
    ["::1", 200],
    ["::ffff:127.0.0.1", 200],
    ["192.0.2.1", 403],
    ["2001:db8::1", 403],
  ] as const) {
    it(`answers an order from "${from}" with ${status}`, async () => {
      start();
      for (const method of ["POST", "DELETE"] as const) {
        const { statusCode } = await app.inject({ method, url: "/step-down", remoteAddress: from });
        expect(statusCode).to.equal(status);
      }
      expect(asked).to.have.length(status === 200 ? 2 : 0);
    });
  }

  it("takes no order from a web page", async () => {
    start();
    const headers = { origin: "http://www.example.org" };
    expect((await app.inject({ method: "POST", url: "/step-down", headers })).statusCode).to.equal(403);
    expect(asked).to.deep.equal([]);
  });

  it("refuses a long body", async () => {
    start();
    const { statusCode } = await app.inject({ method: "POST", url: "/step-down", payload: "x".repeat(2_000) });
    expect(statusCode).to.equal(400);
    expect(asked).to.deep.equal([]);
  });

  it("listens on a port that the kernel chose, and closes though a client stays connected", async () => {
    start();
    const server = await openHttpServer(faces(), { ip: LOOPBACK, port: 0 }, log);
    const response = await fetch(`http://127.0.0.1:${server.port}/healthz`);
    expect(await response.text()).to.equal("ok\n");
    await server.close();
  });

  it("says with a code that it cannot listen", async () => {
    start();
    const server = await openHttpServer(faces(), { ip: LOOPBACK, port: 0 }, log);
    const problem = await openHttpServer(faces(), { ip: LOOPBACK, port: server.port }, log).catch(
      (error: unknown) => error,
    );
    await server.close();
    expect(problem).to.include({
      code: "ERR_LISTEN",
      message: `HTTP cannot listen on 127.0.0.1 port ${server.port}: EADDRINUSE`,
    });
  });
});
