/** What an API server says when it refuses (metav1.Status), in an answer or as an event of a watch. Pure. */
import { fieldOf } from "../../desired/resource-readers.ts";

export interface Refusal {
  /** HTTP status, or the code of an ERROR event. */
  readonly status: number;
  /** Empty when the server gives none. */
  readonly message: string;
  readonly retryAfterSeconds?: number;
  /** The resourceVersion that was asked from is none that this server ever gave: its history is a restored one. */
  readonly isVersionUnknown: boolean;
}

/** `body`: parsed JSON, or whatever came instead. */
export function readRefusal(status: number, body: unknown, retryAfterSeconds?: number): Refusal {
  const details = fieldOf(body, "details");
  const message = fieldOf(body, "message");
  const code = fieldOf(body, "code");
  const waits = fieldOf(details, "retryAfterSeconds");
  const seconds = retryAfterSeconds ?? (typeof waits === "number" && waits > 0 ? waits : undefined);
  return {
    status: typeof code === "number" && status === 0 ? code : status,
    message: typeof message === "string" ? message : "",
    ...(seconds === undefined ? {} : { retryAfterSeconds: seconds }),
    isVersionUnknown: hasCause(details, "ResourceVersionTooLarge"),
  };
}

function hasCause(details: unknown, reason: string): boolean {
  const causes = fieldOf(details, "causes");
  return Array.isArray(causes) && causes.some((cause) => fieldOf(cause, "reason") === reason);
}
