/**
 * What this node says of itself: its own flags, as a pure machine `(state, event, now) → state` (DESIGN D3 tier 2, D4).
 * Times are monotonic milliseconds.
 */
import type { NodeFacts, NodeName, SourceKind } from "../desired/snapshot.ts";
import { addTrouble, dampedUntilMs, type PastRun, type Trouble, troublesAfter } from "./damping.ts";
import type { MemberView } from "./decision.ts";
import { type Merge, mergeOf } from "./merge.ts";
import { flagsOfNode, type NodeFlagOptions } from "./node-flags.ts";
import { RETURN_TIMING, type ReturnTiming } from "./return-timing.ts";
import { WORD_FLAGS, type WordFlag } from "./word.ts";

/** How long known peers may be silent before a starting node becomes ready without them (DESIGN D4). */
export const JOIN_SILENCE_MS = 500;
/** Values of `readySeconds` in a word: coarse, so that a word changes rarely. */
const READY_STEPS_SECONDS = [0, 5, 10, 30, 60, 300, 600, 3_600, 86_400] as const;
/** A cluster with a member ready for so long is there; a younger one is being founded (DESIGN D3). */
const ESTABLISHED_SECONDS = 5;

export type StandingEvent =
  | { readonly kind: "snapshot-complete" }
  /** The packet sockets of every usable link are open. */
  | { readonly kind: "sockets-open" }
  /** The first push/pulls were begun with so many known peers; none known: ready at once. */
  | { readonly kind: "join-begun"; readonly knownPeers: number }
  /** A push/pull with a known peer ended well; the `members` event with what it brought comes first. */
  | { readonly kind: "join-done" }
  /** Every known peer refused. */
  | { readonly kind: "join-refused" }
  /** All other members, alive or suspect. */
  | { readonly kind: "members"; readonly others: readonly MemberView[] }
  /** This node was held dead, and refuted it. */
  | { readonly kind: "refuted-death" }
  /** This node's own Node object or document; undefined when there is none. A document may be missing, a Node object may not. */
  | { readonly kind: "node-facts"; readonly node: NodeFacts | undefined; readonly source: SourceKind }
  /** Asked locally. */
  | { readonly kind: "step-down"; readonly isWanted: boolean }
  /** A peer remembers the process before this one. */
  | { readonly kind: "remembered"; readonly run: PastRun }
  /** SIGTERM. */
  | { readonly kind: "leave" }
  | { readonly kind: "tick" };

/** The node itself does not say what it shall ignore. */
export interface StandingOptions extends NodeFlagOptions {
  readonly name: NodeName;
  /** What is known of the time before this process began: from the cache folder. */
  readonly troubles: readonly Trouble[];
  /** Nothing is known of that time here: what peers remember counts. Absent: it is. */
  readonly isFirstRun?: boolean;
}

export interface StandingState {
  readonly options: StandingOptions;
  readonly timing: ReturnTiming;
  readonly hasSnapshot: boolean;
  readonly hasSockets: boolean;
  readonly joinBegunMs?: number;
  /** Met a peer, or knows that there is none to meet. */
  readonly hasJoined: boolean;
  readonly readySinceMs?: number;
  readonly settlesUntilMs: number;
  readonly others: readonly MemberView[];
  /** Whom a node that is ready for less than 5 s has seen: who is lost meanwhile, and comes back, is no cluster that it joins. */
  readonly metWhileYoung: ReadonlySet<NodeName>;
  readonly merge?: Merge;
  readonly node?: NodeFacts;
  /** The Kubernetes API has no Node object of this name. */
  readonly lacksNode: boolean;
  readonly isAskedToStepDown: boolean;
  readonly isLeaving: boolean;
  readonly troubles: readonly Trouble[];
}

