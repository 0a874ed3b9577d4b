/** The HTTP face of the controller (DESIGN D17): what it knows and has decided, as JSON. It takes no orders. */
import type { FastifyInstance, FastifyReply } from "fastify";
import type { Static, TSchema } from "typebox";
import {
  type AllocationDocument,
  AllocationSchema,
  type ControllerStatusDocument,
  ControllerStatusSchema,
  type ImpactDocument,
  ImpactSchema,
  type PendingDocument,
  PendingSchema,
  type PoolAddressesDocument,
  PoolAddressesSchema,
  type PoolsDocument,
  PoolsSchema,
} from "../../api/allocator.ts";
import type { Immutable } from "../../api/status.ts";
import type { Log } from "../base/log.ts";
import { type Ip, parseIp } from "../net/ip.ts";
import { allocatorOpenApi } from "./allocator-openapi.ts";
import { createApp, objectionTo } from "./app.ts";
import { compileCheck } from "./document-check.ts";
import { JSON_TYPE, METRICS_TYPE, sendProblem, sendText } from "./replies.ts";

/** What the controller shows, asked for at each request. Undefined: there is no such thing, or nothing is decided yet. */
export interface AllocatorFaces {
  readonly version: string;
  readStatus(): ControllerStatusDocument;
  readPools(): PoolsDocument;
  /** Addresses after `after`, at most `limit`. */
  readAddresses(pool: string, limit: number, after: Ip | undefined): PoolAddressesDocument | undefined;
  readService(namespace: string, name: string): AllocationDocument | undefined;
  readPending(): PendingDocument;
  /** `text`: a manifest of a pool, YAML or JSON; a sentence when it is none. */
  readImpact(text: string): ImpactDocument | string;
  readiness(): { readonly ok: boolean; readonly sentences: readonly string[] };
  /** Prometheus' text format; absent: it is served elsewhere. */
  metrics?(): Promise<string>;
}

/** Of `POST /pools/impact`. */
const BODY_LIMIT_BYTES = 1024 * 1024;
const NO_BODY_BYTES = 1_024;
const DEFAULT_LIMIT = 500;
const MAX_LIMIT = 10_000;

/** For the kubelet, which asks from outside: nothing else is shown there. Not listening yet. */
export function createProbeServer(faces: Pick<AllocatorFaces, "readiness">, log: Log): FastifyInstance {
  const app = createApp(log, NO_BODY_BYTES);
  addProbeRoutes(app, faces);
  return app;
}

/** The routes, not listening yet. */
export function createAllocatorServer(faces: AllocatorFaces, log: Log): FastifyInstance {
  const app = createApp(log, BODY_LIMIT_BYTES);
  app.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) => done(null, body));
  addProbeRoutes(app, faces);
  addMetricsRoute(app, faces);
  addDocumentRoutes(app, faces);
  addImpactRoute(app, faces);
  const openApi = `${JSON.stringify(allocatorOpenApi(faces.version, faces.metrics !== undefined))}\n`;
  app.get("/openapi.json", async (_request, reply) => reply.type(JSON_TYPE).send(openApi));
  return app;
}

function addMetricsRoute(app: FastifyInstance, faces: AllocatorFaces): void {
  const metrics = faces.metrics?.bind(faces);
  if (metrics === undefined) return;
  app.get("/metrics", async (_request, reply) => reply.type(METRICS_TYPE).send(await metrics()));
}

function addProbeRoutes(app: FastifyInstance, faces: Pick<AllocatorFaces, "readiness">): void {
  app.get("/healthz", async (_request, reply) => sendText(reply, "ok\n"));
  app.get("/readyz", async (_request, reply) => {
    const { ok, sentences } = faces.readiness();
    return sendText(reply.code(ok ? 200 : 503), sentences.map((sentence) => `${sentence}\n`).join(""));
  });
}

function addDocumentRoutes(app: FastifyInstance, faces: AllocatorFaces): void {
  const status = sender("status", ControllerStatusSchema);
  const pools = sender("pools", PoolsSchema);
  const addresses = sender("addresses", PoolAddressesSchema);
  const allocation = sender("service", AllocationSchema);
  const pending = sender("pending", PendingSchema);

  app.get("/status", async (_request, reply) => status(reply, faces.readStatus()));
  app.get("/pools", async (_request, reply) => pools(reply, faces.readPools()));
  app.get("/pending", async (_request, reply) => pending(reply, faces.readPending()));
  app.get<{ Params: { name: string }; Querystring: Record<string, unknown> }>(
    "/pools/:name/addresses",
    async (request, reply) => {
      const { limit = String(DEFAULT_LIMIT), continue: from } = request.query;
      const count = typeof limit === "string" && /^\d{1,5}$/.test(limit) ? Number(limit) : 0;
      if (count < 1 || count > MAX_LIMIT)
        return sendProblem(request, reply, 400, `limit must be a number from 1 to ${MAX_LIMIT}`);
      const after = typeof from === "string" ? parseIp(from) : undefined;
      if (from !== undefined && after === undefined)
        return sendProblem(request, reply, 400, "continue must be the value that the last answer gave");
      const { name } = request.params;
      const document = faces.readAddresses(name, count, after);
      if (document === undefined) return sendProblem(request, reply, 404, `there is no IPAddressPool ${name}`);
      return addresses(reply, document);
    },
  );
  app.get<{ Params: { namespace: string; name: string } }>("/services/:namespace/:name", async (request, reply) => {
    const { namespace, name } = request.params;
    const document = faces.readService(namespace, name);
    if (document === undefined) return sendProblem(request, reply, 404, `there is no Service ${namespace}/${name}`);
    return allocation(reply, document);
  });
}

function addImpactRoute(app: FastifyInstance, faces: AllocatorFaces): void {
  const impact = sender("impact", ImpactSchema);
  app.post("/pools/impact", async (request, reply) => {
    const objection = objectionTo(request);
    if (objection !== undefined) return sendProblem(request, reply, 403, objection);
    const document = faces.readImpact(typeof request.body === "string" ? request.body : "");
    if (typeof document === "string") return sendProblem(request, reply, 400, document);
    return impact(reply, document);
  });
}

/** Checks a document against its schema, and sends it. */
function sender<Schema extends TSchema>(
  name: string,
  schema: Schema,
): (reply: FastifyReply, document: Immutable<Static<Schema>>) => FastifyReply {
  const check = compileCheck(name, schema);
  return (reply, document) => {
    check(document);
    return reply.type(JSON_TYPE).send(`${JSON.stringify(document)}\n`);
  };
}
