import { Validator } from "@seriousme/openapi-schema-validator";
import { expect } from "chai";
import { createLog } from "../../src/base/log.ts";
import { allocatorOpenApi } from "../../src/http/allocator-openapi.ts";
import { type AllocatorFaces, createAllocatorServer, createProbeServer } from "../../src/http/allocator-server.ts";

const LOG = createLog("none", () => undefined, Date.now);
const POOLS = { items: [] };
const FACES: AllocatorFaces = {
  version: "1.2.3",
  readStatus: () => ({
    version: "1.2.3",
    startedAt: "2026-01-01T00:00:00Z",
    state: "standing-by",
    waitsFor: ["c1_00000000 holds the Lease arpeggio-controller"],
    source: { kind: "kubernetes", location: "https://192.0.2.1:6443", problems: [], watches: [] },
    pools: 0,
    services: { known: 0, allocated: 0, pending: 0 },
  }),
  readPools: () => POOLS,
  readAddresses: () => POOLS,
  readService: (namespace, name) => ({
    namespace,
    name,
    allocated: false,
    addresses: [],
    reason: "NoPools",
    message: "m",
    isPending: false,
    pools: [],
  }),
  readPending: () => POOLS,
  readImpact: () => ({ moves: [] }),
  readiness: () => ({ ok: true, sentences: ["ready"] }),
};

interface Served {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

describe("the controller's HTTP", () => {
  const app = createAllocatorServer(FACES, LOG);
  const probes = createProbeServer(FACES, LOG);
  after(async () => {
    await app.close();
    await probes.close();
  });

  it("describes itself as OpenAPI's own schema has it, with metrics and without", async () => {
    for (const servesMetrics of [true, false]) {
      const document = JSON.parse(JSON.stringify(allocatorOpenApi("1.2.3", servesMetrics))) as object;
      const { valid, errors } = await new Validator().validate(document as Record<string, unknown>);
      expect(valid, JSON.stringify(errors)).to.equal(true);
    }
  });

  it("serves what it describes, and no metrics where they are served elsewhere", async () => {
    const { paths } = (await app.inject({ url: "/openapi.json" })).json<Served>();
    for (const [path, methods] of Object.entries(paths)) {
      for (const method of Object.keys(methods)) {
        const url = path.replaceAll(/\{\w+\}/g, "x");
        const answer = await app.inject({ method: method as "GET", url, ...(method === "post" ? { body: "{}" } : {}) });
        expect(answer.statusCode, `${method} ${path}`).to.equal(200);
      }
    }
    expect(Object.keys(paths)).to.include("/status").and.to.not.include("/metrics");
    expect((await app.inject({ url: "/metrics" })).statusCode).to.equal(404);
  });

  it("shows to the kubelet whether it is ready, and to everybody else there nothing", async () => {
    expect((await probes.inject({ url: "/healthz" })).body).to.equal("ok\n");
    expect((await probes.inject({ url: "/readyz" })).body).to.equal("ready\n");
    for (const url of ["/status", "/pools", "/pending", "/metrics", "/openapi.json", "/services/default/web"]) {
      expect((await probes.inject({ url })).statusCode, url).to.equal(404);
    }
  });
});