export function initialStanding(options: StandingOptions, timing = RETURN_TIMING): StandingState {
  return {
    options,
    timing,
    hasSnapshot: false,
    hasSockets: false,
    hasJoined: false,
    settlesUntilMs: Number.NEGATIVE_INFINITY,
    others: [],
    metWhileYoung: new Set(),
    lacksNode: false,
    isAskedToStepDown: false,
    isLeaving: false,
    troubles: options.troubles,
  };
}

export function stand(state: StandingState, event: StandingEvent, nowMs: number): StandingState {
  return becomeReady(apply(state, event, nowMs), nowMs);
}

/** A death that is refuted now is this process' own; soon after the start it was its predecessor's, whose end counts already. */
export function isOwnDeath({ readySinceMs, timing }: StandingState, nowMs: number): boolean {
  return readySinceMs !== undefined && nowMs - readySinceMs >= timing.settleMs;
}

/** Before its snapshot is complete and its sockets are open a speaker neither dials nor accepts a push/pull. */
export function mayJoin(state: StandingState): boolean {
  return state.hasSnapshot && state.hasSockets;
}

/** What the node still waits for before it says ready. */
export function readyReasonOf(state: StandingState): "ready" | "reading-sources" | "opening-sockets" | "joining-peers" {
  if (state.readySinceMs !== undefined) return "ready";
  if (!state.hasSnapshot) return "reading-sources";
  return state.hasSockets ? "joining-peers" : "opening-sockets";
}

/** In the order of the word. */
export function flagsOf(state: StandingState, nowMs: number): readonly WordFlag[] {
  const { node, options } = state;
  const ofNode = flagsOfNode(node, options);
  const says: Readonly<Record<WordFlag, boolean>> = {
    ...ofNode,
    ready: state.readySinceMs !== undefined,
    settling: state.readySinceMs !== undefined && nowMs < state.settlesUntilMs,
    "stepping-down": state.isAskedToStepDown || ofNode["stepping-down"],
    damped: nowMs < (dampedUntilMs(state.troubles, state.timing) ?? nowMs),
    leaving: state.isLeaving,
    "no-node-object": state.lacksNode,
  };
  return WORD_FLAGS.filter((flag) => says[flag]);
}

/** Seconds since the node became ready, in the steps of the word. */
export function readySecondsOf(state: StandingState, nowMs: number): number {
  if (state.readySinceMs === undefined) return 0;
  const seconds = (nowMs - state.readySinceMs) / 1_000;
  return READY_STEPS_SECONDS.findLast((step) => step <= seconds) ?? 0;
}

/** When the flags or the ready time change without an event; after a `tick` then they have. */
export function standingDeadlineMs(state: StandingState, nowMs: number): number | undefined {
  const deadlines: number[] = [];
  if (isWaitingForPeers(state)) deadlines.push((state.joinBegunMs ?? nowMs) + JOIN_SILENCE_MS);
  if (nowMs < state.settlesUntilMs) deadlines.push(state.settlesUntilMs);
  const dampedMs = dampedUntilMs(state.troubles, state.timing);
  if (dampedMs !== undefined && nowMs < dampedMs) deadlines.push(dampedMs);
  const { readySinceMs } = state;
  if (readySinceMs !== undefined) {
    const next = READY_STEPS_SECONDS.find((step) => readySinceMs + step * 1_000 > nowMs);
    if (next !== undefined) deadlines.push(readySinceMs + next * 1_000);
  }
  return deadlines.length === 0 ? undefined : Math.min(...deadlines);
}

