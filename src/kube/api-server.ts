/** The port to a Kubernetes API server: single requests, and answers as streams of bytes. What fails to arrive rejects; an HTTP error does not. */

export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Without query, such as `/api/v1/services`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Of the body; a PATCH says here which kind it is. Absent: application/json. */
  readonly contentType?: string;
  /** The form of the answer. Absent: application/json. */
  readonly accept?: string;
  /** Of a single request, from its begin to the end of its answer. Absent: 10 s. */
  readonly limitMs?: number;
  /** Asked when the connection is there and nothing was sent yet; no: it rejects with `ERR_API_WITHHELD`, and nothing is sent. */
  readonly mayBegin?: () => boolean;
}

export interface ApiAnswer {
  /** HTTP status. */
  readonly status: number;
  /** Parsed JSON; undefined when the body is none. */
  readonly body: unknown;
  /** From the header Retry-After. */
  readonly retryAfterSeconds?: number;
}

/** What a streamed answer tells, in order; after `ended` nothing more comes. */
export interface StreamListener {
  /** The answer's head is there. */
  opened(status: number, retryAfterSeconds?: number): void;
  /** Bytes, as they came: lines and objects may be split anywhere. */
  data(bytes: Uint8Array): void;
  /** The end, with an error text when the answer is not whole. */
  ended(error?: string): void;
}

export interface ApiServer {
  /** For display: `https://192.0.2.1:6443`. */
  readonly url: string;
  /** Rejects with an ArpeggioError of code `ERR_API_UNREACHABLE` when no answer came within the limit. */
  request(request: ApiRequest): Promise<ApiAnswer>;
  /** A GET whose body is read as it comes, on a connection of its own while it lasts. The function ends it; `ended` is not called then. */
  stream(request: ApiRequest, listener: StreamListener): () => void;
  /** Reads the credentials anew before the next request: the last ones were refused (401). */
  refreshCredentials(): void;
  close(): void;
}

/** One whose requests may have to end at once. */
export interface EndableApiServer extends ApiServer {
  /** Every request under way rejects, and no byte of it is sent any more. Later ones have new connections. */
  endConnections(): void;
}
