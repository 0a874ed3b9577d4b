/**
 * One of several processes holds a Lease: `(state, event, now) → (state, effects)`. It never trusts another machine's clock: a
 * Lease that others hold is over when its text has not changed for as long as it lasts, by the clock of whoever watches it; the own
 * one is over earlier, counted from the moment at which the last renewal that succeeded was sent. Pure.
 */
import { formatMicroTime, type LeaseObject, type LeaseRecord } from "./lease-object.ts";

/** How long others wait for a holder that says nothing. */
export const LEASE_MS = 15_000;
/** How long a holder goes on without a renewal: five seconds less, for what it sent last to arrive. */
export const HOLD_MS = 10_000;
/** Between renewals, and between attempts. */
export const RETRY_MS = 2_000;

export interface LeaseTimes {
  /** Monotonic. */
  readonly nowMs: number;
  /** For what is written alone. */
  readonly wallMs: number;
}

export type LeaseEvent =
  /** By a watch or an answer; undefined: there is none. */
  | { readonly kind: "observed"; readonly lease: LeaseObject | undefined }
  /** The write was done. */
  | { readonly kind: "written"; readonly lease: LeaseObject }
  /** The write was not done, or nobody knows. `conflict`: somebody else wrote (409). `absent`: it is gone (404). */
  | { readonly kind: "not-written"; readonly why: "conflict" | "absent" | "failed" }
  | { readonly kind: "tick" }
  /** It is given back, and not taken again. */
  | { readonly kind: "release" };

export type LeaseEffect =
  /** One at a time; answered by `written` or `not-written`. Without a version it is created. */
  | { readonly kind: "write"; readonly record: LeaseRecord; readonly resourceVersion?: string }
  /** Read it anew; answered by `observed`. */
  | { readonly kind: "read" };

export interface LeaseState {
  readonly identity: string;
  /** The Lease as it was heard of last, and since when its record has been the same. */
  readonly observed?: { readonly lease: LeaseObject | undefined; readonly sinceMs: number };
  /** The write that is out, and when it was sent. */
  readonly writing?: { readonly sentMs: number; readonly isRelease: boolean };
  /** When the last renewal that succeeded was sent; absent: not held. */
  readonly renewedMs?: number;
  readonly nextTryMs: number;
  readonly isReleased: boolean;
}

export interface LeaseStep {
  readonly state: LeaseState;
  readonly effects: readonly LeaseEffect[];
}

/** `identity`: of this process alone, never of an earlier one. */
export function initialLease(identity: string): LeaseState {
  return { identity, nextTryMs: 0, isReleased: false };
}

/** To be asked with the clock read at that moment, before everything that only the holder may do. */
export function isHolder({ renewedMs, isReleased }: LeaseState, nowMs: number): boolean {
  return !isReleased && renewedMs !== undefined && nowMs < renewedMs + HOLD_MS;
}

export function stepLease(state: LeaseState, event: LeaseEvent, times: LeaseTimes): LeaseStep {
  return act(take(lapse(state, times.nowMs), event, times.nowMs), event, times);
}

/** When `tick` is due; undefined while an answer is waited for and nothing is held. */
export function leaseDeadlineMs(state: LeaseState): number | undefined {
  const { renewedMs, writing, observed, nextTryMs, isReleased } = state;
  const lapseMs = renewedMs === undefined ? [] : [renewedMs + HOLD_MS];
  const canWrite = writing === undefined && observed !== undefined && !isReleased;
  const writeMs = canWrite ? [Math.max(nextTryMs, dueMs(state))] : [];
  const deadlines = [...lapseMs, ...writeMs];
  return deadlines.length === 0 ? undefined : Math.min(...deadlines);
}

function lapse(state: LeaseState, nowMs: number): LeaseState {
  return state.renewedMs === undefined || nowMs < state.renewedMs + HOLD_MS ? state : stepBack(state);
}

function stepBack({ renewedMs: _held, ...others }: LeaseState): LeaseState {
  return others;
}