function apply(state: StandingState, event: StandingEvent, nowMs: number): StandingState {
  switch (event.kind) {
    case "snapshot-complete":
      return { ...state, hasSnapshot: true };
    case "sockets-open":
      return { ...state, hasSockets: true };
    case "join-begun":
      return {
        ...state,
        joinBegunMs: state.joinBegunMs ?? nowMs,
        hasJoined: state.hasJoined || event.knownPeers === 0,
      };
    case "join-done":
    case "join-refused":
      return { ...state, hasJoined: true };
    case "members":
      return meet(state, event.others, nowMs);
    case "refuted-death":
      return {
        ...state,
        troubles: isOwnDeath(state, nowMs)
          ? addTrouble(state.troubles, { kind: "refuted-death", atMs: nowMs })
          : state.troubles,
        settlesUntilMs: nowMs + state.timing.settleMs,
      };
    case "node-facts": {
      const { node: _before, ...rest } = state;
      if (event.node !== undefined) return { ...rest, node: event.node, lacksNode: false };
      return { ...rest, lacksNode: event.source === "kubernetes" };
    }
    case "remembered":
      return remember(state, event.run, nowMs);
    case "step-down":
      return { ...state, isAskedToStepDown: event.isWanted };
    case "leave":
      return { ...state, isLeaving: true };
    case "tick":
      return state;
  }
  return state;
}

function becomeReady(state: StandingState, nowMs: number): StandingState {
  if (state.readySinceMs !== undefined || !mayJoin(state)) return state;
  const isUnanswered = isWaitingForPeers(state) && nowMs >= (state.joinBegunMs ?? nowMs) + JOIN_SILENCE_MS;
  if (!state.hasJoined && !isUnanswered) return state;
  const joinsCluster = state.others.some(isEstablished);
  return {
    ...state,
    hasJoined: true,
    readySinceMs: nowMs,
    settlesUntilMs: joinsCluster ? Math.max(state.settlesUntilMs, nowMs + state.timing.settleMs) : state.settlesUntilMs,
  };
}

function isWaitingForPeers(state: StandingState): boolean {
  return state.joinBegunMs !== undefined && !state.hasJoined;
}

/** Once, and before this process is ready: what is remembered later is itself. */
function remember(state: StandingState, run: PastRun, nowMs: number): StandingState {
  const { options, readySinceMs, troubles } = state;
  if (options.isFirstRun !== true || readySinceMs !== undefined || troubles.length > 0) return state;
  return { ...state, troubles: troublesAfter(run, nowMs) };
}

/** A node that is ready for less than 5 s joins the cluster that it meets; an older one, or one that meets whom it has lost, is a side of a merge. */
function meet(state: StandingState, others: readonly MemberView[], nowMs: number): StandingState {
  const isYoung = readySecondsOf(state, nowMs) < ESTABLISHED_SECONDS;
  const metWhileYoung = isYoung ? withNames(state.metWhileYoung, others) : state.metWhileYoung;
  const next = { ...state, others, metWhileYoung };
  if (state.readySinceMs === undefined) return next;
  const known = new Set(state.others.map(({ name }) => name));
  const newcomers = others.filter((member) => !known.has(member.name) && isEstablished(member));
  if (isYoung && newcomers.some(({ name }) => !state.metWhileYoung.has(name))) {
    const isSettling = nowMs < state.settlesUntilMs;
    return isSettling ? next : { ...next, settlesUntilMs: nowMs + state.timing.settleMs };
  }
  const founders = state.others.filter((member) => isYoung || isEstablished(member));
  const merge = mergeOf(
    state.merge,
    [state.options.name, ...founders.map(({ name }) => name)],
    newcomers.map(({ name }) => name),
    nowMs,
  );
  if (merge === undefined) return next;
  const settlesUntilMs = merge.isOursSmaller
    ? Math.max(state.settlesUntilMs, merge.begunMs + state.timing.settleMs)
    : state.settlesUntilMs;
  return { ...next, merge, settlesUntilMs };
}

/** The same set while it has them all. */
function withNames(names: ReadonlySet<NodeName>, members: readonly MemberView[]): ReadonlySet<NodeName> {
  const more = members.filter(({ name }) => !names.has(name));
  return more.length === 0 ? names : new Set([...names, ...more.map(({ name }) => name)]);
}

function isEstablished({ word }: MemberView): boolean {
  return word !== undefined && word.flags.includes("ready") && word.readySeconds >= ESTABLISHED_SECONDS;
}
