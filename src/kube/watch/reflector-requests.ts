/** How a reflector begins to list, to watch, and to wait. Pure. */
import type { Random } from "../../base/random.ts";
import type { ReflectorSettings, ReflectorState, Step } from "./reflector-state.ts";

/** The server ends a watch after so long, spread so that not all watches end together. */
const WATCH_SECONDS = 290;
const WATCH_SECONDS_SPREAD = 301;

/** A list without resourceVersion: with "0" the server ignores the limit. */
export function startList(settings: ReflectorSettings, state: ReflectorState, nowMs: number): Step {
  const { pageLimit, listEveryMs } = settings;
  const isAgain = listEveryMs === undefined && state.isListed && state.phase.kind !== "listing";
  return {
    state: {
      ...state,
      phase: { kind: "listing", heardMs: nowMs },
      relists: state.relists + Number(isAgain),
    },
    effects: [{ kind: "discard" }, { kind: "request", verb: "list", query: { limit: String(pageLimit) } }],
  };
}

export function nextPage({ pageLimit }: ReflectorSettings, state: ReflectorState, next: string, nowMs: number): Step {
  return {
    state: { ...state, phase: { kind: "listing", heardMs: nowMs } },
    effects: [{ kind: "request", verb: "list", query: { limit: String(pageLimit), continue: next } }],
  };
}

export function startWatch(state: ReflectorState, from: string, nowMs: number, random: Random): Step {
  const timeoutSeconds = WATCH_SECONDS + random.below(WATCH_SECONDS_SPREAD);
  const query = {
    watch: "true",
    allowWatchBookmarks: "true",
    resourceVersion: from,
    timeoutSeconds: String(timeoutSeconds),
  };
  return {
    state: { ...state, phase: { kind: "watching", from, heardMs: nowMs } },
    effects: [{ kind: "request", verb: "watch", query }],
  };
}

/** `from`: watches on from there afterwards; absent: lists. */
export function wait(state: ReflectorState, untilMs: number, from?: string): Step {
  return {
    state: { ...state, phase: { kind: "waiting", untilMs, ...(from === undefined ? {} : { from }) } },
    effects: [{ kind: "cancel" }, ...(from === undefined ? [{ kind: "discard" } as const] : [])],
  };
}
