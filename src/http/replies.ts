/** What is sent: a document as JSON or as text, or what is wrong, with a stable code. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { errnoOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { prefersJson } from "./negotiation.ts";
import { printable } from "./table.ts";

const TEXT = "text/plain; charset=utf-8";
export const JSON_TYPE = "application/json; charset=utf-8";
/** Prometheus' text exposition format */
export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";
const CLIENT_FAULTS = { 400: "ERR_HTTP_BAD_REQUEST", 403: "ERR_HTTP_FORBIDDEN", 404: "ERR_HTTP_NOT_FOUND" } as const;
type ClientFault = keyof typeof CLIENT_FAULTS;

export function sendDocument<Document>(
  request: FastifyRequest,
  reply: FastifyReply,
  document: Document,
  format: (document: Document) => string,
): FastifyReply {
  if (prefersJson(request.headers.accept)) return reply.type(JSON_TYPE).send(`${JSON.stringify(document)}\n`);
  return sendText(reply, format(document));
}

export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply, log: Log): FastifyReply {
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

export function sendProblem(
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

export function sendText(reply: FastifyReply, text: string): FastifyReply {
  return reply.type(TEXT).send(text);
}
