import { Validator } from "@seriousme/openapi-schema-validator";
import { expect } from "chai";
import { createLog } from "../../src/base/log.ts";
import { openApiDocument } from "../../src/http/openapi.ts";
import { createHttpServer } from "../../src/http/server.ts";
import { ADDRESS, STATUS } from "./example-documents.ts";

interface Served {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

describe("/openapi.json", () => {
  const log = createLog("none", () => undefined, Date.now);
  const app = createHttpServer(
    {
      version: "1.2.3",
      readStatus: () => STATUS,
      readAddress: () => ADDRESS,
      health: () => ({ ok: true, sentence: "ok" }),
      readiness: () => ({ ok: true, sentences: ["ready"] }),
      setStepDown: () => undefined,
    },
    log,
  );
  after(() => app.close());

  it("is OpenAPI as its own schema has it, with metrics and without", async () => {
    for (const servesMetrics of [true, false]) {
      const document = JSON.parse(JSON.stringify(openApiDocument("1.2.3", servesMetrics))) as object;
      const { valid, errors } = await new Validator().validate(document as Record<string, unknown>);
      expect(valid, JSON.stringify(errors)).to.equal(true);
    }
  });

  it("names what is served, and nothing else", async () => {
    const answer = await app.inject({ url: "/openapi.json" });
    expect(answer.headers["content-type"]).to.match(/^application\/json/);
    const { paths } = answer.json<Served>();
    for (const [path, methods] of Object.entries(paths)) {
      for (const method of Object.keys(methods)) {
        const url = path.replace("{ip}", "192.0.2.100");
        expect((await app.inject({ method: method as "GET", url })).statusCode, `${method} ${path}`).to.equal(200);
      }
    }
    expect(Object.keys(paths)).to.not.include("/metrics");
    expect((await app.inject({ url: "/metrics" })).statusCode).to.equal(404);
  });
});
