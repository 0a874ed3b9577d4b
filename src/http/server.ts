/** The HTTP face of one speaker (DESIGN D17). It reads and shows; the only order it takes is to step down, from this host alone. */
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { type AddressDocument, AddressSchema } from "../../api/address.ts";
import { type StatusDocument, StatusSchema } from "../../api/status.ts";
import { ArpeggioError, errnoOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { type Ip, parseIp } from "../net/ip.ts";
import { formatAddress } from "./address-text.ts";
import { within } from "./deadline.ts";
import { compileCheck } from "./document-check.ts";
import { prefersJson } from "./negotiation.ts";
import { openApiDocument } from "./openapi.ts";
import { formatStatus } from "./status-text.ts";
import { printable } from "./table.ts";

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

export interface HttpServer {
  readonly port: number;
  close(): Promise<void>;
}

const TEXT = "text/plain; charset=utf-8";
const JSON_TYPE = "application/json; charset=utf-8";
/** Prometheus' text exposition format */
const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";
const CLIENT_FAULTS = { 400: "ERR_HTTP_BAD_REQUEST", 403: "ERR_HTTP_FORBIDDEN", 404: "ERR_HTTP_NOT_FOUND" } as const;
type ClientFault = keyof typeof CLIENT_FAULTS;
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
  const app = createHttpServer(faces, log);
  try {
    await app.listen({ host: listen.ip, port: listen.port });
  } catch (cause) {
    await app.close();
    const message = `HTTP cannot listen on ${listen.ip} port ${listen.port}: ${errnoOf(cause)}`;
    throw new ArpeggioError("ERR_LISTEN", message, { cause });
  }
  const bound = app.server.address();
  const port = typeof bound === "object" && bound !== null ? bound.port : listen.port;
  return { port, close: () => app.close() };
}

/** The routes, not listening yet. */
export function createHttpServer(faces: Faces, log: Log, deadlineMs = DEADLINE_MS): FastifyInstance {
  const app = Fastify({
    bodyLimit: BODY_LIMIT_BYTES,
    // A watcher that holds its connection open must not hold the shutdown.
    forceCloseConnections: true,
    frameworkErrors: (_error, request, reply) => {
      void sendProblem(request, reply, 400, "the URL is not valid");
    },
  });
  // Whatever body a client sends with an order is read and ignored.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "string" }, (_request, _body, done) => done(null));
  app.setNotFoundHandler((request, reply) => sendProblem(request, reply, 404, `there is no ${request.url} here`));
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply, log));
  app.addHook("onSend", async (_request, reply) => {
    reply.header("cache-control", "no-store").header("vary", "accept");
  });
  addStatusRoutes(app, faces, deadlineMs);
  addProbeRoutes(app, faces, deadlineMs);
  addStepDownRoutes(app, faces);
  return app;
}

function addStatusRoutes(app: FastifyInstance, faces: Faces, deadlineMs: number): void {
  const checkStatus = compileCheck("status", StatusSchema);
  const checkAddress = compileCheck("address", AddressSchema);

  app.get("/status", async (request, reply) => {
    const status = await within(deadlineMs, faces.readStatus());
    checkStatus(status);
    return sendDocument(request, reply, status, formatStatus);
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

/** Orders come from this host, wherever the server listens, and not from a web page that a browser of this host shows. */
function objectionTo(request: FastifyRequest): string | undefined {
  const from = parseIp(request.socket.remoteAddress ?? "");
  const isLoopback = from !== undefined && (from === "::1" || from.startsWith("127."));
  if (!isLoopback) return "orders are taken from this host's loopback address only";
  return request.headers.origin === undefined ? undefined : "orders are not taken from web pages";
}

function sendDocument<Document>(
  request: FastifyRequest,
  reply: FastifyReply,
  document: Document,
  format: (document: Document) => string,
): FastifyReply {
  if (prefersJson(request.headers.accept)) return reply.type(JSON_TYPE).send(`${JSON.stringify(document)}\n`);
  return sendText(reply, format(document));
}

function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply, log: Log): FastifyReply {
  if (isClientsFault(error)) return sendProblem(request, reply, 400, "the request is not valid");
  const code = errnoOf(error);
  const sentence = error instanceof Error ? error.message : String(error);
  log.error("request failed", { code, path: request.url, problem: sentence });
  return sendFault(request, reply, 500, code, sentence);
}

/** Fastify marks what the client did wrong with a status of 4xx. */
function isClientsFault(error: unknown): boolean {
  if (typeof error !== "object" || error === null || !("statusCode" in error)) return false;
  return typeof error.statusCode === "number" && error.statusCode < 500;
}

function sendProblem(
  request: FastifyRequest,
  reply: FastifyReply,
  status: ClientFault,
  sentence: string,
): FastifyReply {
  return sendFault(request, reply, status, CLIENT_FAULTS[status], sentence);
}

function sendFault(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  code: string,
  sentence: string,
): FastifyReply {
  return sendDocument(
    request,
    reply.code(status),
    { code, sentence },
    () => `${printable(sentence)}
`,
  );
}

function sendText(reply: FastifyReply, text: string): FastifyReply {
  return reply.type(TEXT).send(text);
}
