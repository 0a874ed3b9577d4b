/**
 * When a gossip key that was exchanged is sent with, and how long the one before it is still understood: everybody must accept a
 * key before anybody sends with it, and the file reaches the nodes one after the other. Pure; the shell is `rotating-keys.ts`.
 */
import { bytesEqual } from "../base/bytes.ts";

/** What the secret's files say; 16, 24 or 32 bytes each. */
export interface KeyFiles {
  /** `secretkey`: sends and receives. */
  readonly current: Uint8Array;
  /** `secretkey.previous`: only receives, unless it was the key of the cluster when this node started. */
  readonly previous?: Uint8Array;
}

export interface KeyState {
  readonly files: KeyFiles;
  readonly sending: Uint8Array;
  /** Another key than `sending` is the current one: it is sent with from then on. */
  readonly switch?: { readonly atMs: number; readonly whenHeard: boolean };
  /** Keys that are in no file any more and are still understood, each until its time. */
  readonly lingering: readonly { readonly key: Uint8Array; readonly untilMs: number }[];
}

/** Longer than kubelets need to bring a changed Secret to every node: a sync period of 60 s, and as much for its cache. */
export const SEND_AFTER_MS = 180_000;
/** From when a key has left the files: the last node has seen that, and has waited, by then. */
export const LINGER_MS = 2 * SEND_AFTER_MS;

/**
 * A node that starts cannot know whether the others have the current key already. With a previous one it sends with that
 * until it hears the current one, or until all must have it.
 */
export function startKeys(files: KeyFiles, nowMs: number): KeyState {
  const { current, previous } = files;
  if (previous === undefined || bytesEqual(previous, current)) return { files, sending: current, lingering: [] };
  const later = { atMs: nowMs + SEND_AFTER_MS, whenHeard: true };
  return { files, sending: previous, switch: later, lingering: [] };
}

/** The files were read again. */
export function changeKeys(state: KeyState, files: KeyFiles, nowMs: number): KeyState {
  const isSameCurrent = bytesEqual(files.current, state.files.current);
  const gone = keysIn(state.files).filter((key) => !isAmong(key, keysIn(files)));
  const lingering = [
    ...state.lingering.filter(({ key }) => !isAmong(key, gone)),
    ...gone.map((key) => ({ key, untilMs: nowMs + LINGER_MS })),
  ];
  const { sending } = state;
  if (bytesEqual(files.current, sending)) return { files, sending, lingering };
  const later = isSameCurrent ? state.switch : undefined;
  return { files, sending, switch: later ?? { atMs: nowMs + SEND_AFTER_MS, whenHeard: false }, lingering };
}

/** Something was opened with this key. */
export function hearKey(state: KeyState, key: Uint8Array): KeyState {
  return state.switch?.whenHeard === true && bytesEqual(key, state.files.current) ? sendCurrent(state) : state;
}

/** Time has come to `nowMs`. */
export function tickKeys(state: KeyState, nowMs: number): KeyState {
  const next = state.switch !== undefined && nowMs >= state.switch.atMs ? sendCurrent(state) : state;
  const lingering = next.lingering.filter(({ untilMs }) => nowMs < untilMs);
  return lingering.length === next.lingering.length ? next : { ...next, lingering };
}

/** When `tickKeys` has something to do next. */
export function nextKeyTickMs(state: KeyState): number | undefined {
  const times = state.lingering.map(({ untilMs }) => untilMs);
  if (state.switch !== undefined) times.push(state.switch.atMs);
  return times.length === 0 ? undefined : Math.min(...times);
}

/** All that are understood, each once, the one that is sent with first. */
export function acceptedKeys({ sending, files, lingering }: KeyState): readonly Uint8Array[] {
  const all = [sending, ...keysIn(files), ...lingering.map(({ key }) => key)];
  return all.filter((key, at) => all.findIndex((other) => bytesEqual(other, key)) === at);
}

/** Where a key stands: in `secretkey`, in `secretkey.previous`, or in no file any more. */
export type KeyPlace = "current" | "previous" | "former";

/** What may be told of the keys: nothing of the keys themselves. */
export interface KeyReport {
  readonly sendsWith: KeyPlace;
  /** All that are understood, the one that is sent with first. `untilMs`: absent, it stays. */
  readonly accepts: readonly { readonly place: KeyPlace; readonly untilMs?: number }[];
  readonly switch?: { readonly atMs: number; readonly whenHeard: boolean };
}

export function reportKeys(state: KeyState): KeyReport {
  const { sending, files, lingering } = state;
  const placeOf = (key: Uint8Array): KeyPlace => {
    if (bytesEqual(key, files.current)) return "current";
    return isAmong(key, keysIn(files)) ? "previous" : "former";
  };
  const accepts = acceptedKeys(state).map((key) => {
    const untilMs = lingering.find((former) => bytesEqual(former.key, key))?.untilMs;
    const place = placeOf(key);
    return { place, ...(place !== "former" || untilMs === undefined ? {} : { untilMs }) };
  });
  return { sendsWith: placeOf(sending), accepts, ...(state.switch === undefined ? {} : { switch: state.switch }) };
}

function sendCurrent({ files, lingering }: KeyState): KeyState {
  return { files, sending: files.current, lingering };
}

function keysIn({ current, previous }: KeyFiles): readonly Uint8Array[] {
  return previous === undefined ? [current] : [current, previous];
}

function isAmong(key: Uint8Array, keys: readonly Uint8Array[]): boolean {
  return keys.some((other) => bytesEqual(other, key));
}
