/** The catalogue of errors that Arpeggio throws. Callers branch on `code`, never on text. */

export type ErrorCode =
  /** An option or environment variable does not parse; the message lists every problem. */
  | "ERR_CONFIG_INVALID"
  /** Another speaker with this node name, or controller of this folder, runs on this host. */
  | "ERR_ALREADY_RUNNING"
  /** A caller passed a value that the function's contract excludes. */
  | "ERR_INTERNAL_ARGUMENT"
  /** A growing writer would exceed the limit it was made with. */
  | "ERR_WRITER_FULL"
  /** A document that we were about to serve does not match its own schema. */
  | "ERR_DOCUMENT_INVALID"
  /** `arpeggio` got no whole answer from a speaker. */
  | "ERR_SPEAKER_SILENT"
  /** `arpeggio` could not list the speakers' pods. */
  | "ERR_PODS_UNREADABLE"
  /** What HTTP asked of the speaker was not answered in time. */
  | "ERR_HTTP_TIMEOUT"
  /** A listener could not be opened. */
  | "ERR_LISTEN"
  /** The wire thread ended; without it the process is of no use. */
  | "ERR_THREAD_ENDED"
  /** The wire thread gave no answer in time. */
  | "ERR_THREAD_SILENT"
  /** The address in an option is no address of this host. */
  | "ERR_BIND_ADDRESS"
  /** The Kubernetes API server gave no answer: no connection, none in time, or one that broke off. */
  | "ERR_API_UNREACHABLE"
  /** A request to the Kubernetes API server was not sent, because whoever asked for it may not any more. */
  | "ERR_API_WITHHELD"
  /** The Kubernetes API server answered that it will not do it. */
  | "ERR_API_REFUSED";

/** A fault of our own or of the user's configuration, with a stable `code`. */
export class ArpeggioError extends Error {
  override readonly name = "ArpeggioError";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** A system call that failed on a link; `code` is the errno name, such as "ENETDOWN". */
export class LinkError extends Error {
  override readonly name = "LinkError";
  readonly code: string;

  constructor(operation: string, link: string, code: string, options?: ErrorOptions) {
    super(`${operation} on ${link}: ${code}`, options);
    this.code = code;
  }
}

/** The errno name of a failed system call, or "UNKNOWN" when the thrown value carries none. */
export function errnoOf(error: unknown): string {
  if (typeof error === "object" && error !== null && "code" in error && typeof error.code === "string") {
    return error.code;
  }
  return "UNKNOWN";
}
