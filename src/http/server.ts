/** The HTTP face of one speaker (DESIGN D17). It reads and shows; the only order it takes is to step down, from this host alone. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type AddressDocument, AddressSchema } from "../../api/address.ts";
import type { StatusDocument } from "../../api/status.ts";
import type { Log } from "../base/log.ts";
import { type Ip, parseIp } from "../net/ip.ts";
import { formatAddress } from "./address-text.ts";
import { createApp, type HttpServer, objectionTo, openListener } from "./app.ts";
import { within } from "./deadline.ts";
import { compileCheck } from "./document-check.ts";
import { inTurns } from "./in-turns.ts";
import { prefersJson } from "./negotiation.ts";
import { openApiDocument } from "./openapi.ts";
import { JSON_TYPE, METRICS_TYPE, sendDocument, sendProblem, sendText } from "./replies.ts";
import { createStatusCheck, jsonParts } from "./status-parts.ts";
import { formatStatusParts } from "./status-text.ts";

/** What the speaker shows, asked for at each request. */
export interface Faces {
  readonly version: string;
  readStatus(): StatusDocument | Promise<StatusDocument>;
  /** undefined: no Service has this address. */
  readAddress(ip: Ip): AddressDocument | undefined | Promise<AddressDocument | undefined>;
  /** Whether the process is worth keeping. */
  health(): { readonly ok: boolean; readonly sentence: string };
  /** Whether the node may lead; the sentences say which part is not ready. */
  readiness(): { readonly ok: boolean; readonly sentences: readonly string[] };
  /** Prometheus' text format; absent: it is served elsewhere. */
  metrics?(): Promise<string>;
  /** true: step down until further notice; false: no longer. */
  setStepDown(isWanted: boolean): void | Promise<void>;
}

/** As long as the wire thread may stand before /healthz fails (DESIGN D16). */
const DEADLINE_MS = 2_000;
/** No request needs a body. */
const BODY_LIMIT_BYTES = 1_024;

/** Listens; port 0 lets the kernel choose. Throws ERR_LISTEN with a sentence. */
export async function openHttpServer(
  faces: Faces,
  listen: { readonly ip: Ip; readonly port: number },
  log: Log,
): Promise<HttpServer> {
  return openListener(createHttpServer(faces, log), listen);
}

/** The routes, not listening yet. */
export function createHttpServer(faces: Faces, log: Log, deadlineMs = DEADLINE_MS): FastifyInstance {
  const app = createApp(log, BODY_LIMIT_BYTES);
  // Whatever body a client sends with an order is read and ignored.
  app.addContentTypeParser("*", { parseAs: "string" }, (_request, _body, done) => done(null));
  addStatusRoutes(app, faces, deadlineMs);
  addProbeRoutes(app, faces, deadlineMs);
  addStepDownRoutes(app, faces);
  return app;
}

function addStatusRoutes(app: FastifyInstance, faces: Faces, deadlineMs: number): void {
  const checkStatus = createStatusCheck();
  const checkAddress = compileCheck("address", AddressSchema);

  app.get("/status", async (request, reply) => {
    const status = await within(deadlineMs, faces.readStatus());
    await inTurns(checkStatus(status));
    if (!prefersJson(request.headers.accept)) return sendText(reply, await inTurns(formatStatusParts(status)));
    return reply.type(JSON_TYPE).send(await inTurns(jsonParts(status)));
  });

  app.get<{ Params: { ip: string } }>("/status/addresses/:ip", async (request, reply) => {
    const text = request.params.ip;
    const ip = parseIp(text);
    if (ip === undefined) return sendProblem(request, reply, 400, `"${text}" is no IP address`);
    const document = await within(deadlineMs, faces.readAddress(ip));
    if (document === undefined) return sendProblem(request, reply, 404, `no Service has the address ${ip}`);
    checkAddress(document);
    return sendDocument(request, reply, document, formatAddress);
  });
}

function addProbeRoutes(app: FastifyInstance, faces: Faces, deadlineMs: number): void {
  app.get("/healthz", async (_request, reply) => {
    const { ok, sentence } = faces.health();
    return sendText(reply.code(ok ? 200 : 503), `${sentence}\n`);
  });
  app.get("/readyz", async (_request, reply) => {
    const { ok, sentences } = faces.readiness();
    return sendText(reply.code(ok ? 200 : 503), sentences.map((sentence) => `${sentence}\n`).join(""));
  });
  const metrics = faces.metrics?.bind(faces);
  if (metrics !== undefined) {
    app.get("/metrics", async (_request, reply) => reply.type(METRICS_TYPE).send(await within(deadlineMs, metrics())));
  }
  const openApi = `${JSON.stringify(openApiDocument(faces.version, metrics !== undefined))}\n`;
  app.get("/openapi.json", async (_request, reply) => reply.type(JSON_TYPE).send(openApi));
}

function addStepDownRoutes(app: FastifyInstance, faces: Faces): void {
  const order = (isWanted: boolean, sentence: string) => async (request: FastifyRequest, reply: FastifyReply) => {
    const objection = objectionTo(request);
    if (objection !== undefined) return sendProblem(request, reply, 403, objection);
    await faces.setStepDown(isWanted);
    return sendDocument(request, reply, { isSteppingDown: isWanted }, () => `${sentence}\n`);
  };
  app.post(
    "/step-down",
    order(true, "stepping down: addresses move to nodes that can take them; DELETE /step-down ends it"),
  );
  app.delete("/step-down", order(false, "no longer stepping down"));
}
