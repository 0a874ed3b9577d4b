/** `/metrics` and nothing else: over HTTPS for whoever may read them, or plainly where the user asks for that (DESIGN D17). */
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createHttpsServer, type Server as HttpsServer } from "node:https";
import type { Socket } from "node:net";
import type { AccessVerdict } from "../base/access.ts";
import { ArpeggioError, errnoOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Ip } from "../net/ip.ts";
import { within } from "./deadline.ts";
import { divertPlain } from "./first-byte.ts";
import type { Certificate } from "./self-signed.ts";

/** Says who may read a path. Never rejects. */
export interface Authorizer {
  decide(token: string): Promise<AccessVerdict>;
}

export interface TlsSettings {
  readonly minVersion: "TLSv1.2" | "TLSv1.3";
  /** OpenSSL's names, for TLS 1.2; absent: Node's. */
  readonly ciphers?: string;
  /** OpenSSL's names of key exchange groups, best first; absent: Node's. */
  readonly groups?: string;
}

export interface MetricsPorts {
  /** Prometheus' text format. */
  readonly metrics: () => Promise<string>;
  readonly log: Log;
}

export interface ListenAt {
  readonly ip: Ip;
  /** 0: the kernel chooses. */
  readonly port: number;
}

export interface MetricsServer {
  readonly port: number;
  close(): Promise<void>;
}

export interface HttpsMetricsServer extends MetricsServer {
  /** For connections from now on. @throws what OpenSSL says when the two do not fit; the old one stands then */
  setCertificate(certificate: Certificate): void;
}

const PATH = "/metrics";
/** Prometheus' text exposition format */
const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";
const DEADLINE_MS = 2_000;
/** Of each of the steps before a request is read: strangers cannot hold a connection without asking for something. */
const PATIENCE_MS = 5_000;
/** Of a scraper between two scrapes; strangers are sent away after each answer. */
const KEEP_ALIVE_MS = 75_000;
/** The port is open to the whole network. */
const MAX_CONNECTIONS = 128;
/** Without them in its list Node does not speak TLS 1.3. */
const TLS13_CIPHERS = "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256";
const PLAIN_ANSWER = answerText(400, "Bad Request", "this port speaks HTTPS\n");

/** Listens. @throws ERR_LISTEN with a sentence; ERR_CONFIG_INVALID when certificate or TLS settings do not fit */
export async function openMetricsServer(
  ports: MetricsPorts & { readonly authorizer: Authorizer },
  listen: ListenAt,
  certificate: Certificate,
  tls: TlsSettings,
): Promise<HttpsMetricsServer> {
  const context = ({ cert, key }: Certificate) => ({
    cert,
    key,
    minVersion: tls.minVersion,
    ...(tls.ciphers === undefined ? {} : { ciphers: `${TLS13_CIPHERS}:${tls.ciphers}` }),
    ...(tls.groups === undefined ? {} : { ecdhCurve: tls.groups }),
  });
  const server = httpsServer({ ...context(certificate), handshakeTimeout: PATIENCE_MS }, async (request, response) => {
    const refusal = await refusalOf(request, ports.authorizer);
    if (refusal === undefined) await sendMetrics(response, ports);
    else send(response, refusal);
  });
  divertPlain(server, PATIENCE_MS, (socket) => refusePlain(socket));
  // A handshake that fails is the client's matter.
  server.on("tlsClientError", (_error, socket) => void socket.destroy());
  const open = await listenOrThrow(server, listen, "HTTPS metrics");
  return { ...open, setCertificate: (next) => server.setSecureContext(context(next)) };
}

/** Listens, for everybody who reaches the address. @throws ERR_LISTEN with a sentence */
export async function openPlainMetricsServer(ports: MetricsPorts, listen: ListenAt): Promise<MetricsServer> {
  const server = createServer(
    guarded(async (request, response) => {
      const refusal = wrongRequest(request);
      if (refusal === undefined) await sendMetrics(response, ports);
      else send(response, refusal);
    }),
  );
  return listenOrThrow(server, listen, "plain metrics");
}

