/** What a reflector is told, what it asks for, and what it holds: the values of `reflector.ts`. */
import type { Refusal } from "./refusal.ts";

export interface ReflectorSettings {
  /** As in paths and RBAC rules: `services`. */
  readonly resource: string;
  /** Objects a page. */
  readonly pageLimit: number;
  /** There is no need for the pages after the first. */
  readonly isFirstPageEnough?: boolean;
  /** Absent: watched after it was listed. Otherwise listed again after so long. */
  readonly listEveryMs?: number;
  /** How often a kind that the server does not serve (404) is asked for. */
  readonly absentEveryMs: number;
  /** Nothing is the matter when the server does not serve it. */
  readonly isOptional?: boolean;
}

export type Verb = "list" | "watch";

export type ReflectorEvent =
  | { readonly kind: "start" }
  /** `deadlineOf` has come. */
  | { readonly kind: "tick" }
  /** What is known may be too old for what comes now: a list is to begin, whatever is under way. */
  | { readonly kind: "relist" }
  /** The head of a good answer. */
  | { readonly kind: "opened" }
  /** Bytes of it. */
  | { readonly kind: "heard" }
  /** A page of a list is whole; `next`: the token of the page after it. */
  | { readonly kind: "page"; readonly resourceVersion: string; readonly next?: string }
  | { readonly kind: "changed"; readonly object: unknown; readonly resourceVersion: string }
  | { readonly kind: "deleted"; readonly object: unknown; readonly resourceVersion: string }
  | { readonly kind: "bookmark"; readonly resourceVersion: string }
  /** An HTTP error, or an event of type ERROR. */
  | { readonly kind: "refused"; readonly refusal: Refusal }
  /** Bytes that are no list, or no event. */
  | { readonly kind: "garbage" }
  /** The answer is at its end, with an error when it broke off or never came. */
  | { readonly kind: "ended"; readonly error?: string };

export type ReflectorEffect =
  /** A GET in place of the one that may still be open: one connection per kind, never two. */
  | { readonly kind: "request"; readonly verb: Verb; readonly query: Readonly<Record<string, string>> }
  /** Ends what is open. */
  | { readonly kind: "cancel" }
  /** Forget the items of pages so far. */
  | { readonly kind: "discard" }
  /** The items of all pages are what there is. */
  | { readonly kind: "commit" }
  | { readonly kind: "apply"; readonly object: unknown }
  | { readonly kind: "remove"; readonly object: unknown }
  /** The token was refused. */
  | { readonly kind: "refresh-credentials" };

export type ReflectorPhase =
  | { readonly kind: "listing"; readonly heardMs: number }
  /** `openedMs`: since its head came; absent before. */
  | { readonly kind: "watching"; readonly from: string; readonly heardMs: number; readonly openedMs?: number }
  /** `from`: goes on watching there; absent: lists. */
  | { readonly kind: "waiting"; readonly untilMs: number; readonly from?: string };

export interface ReflectorState {
  readonly phase: ReflectorPhase;
  /** A complete list was there once. */
  readonly isListed: boolean;
  /** The server does not know the kind: its CustomResourceDefinition is missing. */
  readonly isAbsent: boolean;
  /** In a row; the back-off follows from it. */
  readonly failures: number;
  /** Watches in a row that were open and never said anything. */
  readonly silences: number;
  /** The token was read anew, and no answer since was a good one. */
  readonly hasNewToken: boolean;
  /** Watches that took up an earlier one, and full lists after the first. */
  readonly reconnects: number;
  readonly relists: number;
  /** Lists that came to their end. */
  readonly lists: number;
  /** The resourceVersion up to which everything is known: of the last list, or of the last event or bookmark after it. */
  readonly place?: string;
  /** The last event or bookmark, or the end of the last list. */
  readonly lastEventMs?: number;
  /** A sentence; absent when all is well. */
  readonly lastError?: string;
}

export interface Step {
  readonly state: ReflectorState;
  readonly effects: readonly ReflectorEffect[];
}

export function withoutError(state: ReflectorState): ReflectorState {
  const { lastError: _, ...well } = state;
  return well;
}
