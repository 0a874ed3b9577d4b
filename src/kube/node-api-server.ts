/**
 * The API server over Node's own http and https. From client-node come the kubeconfig, authentication and TLS options; it is
 * loaded when a server is first opened, because it is large and a speaker that reads files needs none of it.
 */
import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest, type RequestOptions } from "node:https";
import type { TLSSocket } from "node:tls";
import { ArpeggioError } from "../base/errors.ts";
import type { ApiAnswer, ApiRequest, EndableApiServer, StreamListener } from "./api-server.ts";
import { type Credentials, loadCredentials } from "./credentials.ts";
import { type Exchange, openExchange } from "./exchange.ts";

export interface ApiServerOptions {
  /** A kubeconfig file. Absent: the ServiceAccount of the pod that this runs in. */
  readonly kubeconfig?: string;
  /** What the server's audit log shows. */
  readonly userAgent?: string;
}

/** From the request to the end of a single answer. */
const ANSWER_LIMIT_MS = 10_000;
/** Until the head of a stream is there: a busy server may take long for a page. */
const HEAD_LIMIT_MS = 30_000;
/** An idle connection is closed before the server does (kube-apiserver: 90 s), so that no request meets a closed one. */
const IDLE_LIMIT_MS = 30_000;
/** Of a single answer: an object has at most 1.5 MB (etcd's limit), and lists are streamed. */
const MAX_ANSWER_BYTES = 16 * 1_024 * 1_024;

/** Rejects with `ERR_CONFIG_INVALID` when there is no readable configuration. No connection is made yet. */
export async function openApiServer(options: ApiServerOptions = {}): Promise<EndableApiServer> {
  const { kubeconfig, userAgent = "arpeggio" } = options;
  return new NodeApiServer(await loadCredentials(kubeconfig), userAgent);
}

class NodeApiServer implements EndableApiServer {
  readonly url: string;
  readonly #base: URL;
  readonly #userAgent: string;
  readonly #credentials: Credentials;
  readonly #agent: HttpAgent | HttpsAgent;
  readonly #exchanges = new Set<Exchange>();
  #isClosed = false;

  constructor(credentials: Credentials, userAgent: string) {
    this.#credentials = credentials;
    this.#userAgent = userAgent;
    this.url = credentials.server;
    this.#base = new URL(credentials.server);
    const options = { keepAlive: true, keepAliveMsecs: IDLE_LIMIT_MS, timeout: IDLE_LIMIT_MS };
    this.#agent = this.#base.protocol === "http:" ? new HttpAgent(options) : new HttpsAgent(options);
  }

  request(request: ApiRequest): Promise<ApiAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<ApiAnswer>();
    const parts: Uint8Array[] = [];
    let bytes = 0;
    let head: { readonly status: number; readonly retryAfterSeconds?: number } | undefined;
    let isWithheld = false;
    const { mayBegin, limitMs = ANSWER_LIMIT_MS } = request;
    const guarded =
      mayBegin === undefined
        ? request
        : {
            ...request,
            mayBegin: () => {
              isWithheld = !mayBegin();
              return !isWithheld;
            },
          };
    const exchange = this.#open(guarded, limitMs, {
      opened: (status, retryAfterSeconds) => {
        head = { status, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
      },
      data: (part) => {
        parts.push(part);
        bytes += part.length;
        if (bytes > MAX_ANSWER_BYTES) exchange.fail(`answer of more than ${MAX_ANSWER_BYTES} bytes`);
      },
      ended: (error) => {
        if (isWithheld) reject(withheld(request));
        else if (head === undefined || error !== undefined) reject(this.#unreachable(request, error ?? "no answer"));
        else resolve({ ...head, body: parsedJson(Buffer.concat(parts).toString("utf8")) });
      },
    });
    exchange.limit(limitMs);
    return promise;
  }

  stream(request: ApiRequest, listener: StreamListener): () => void {
    const exchange = this.#open(request, HEAD_LIMIT_MS, listener);
    return () => exchange.cancel();
  }

  refreshCredentials(): void {
    this.#credentials.refresh();
  }

  endConnections(): void {
    for (const exchange of this.#exchanges) exchange.fail("the connection was ended");
    this.#agent.destroy();
  }

  close(): void {
    this.#isClosed = true;
    for (const exchange of this.#exchanges) exchange.fail("closed");
    this.#agent.destroy();
  }

  #open(request: ApiRequest, headLimitMs: number, listener: StreamListener): Exchange {
    const exchange = openExchange({
      begin: (onAnswer) => this.#begin(request, onAnswer),
      isRepeatable: request.method === "GET",
      headLimitMs,
      listener,
      onEnd: (hasStalled) => {
        this.#exchanges.delete(exchange);
        if (hasStalled) this.#dropIdleConnections();
      },
    });
    this.#exchanges.add(exchange);
    return exchange;
  }

  async #begin(request: ApiRequest, onAnswer: (answer: IncomingMessage) => void) {
    if (this.#isClosed) throw new Error("closed");
    const { method, path, query = {}, contentType = "application/json", accept = "application/json" } = request;
    const url = new URL(this.#base);
    url.pathname = `${this.#base.pathname.replace(/\/$/, "")}${path}`;
    url.search = new URLSearchParams(query).toString();
    const { headers, agent, ...rest } = await this.#credentials.requestOptions();
    const body = request.body === undefined ? undefined : Buffer.from(JSON.stringify(request.body));
    const options: RequestOptions = {
      ...rest,
      method,
      agent: agent ?? this.#agent,
      headers: {
        ...headers,
        Accept: accept,
        "User-Agent": this.#userAgent,
        ...(body === undefined ? {} : { "Content-Type": contentType, "Content-Length": body.length }),
      },
    };
    const sent = (url.protocol === "http:" ? httpRequest : httpsRequest)(url, options, onAnswer);
    if (request.mayBegin === undefined) sent.end(body);
    else endWhenConnected(sent, body, request.mayBegin);
    return sent;
  }

  /** One connection gave no answer in time: those beside it may hang as well, and each would cost its own limit. */
  #dropIdleConnections(): void {
    for (const sockets of Object.values(this.#agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
  }

  #unreachable({ method, path }: ApiRequest, why: string): ArpeggioError {
    return new ArpeggioError("ERR_API_UNREACHABLE", `${method} ${this.url}${path}: ${why}`);
  }
}

/** Headers and body go to a connection that is whole, in one turn with the question: neither TCP nor TLS can hold them up. */
function endWhenConnected(sent: ClientRequest, body: Uint8Array | undefined, mayBegin: () => boolean): void {
  const send = (): void => {
    if (mayBegin()) sent.end(body);
    else sent.destroy(new Error("not sent"));
  };
  sent.once("socket", (socket) => {
    const isTls = "encrypted" in socket;
    const isConnecting =
      socket.connecting || (isTls && (socket as TLSSocket & { secureConnecting?: boolean }).secureConnecting === true);
    if (isConnecting) socket.once(isTls ? "secureConnect" : "connect", send);
    else send();
  });
}

function withheld({ method, path }: ApiRequest): ArpeggioError {
  return new ArpeggioError("ERR_API_WITHHELD", `${method} ${path}: not sent, because it may not be any more`);
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
