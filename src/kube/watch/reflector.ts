/**
 * Lists and watches one kind: a machine without sockets and timers, `(state, event, now) → (state, effects)`. A failed or partial list
 * changes nothing that is held; only a complete one does. Kubernetes' documentation: "Efficient detection of changes". Pure.
 */
import type { Random } from "../../base/random.ts";
import { ended, misunderstood, refused, type Surroundings, silent } from "./reflector-failures.ts";
import { nextPage, startList, startWatch, wait } from "./reflector-requests.ts";
import {
  type ReflectorEvent,
  type ReflectorPhase,
  type ReflectorSettings,
  type ReflectorState,
  type Step,
  withoutError,
} from "./reflector-state.ts";

/** The server sends a bookmark every 60 s. */
const SILENCE_MS = 90_000;
/** A page of which nothing comes for so long. */
const LIST_SILENCE_MS = 45_000;

export const INITIAL_STATE: ReflectorState = {
  phase: { kind: "waiting", untilMs: 0 },
  isListed: false,
  isAbsent: false,
  failures: 0,
  silences: 0,
  hasNewToken: false,
  reconnects: 0,
  relists: 0,
  lists: 0,
};

export function step(
  settings: ReflectorSettings,
  state: ReflectorState,
  event: ReflectorEvent,
  nowMs: number,
  random: Random,
): Step {
  const around: Surroundings = { settings, random, nowMs };
  switch (event.kind) {
    case "start":
    case "relist":
      return startList(settings, state, nowMs);
    case "tick":
      return ticked(state, around);
    case "opened":
      return quiet(opened(state, nowMs));
    case "heard":
      return quiet(heard(state, nowMs));
    case "page":
      return listed(state, event.resourceVersion, event.next, around);
    case "changed":
      return moved(state, event.resourceVersion, nowMs, [{ kind: "apply", object: event.object }]);
    case "deleted":
      return moved(state, event.resourceVersion, nowMs, [{ kind: "remove", object: event.object }]);
    case "bookmark":
      return moved(state, event.resourceVersion, nowMs, []);
    case "refused":
      return refused(state, event.refusal, around);
    case "garbage":
      return misunderstood(state, around);
    case "ended":
      break;
  }
  return ended(state, event.error, around);
}

/** When the machine wants to be told the time. */
export function deadlineOf({ phase }: ReflectorState): number {
  if (phase.kind === "waiting") return phase.untilMs;
  return phase.heardMs + (phase.kind === "listing" ? LIST_SILENCE_MS : SILENCE_MS);
}

function ticked(state: ReflectorState, around: Surroundings): Step {
  const { settings, nowMs, random } = around;
  if (nowMs < deadlineOf(state)) return quiet(state);
  const { phase } = state;
  if (phase.kind !== "waiting") return silent(state, around);
  if (phase.from === undefined) return startList(settings, state, nowMs);
  return startWatch(state, phase.from, nowMs, random);
}

function opened(state: ReflectorState, nowMs: number): ReflectorState {
  const now = { ...state, hasNewToken: false };
  if (now.phase.kind !== "watching") return heard(now, nowMs);
  return { ...withoutError(now), phase: { ...now.phase, heardMs: nowMs, openedMs: nowMs } };
}

function heard(state: ReflectorState, nowMs: number): ReflectorState {
  const { phase } = state;
  if (phase.kind === "waiting") return state;
  const now: ReflectorPhase = { ...phase, heardMs: nowMs };
  return { ...state, phase: now, silences: phase.kind === "watching" ? 0 : state.silences };
}

function listed(state: ReflectorState, resourceVersion: string, next: string | undefined, around: Surroundings): Step {
  const { settings, nowMs, random } = around;
  if (state.phase.kind !== "listing") return quiet(state);
  if (next !== undefined && settings.isFirstPageEnough !== true) return nextPage(settings, state, next, nowMs);
  const now = {
    ...state,
    isListed: true,
    isAbsent: false,
    lists: state.lists + 1,
    place: resourceVersion,
    lastEventMs: nowMs,
  };
  const { listEveryMs } = settings;
  const { state: after, effects } =
    listEveryMs === undefined
      ? startWatch(now, resourceVersion, nowMs, random)
      : wait({ ...withoutError(now), failures: 0 }, nowMs + listEveryMs);
  return { state: after, effects: [{ kind: "commit" }, ...effects] };
}

/** An event at a place where the watch is already was seen before. */
function moved(state: ReflectorState, resourceVersion: string, nowMs: number, effects: Step["effects"]): Step {
  const { phase } = state;
  if (phase.kind !== "watching") return quiet(state);
  const isKnown = phase.from === resourceVersion;
  return {
    state: { ...state, phase: { ...phase, from: resourceVersion }, place: resourceVersion, lastEventMs: nowMs },
    effects: isKnown ? [] : effects,
  };
}

function quiet(state: ReflectorState): Step {
  return { state, effects: [] };
}
