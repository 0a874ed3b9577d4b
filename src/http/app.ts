/** What every HTTP face of ours has in common: how it listens, and what it answers when something is wrong. */
import Fastify, { type FastifyInstance, type FastifyRequest } from "fastify";
import { ArpeggioError, errnoOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { type Ip, parseIp } from "../net/ip.ts";
import { sendError, sendProblem } from "./replies.ts";

export interface HttpServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Without routes and without parsers of bodies. */
export function createApp(log: Log, bodyLimitBytes: number): FastifyInstance {
  const app = Fastify({
    bodyLimit: bodyLimitBytes,
    // A watcher that holds its connection open must not hold the shutdown.
    forceCloseConnections: true,
    frameworkErrors: (_error, request, reply) => {
      void sendProblem(request, reply, 400, "the URL is not valid");
    },
  });
  app.removeAllContentTypeParsers();
  app.setNotFoundHandler((request, reply) => sendProblem(request, reply, 404, `there is no ${request.url} here`));
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply, log));
  app.addHook("onSend", async (_request, reply) => {
    reply.header("cache-control", "no-store").header("vary", "accept");
  });
  return app;
}

/** Listens; port 0 lets the kernel choose. Throws ERR_LISTEN with a sentence. */
export async function openListener(
  app: FastifyInstance,
  listen: { readonly ip: Ip; readonly port: number },
): Promise<HttpServer> {
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

/** Orders come from this host, wherever the server listens, and not from a web page that a browser of this host shows. */
export function objectionTo(request: FastifyRequest): string | undefined {
  const from = parseIp(request.socket.remoteAddress ?? "");
  const isLoopback = from !== undefined && (from === "::1" || from.startsWith("127."));
  if (!isLoopback) return "orders are taken from this host's loopback address only";
  return request.headers.origin === undefined ? undefined : "orders are not taken from web pages";
}