function httpsServer(
  options: Parameters<typeof createHttpsServer>[0],
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): HttpsServer {
  try {
    return createHttpsServer(options, guarded(handle));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ArpeggioError("ERR_CONFIG_INVALID", `HTTPS metrics cannot be offered: ${why}`, { cause });
  }
}

/** No request of a stranger may end the process. */
function guarded(handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>): RequestListener {
  return (request, response) => {
    request.resume();
    handle(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else send(response, { status: 500, sentence: error instanceof Error ? error.message : String(error) });
    });
  };
}

async function listenOrThrow(
  server: Server | HttpsServer,
  { ip, port }: ListenAt,
  what: string,
): Promise<MetricsServer> {
  server.headersTimeout = PATIENCE_MS;
  server.requestTimeout = PATIENCE_MS;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.maxConnections = MAX_CONNECTIONS;
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  server.once("error", reject);
  server.listen({ host: ip, port }, () => resolve(undefined));
  try {
    await promise;
  } catch (cause) {
    const message = `${what} cannot listen on ${ip} port ${port}: ${errnoOf(cause)}`;
    throw new ArpeggioError("ERR_LISTEN", message, { cause });
  }
  const bound = server.address();
  return {
    port: typeof bound === "object" && bound !== null ? bound.port : port,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

interface Refusal {
  readonly status: number;
  readonly sentence: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function wrongRequest({ method, url = "" }: IncomingMessage): Refusal | undefined {
  if (url.replace(/\?.*$/s, "") !== PATH) return { status: 404, sentence: `there is only ${PATH} here` };
  if (method === "GET" || method === "HEAD") return undefined;
  return { status: 405, sentence: `${PATH} is read with GET`, headers: { allow: "GET, HEAD" } };
}

async function refusalOf(request: IncomingMessage, authorizer: Authorizer): Promise<Refusal | undefined> {
  const wrong = wrongRequest(request);
  if (wrong !== undefined) return wrong;
  // RFC 6750 §2.1
  const token = /^Bearer +([\w.~+/-]+=*)$/i.exec(request.headers.authorization ?? "")?.[1];
  const verdict = token === undefined ? ({ kind: "unauthenticated" } as const) : await authorizer.decide(token);
  return verdict.kind === "allowed" ? undefined : refusalFor(verdict);
}

function refusalFor(verdict: Exclude<AccessVerdict, { readonly kind: "allowed" }>): Refusal {
  if (verdict.kind === "forbidden") return { status: 403, sentence: `${verdict.user} may not get ${PATH}` };
  if (verdict.kind === "unknown") {
    return { status: 503, sentence: verdict.sentence, headers: { "retry-after": "1" } };
  }
  const headers = { "www-authenticate": 'Bearer realm="arpeggio"' };
  return { status: 401, sentence: "a token that the cluster knows is needed", headers };
}

async function sendMetrics(response: ServerResponse, { metrics, log }: MetricsPorts): Promise<void> {
  try {
    const text = await within(DEADLINE_MS, metrics());
    response.writeHead(200, { "content-type": METRICS_TYPE, "cache-control": "no-store" }).end(text);
  } catch (error) {
    log.error("request failed", { code: errnoOf(error), path: PATH });
    throw error;
  }
}

function send(response: ServerResponse, { status, sentence, headers = {} }: Refusal): void {
  const fixed = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store", connection: "close" };
  response.writeHead(status, { ...fixed, ...headers }).end(`${sentence}\n`);
}

function refusePlain(socket: Socket): void {
  // What the client still sends is read and dropped: an answer must not be lost to a reset.
  socket.setTimeout(PATIENCE_MS, () => socket.destroy());
  socket.on("error", () => socket.destroy());
  socket.resume();
  socket.end(PLAIN_ANSWER);
}

function answerText(status: number, reason: string, body: string): string {
  const head = `HTTP/1.1 ${status} ${reason}\r\nContent-Type: text/plain; charset=utf-8\r\n`;
  return `${head}Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`;
}
