/** One request and its answer: limits on time, one silent repetition over a connection that had died idle, and one end. */
import type { ClientRequest, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { StreamListener } from "./api-server.ts";

/** Until TCP and TLS are set up. */
const CONNECT_LIMIT_MS = 5_000;

export interface ExchangeOptions {
  readonly begin: (onAnswer: (answer: IncomingMessage) => void) => Promise<ClientRequest>;
  /** It changes nothing, so it may be sent twice. */
  readonly isRepeatable: boolean;
  readonly headLimitMs: number;
  readonly listener: StreamListener;
  /** After the end, however it came. `hasStalled`: because a limit had passed. */
  readonly onEnd: (hasStalled: boolean) => void;
}

export interface Exchange {
  /** From now to the end of the answer. */
  limit(limitMs: number): void;
  /** Ends it without a word to the listener. */
  cancel(): void;
  /** Ends it with an error. */
  fail(why: string): void;
}

export function openExchange(options: ExchangeOptions): Exchange {
  const exchange = new OpenExchange(options);
  exchange.begin();
  return exchange;
}

class OpenExchange implements Exchange {
  readonly #options: ExchangeOptions;
  #request: ClientRequest | undefined;
  #hasAnswer = false;
  #hasRepeated = false;
  #isEnded = false;
  readonly #timers: { connect?: NodeJS.Timeout; head?: NodeJS.Timeout; whole?: NodeJS.Timeout } = {};

  constructor(options: ExchangeOptions) {
    this.#options = options;
  }

  begin(): void {
    const { headLimitMs } = this.#options;
    this.#timers.head ??= setTimeout(() => this.#end(noAnswerWithin(headLimitMs), true), headLimitMs);
    this.#options
      .begin((answer) => this.#answered(answer))
      .then((request) => this.#sent(request))
      .catch((error: unknown) => this.fail(textOf(error)));
  }

  limit(limitMs: number): void {
    this.#timers.whole = setTimeout(() => this.#end(noAnswerWithin(limitMs), true), limitMs);
  }

  cancel(): void {
    if (!this.#isEnded) this.#close(false);
  }

  fail(why: string): void {
    this.#end(why, false);
  }

  #sent(request: ClientRequest): void {
    if (this.#isEnded) {
      request.on("error", () => {});
      request.destroy();
      return;
    }
    this.#request = request;
    request.on("socket", (socket) => this.#limitConnect(socket));
    request.on("error", (error: NodeJS.ErrnoException) => {
      if (request !== this.#request || this.#isEnded) return;
      if (this.#mayRepeat(request, error)) {
        this.#hasRepeated = true;
        this.begin();
      } else {
        this.fail(textOf(error));
      }
    });
  }

  /** The server had closed the idle connection before the request was there: it has not seen it. */
  #mayRepeat(request: ClientRequest, { code }: NodeJS.ErrnoException): boolean {
    const hasDiedIdle = request.reusedSocket && (code === "ECONNRESET" || code === "EPIPE");
    return this.#options.isRepeatable && hasDiedIdle && !this.#hasAnswer && !this.#hasRepeated;
  }

  #limitConnect(socket: Socket): void {
    if (!socket.connecting) return;
    clearTimeout(this.#timers.connect);
    this.#timers.connect = setTimeout(() => {
      this.#end(`no connection within ${CONNECT_LIMIT_MS / 1_000} s`, true);
    }, CONNECT_LIMIT_MS);
    const done = (): void => clearTimeout(this.#timers.connect);
    socket.once("encrypted" in socket ? "secureConnect" : "connect", done);
    socket.once("close", done);
  }

  #answered(answer: IncomingMessage): void {
    if (this.#isEnded) {
      answer.destroy();
      return;
    }
    this.#hasAnswer = true;
    clearTimeout(this.#timers.connect);
    clearTimeout(this.#timers.head);
    const { listener } = this.#options;
    // Listening comes first: the listener may end the exchange at once.
    answer.on("data", (bytes: Uint8Array) => {
      if (this.#isEnded) return;
      listener.data(bytes);
      // One piece a turn of the event loop: a long list is read while everything else goes on.
      answer.pause();
      setImmediate(() => answer.resume());
    });
    answer.on("end", () => this.#end(undefined, false));
    answer.on("error", (error) => this.fail(textOf(error)));
    answer.on("close", () => this.fail("the answer was cut off"));
    listener.opened(answer.statusCode ?? 0, retryAfterOf(answer));
  }

  #end(error: string | undefined, hasStalled: boolean): void {
    if (this.#isEnded) return;
    this.#close(hasStalled, error === undefined);
    this.#options.listener.ended(error);
  }

  /** A whole answer leaves its connection to the next request. */
  #close(hasStalled: boolean, isWhole = false): void {
    this.#isEnded = true;
    for (const timer of Object.values(this.#timers)) clearTimeout(timer);
    if (!isWhole) this.#request?.destroy();
    this.#options.onEnd(hasStalled);
  }
}

/** In seconds; the form with a date is none of the API server's. */
function retryAfterOf({ headers }: IncomingMessage): number | undefined {
  const text = headers["retry-after"] ?? "";
  return /^\d{1,6}$/.test(text) ? Number(text) : undefined;
}

function noAnswerWithin(limitMs: number): string {
  return `no answer within ${limitMs / 1_000} s`;
}

/** Of an AggregateError (each address of a name was tried), the first one's. */
function textOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return textOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
