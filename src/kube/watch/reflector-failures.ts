/** What a reflector does about everything that goes wrong: the table of errors. What it holds stands through all of them. Pure. */
import type { Random } from "../../base/random.ts";
import { backOffMs } from "./back-off.ts";
import { startList, startWatch, wait } from "./reflector-requests.ts";
import { type ReflectorSettings, type ReflectorState, type Step, type Verb, withoutError } from "./reflector-state.ts";
import type { Refusal } from "./refusal.ts";

/** A watch that was open for so long is well: failures before it count no more. */
const HEALTH_MS = 10_000;
/** A watch that had been open is taken up again within so long, whatever ended it. */
const REOPEN_MS = 1_000;
/**
 * What is forbidden is asked for again after a second, then less and less often, then each minute: a server that has just started
 * forbids what it has not read the roles for, and roles may be granted while we run. A watch that was never open is asked for each minute
 * from the first time on: its role grants a list alone, as MetalLB's does of Pods.
 */
const FORBIDDEN_FIRST_MS = 1_000;
const FORBIDDEN_FACTOR = 4;
const FORBIDDEN_EVERY_MS = 60_000;

export interface Surroundings {
  readonly settings: ReflectorSettings;
  readonly random: Random;
  readonly nowMs: number;
}

/** An HTTP error, or an ERROR event of a watch. */
export function refused(state: ReflectorState, refusal: Refusal, around: Surroundings): Step {
  const { settings, random, nowMs } = around;
  const now = saying(settled(state, nowMs), `${refusal.status} ${refusal.message}`.trim(), settings);
  switch (refusal.status) {
    case 401:
      return unauthorized(now, around);
    case 403:
      return wait({ ...now, failures: now.failures + 1 }, nowMs + forbiddenMs(now));
    case 404:
      // Watched and gone: a list says whether the kind is.
      if (now.phase.kind === "watching") return listAnew(now, around);
      return wait(absent(settings.isOptional === true ? withoutError(now) : now), nowMs + settings.absentEveryMs);
    case 410:
      return listAnew(now, around);
    case 429:
      return wait(now, nowMs + 1_000 * (refusal.retryAfterSeconds ?? 1) + random.float() * REOPEN_MS, placeOf(now));
    default:
      // 400: it does not understand the place that we ask for. Other errors leave the place good.
      if (refusal.isVersionUnknown || refusal.status === 400) return listAnew(now, around);
      return backOff(now, around, 1_000 * (refusal.retryAfterSeconds ?? 0));
  }
}

function absent(state: ReflectorState): ReflectorState {
  return { ...state, failures: 0, isAbsent: true };
}

/** The answer ended, or never came. */
export function ended(state: ReflectorState, error: string | undefined, around: Surroundings): Step {
  const { settings, nowMs, random } = around;
  const now = settled(state, nowMs);
  if (now.phase.kind === "watching" && now.phase.openedMs !== undefined) {
    const said = error === undefined ? now : saying(now, error, settings);
    return wait({ ...said, reconnects: now.reconnects + 1 }, nowMs + random.float() * REOPEN_MS, now.phase.from);
  }
  return backOff(saying(now, error ?? "the answer ended too soon", settings), around, 0);
}

/** Nothing can be said of what comes after bytes that mean nothing. */
export function misunderstood(state: ReflectorState, around: Surroundings): Step {
  return listAnew(saying(settled(state, around.nowMs), "the answer is not what it should be", around.settings), around);
}

/**
 * An open watch that says nothing, not even a bookmark. The first time its connection is taken for dead. The second time its place
 * may be one that the server has not come to yet, which happens when etcd was restored from a backup; then it would stay silent.
 */
export function silent(state: ReflectorState, around: Surroundings): Step {
  const now = saying(settled(state, around.nowMs), "nothing was heard for too long", around.settings);
  if (now.phase.kind !== "watching") return backOff(now, around, 0);
  if (now.silences > 0) return listAnew({ ...now, silences: 0 }, around);
  const counted = { ...now, silences: 1, reconnects: now.reconnects + 1 };
  return startWatch(counted, now.phase.from, around.nowMs, around.random);
}

/** The token may have been replaced: at once with what the file says now, but only once. */
function unauthorized(state: ReflectorState, around: Surroundings): Step {
  const { settings, nowMs, random } = around;
  const place = placeOf(state);
  const now = { ...state, hasNewToken: true };
  const again = place === undefined ? startList(settings, now, nowMs) : startWatch(now, place, nowMs, random);
  const { state: next, effects } = state.hasNewToken ? backOff(now, around, 0) : again;
  return { state: next, effects: [{ kind: "refresh-credentials" }, ...effects] };
}

/** A full list: at once, unless this happens again and again. */
function listAnew(state: ReflectorState, around: Surroundings): Step {
  const now = { ...state, failures: state.failures + 1 };
  if (state.failures === 0) return startList(around.settings, now, around.nowMs);
  return wait(now, around.nowMs + backOffMs(state.failures, around.random));
}

function backOff(state: ReflectorState, { nowMs, random }: Surroundings, atLeastMs: number): Step {
  const failures = state.failures + 1;
  const delayMs = Math.max(atLeastMs, backOffMs(failures, random));
  return wait({ ...state, failures }, nowMs + delayMs, placeOf(state));
}

function forbiddenMs({ phase, reconnects, failures }: ReflectorState): number {
  const wasNeverOpen = phase.kind === "watching" && phase.openedMs === undefined && reconnects === 0;
  return wasNeverOpen
    ? FORBIDDEN_EVERY_MS
    : Math.min(FORBIDDEN_EVERY_MS, FORBIDDEN_FIRST_MS * FORBIDDEN_FACTOR ** failures);
}

function placeOf({ phase }: ReflectorState): string | undefined {
  return phase.kind === "watching" ? phase.from : undefined;
}

function settled(state: ReflectorState, nowMs: number): ReflectorState {
  const { phase } = state;
  const isWell = phase.kind === "watching" && phase.openedMs !== undefined && nowMs - phase.openedMs >= HEALTH_MS;
  return isWell ? { ...state, failures: 0 } : state;
}

function saying(state: ReflectorState, what: string, { resource }: ReflectorSettings): ReflectorState {
  const verb: Verb = state.phase.kind === "watching" ? "watch" : "list";
  return { ...state, lastError: `${verb} ${resource}: ${what}` };
}
