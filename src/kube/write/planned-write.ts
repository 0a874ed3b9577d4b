/** What the keepers hand to the pump: one request at a time for one name. */
import type { ApiRequest } from "../api-server.ts";
import type { Verdict } from "./answers.ts";

export interface PlannedWrite {
  readonly request: ApiRequest;
  /** As RBAC says it, for the sentence about a missing right: `patch`, `servicel2statuses/status`. */
  readonly verb: string;
  readonly resource: string;
  /** Takes in what the server said, before the next look at this name. */
  answered(verdict: Verdict, body: unknown, nowMs: number): void;
}

/** Neither: nothing to be written until the next mark. */
export interface Next {
  readonly write?: PlannedWrite;
  readonly againAtMs?: number;
}

export interface WriteSource {
  next(name: string, nowMs: number): Next;
}