function take(state: LeaseState, event: LeaseEvent, nowMs: number): LeaseState {
  switch (event.kind) {
    case "observed":
      return observe(state, event.lease, nowMs);
    case "written":
      return takeWritten(state, event.lease, nowMs);
    case "not-written": {
      const { writing: _answered, ...others } = state;
      // A Lease that somebody deleted, or wrote meanwhile, may be another's by now.
      return event.why === "failed" ? others : stepBack(others);
    }
    case "release":
      return { ...state, isReleased: true };
    case "tick":
    default:
      return state;
  }
}

function observe(state: LeaseState, lease: LeaseObject | undefined, nowMs: number): LeaseState {
  const before = state.observed;
  // A watch lags behind what the own writes were answered with.
  if (isOlder(lease, before?.lease)) return state;
  const isSame = before !== undefined && isSameRecord(before.lease?.record, lease?.record);
  const observed = { lease, sinceMs: isSame ? before.sinceMs : nowMs };
  const next = { ...state, observed };
  const { holder = "" } = lease?.record ?? {};
  return holder === "" || holder === state.identity ? next : stepBack(next);
}

function takeWritten(state: LeaseState, lease: LeaseObject, nowMs: number): LeaseState {
  const { writing, ...others } = observe(state, lease, nowMs);
  if (writing === undefined || writing.isRelease) return stepBack(others);
  return { ...others, renewedMs: writing.sentMs, nextTryMs: writing.sentMs + RETRY_MS };
}

/** When this process may write: its own Lease at any time, another's when it is over. */
function dueMs({ observed, identity }: LeaseState): number {
  const record = observed?.lease?.record;
  if (observed === undefined || record === undefined || record.holder === "" || record.holder === identity) return 0;
  return observed.sinceMs + Math.max(LEASE_MS, record.durationSeconds * 1_000);
}

function act(state: LeaseState, event: LeaseEvent, times: LeaseTimes): LeaseStep {
  if (event.kind === "not-written") {
    return { state: { ...state, nextTryMs: times.nowMs + RETRY_MS }, effects: [{ kind: "read" }] };
  }
  const { observed, writing, isReleased, nextTryMs } = state;
  if (observed === undefined || writing !== undefined) return { state, effects: [] };
  if (isReleased) return state.renewedMs === undefined ? { state, effects: [] } : giveBack(state, times);
  if (times.nowMs < Math.max(nextTryMs, dueMs(state))) return { state, effects: [] };
  return write(state, wanted(state, times), times.nowMs, false);
}

/** Whoever gives it back does nothing more in its name, whether the write arrives or not. */
function giveBack(state: LeaseState, times: LeaseTimes): LeaseStep {
  const record = { ...wanted(state, times), holder: "", durationSeconds: 1 };
  const { state: next, effects } = write(state, record, times.nowMs, true);
  return { state: stepBack(next), effects };
}

function wanted({ identity, observed }: LeaseState, { wallMs }: LeaseTimes): LeaseRecord {
  const now = formatMicroTime(wallMs);
  const before = observed?.lease?.record;
  const isOwn = before?.holder === identity;
  return {
    holder: identity,
    durationSeconds: LEASE_MS / 1_000,
    acquiredAt: isOwn ? (before.acquiredAt ?? now) : now,
    renewedAt: now,
    transitions: before === undefined ? 0 : before.transitions + (isOwn ? 0 : 1),
  };
}

function write(state: LeaseState, record: LeaseRecord, nowMs: number, isRelease: boolean): LeaseStep {
  const resourceVersion = state.observed?.lease?.resourceVersion;
  return {
    state: { ...state, writing: { sentMs: nowMs, isRelease } },
    effects: [{ kind: "write", record, ...(resourceVersion === undefined ? {} : { resourceVersion }) }],
  };
}

/** Versions of one object are counted upwards; the API server promises it of its integers. */
function isOlder(a: LeaseObject | undefined, b: LeaseObject | undefined): boolean {
  return Number(a?.resourceVersion) < Number(b?.resourceVersion);
}

function isSameRecord(a: LeaseRecord | undefined, b: LeaseRecord | undefined): boolean {
  return (
    a?.holder === b?.holder &&
    a?.renewedAt === b?.renewedAt &&
    a?.acquiredAt === b?.acquiredAt &&
    a?.transitions === b?.transitions
  );
}
