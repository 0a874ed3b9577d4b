/** One GET to a speaker, over whatever leads to it. */
import { request } from "node:http";
import type { Duplex } from "node:stream";
import { ArpeggioError, errnoOf } from "../src/base/errors.ts";

/** A TCP port, a socket file, or a stream that is open already. */
export type Way =
  | { readonly host: string; readonly port: number }
  | { readonly socketPath: string }
  | { readonly stream: Duplex };

export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

/** Some 300 bytes an address: room for 200,000. */
const MAX_BODY_CHARACTERS = 64 * 1_024 * 1_024;

/** Rejects with ERR_SPEAKER_SILENT and a sentence when no whole answer came within `deadlineMs`. */
export function getJson(way: Way, path: string, deadlineMs: number): Promise<HttpAnswer> {
  const limit = AbortSignal.timeout(deadlineMs);
  return new Promise((resolve, reject) => {
    const fail = (cause: unknown): void => {
      const sentence = limit.aborted ? `nothing came within ${deadlineMs / 1_000} s` : describeFault(cause);
      reject(new ArpeggioError("ERR_SPEAKER_SILENT", sentence, { cause }));
    };
    const call = request(
      {
        // An agent would open a connection of its own.
        ...("stream" in way ? { createConnection: () => way.stream } : { ...way, agent: false }),
        path,
        headers: { accept: "application/json", host: "localhost", connection: "close" },
        signal: limit,
      },
      (response) => {
        let body = "";
        response.setEncoding("utf8");
        response.on("data", (text: string) => {
          body += text;
          if (body.length > MAX_BODY_CHARACTERS) response.destroy(new Error("it sends too much"));
        });
        response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
        response.on("error", fail);
      },
    );
    call.on("error", fail);
    call.end();
  });
}

const FAULTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ENOENT: "there is no such socket",
  ENOTFOUND: "there is no host of this name",
  EHOSTUNREACH: "the host cannot be reached",
  ECONNRESET: "the connection broke",
};

function describeFault(cause: unknown): string {
  if (cause instanceof ArpeggioError) return cause.message;
  return FAULTS[errnoOf(cause)] ?? (cause instanceof Error && cause.message !== "" ? cause.message : errnoOf(cause));
}
