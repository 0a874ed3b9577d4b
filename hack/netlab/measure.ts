/** From what was observed to a drill's figures. Pure. */
import type { Mac } from "../../src/net/mac.ts";
import type { Spell } from "./deed.ts";
import { type FrameRecord, PROBE_INTERVAL_MS, type RequestRecord } from "./observations.ts";

export interface Observation {
  readonly deedMs: number;
  /** Leader before the deed. */
  readonly oldNode: string;
  readonly oldMac: Mac;
  /** When a frozen leader was let go on. */
  readonly thawMs?: number;
  /** When one node alone has to answer. */
  readonly alone?: Spell;
  readonly requests: readonly RequestRecord[];
  /** In the order of their arrival. */
  readonly frames: readonly FrameRecord[];
}

export interface Figures {
  /** Deed → first frame of another node for the address; null: there was none. */
  readonly firstFrameMs: number | null;
  /** Deed → first request that another node answered. */
  readonly firstReplyMs: number | null;
  /** Longest time without an answered request. */
  readonly longestGapMs: number;
  readonly sent: number;
  /** SYN unanswered for 1 s, or broken while no leader changed. */
  readonly lost: number;
  /** Connections that stood while the leader changed and broke: their new node does not know them. */
  readonly resets: number;
  /** How often the only answerer changed. */
  readonly moves: number;
  /** MACs that claimed the address, in order of appearance. */
  readonly macs: readonly Mac[];
  /** Time in which probes were answered by two MACs. */
  readonly bothAnswerMs: number;
  /** Drill freeze: answers of the thawed leader that it gave without having become the leader anew. */
  readonly answersAfterThaw?: number;
  /** Drills that say when one node alone has to answer: how many answered then. */
  readonly answerersWhenAlone?: number;
}

/** A MAC that claims an address after such a silence is a new leader, one that was heard a moment ago is an old one that still answers. */
const SPELL_MS = 500;

/** The client's kernel and the watcher see a change of leader at one time; on a busy machine they note it so far apart. */
const NOTED_MS = 200;

export function measure({ deedMs, oldNode, oldMac, thawMs, alone, requests, frames }: Observation): Figures {
  const flips = flipTimes(frames, oldMac);
  const failed = requests.filter(({ outcome }) => outcome !== "answered");
  const resets = failed.filter(
    ({ outcome, startMs, endMs }) =>
      outcome === "broken" && flips.some((flipMs) => startMs - NOTED_MS < flipMs && flipMs < endMs + NOTED_MS),
  ).length;
  const answers = answerersByProbe(frames);
  const firstFrame = frames.find(({ atMs, mac }) => atMs >= deedMs && mac !== oldMac);
  const firstReply = requests
    .filter(({ endMs, outcome, node }) => endMs >= deedMs && outcome === "answered" && node !== oldNode)
    .reduce((earliestMs, { endMs }) => Math.min(earliestMs, endMs), Number.POSITIVE_INFINITY);
  return {
    firstFrameMs: firstFrame === undefined ? null : tenths(firstFrame.atMs - deedMs),
    firstReplyMs: firstReply === Number.POSITIVE_INFINITY ? null : tenths(firstReply - deedMs),
    longestGapMs: tenths(longestGap(requests)),
    sent: requests.length,
    lost: failed.length - resets,
    resets,
    moves: countMoves(answers),
    macs: [...new Set(frames.map(({ mac }) => mac))],
    bothAnswerMs: bothAnswerMs(frames),
    ...(thawMs !== undefined && {
      answersAfterThaw: answersBeforeClaim(frames.filter(({ atMs, mac }) => mac === oldMac && atMs > thawMs)),
    }),
    ...(alone !== undefined && { answerersWhenAlone: answerersIn(alone, frames) }),
  };
}

function answerersIn({ fromMs, untilMs }: Spell, frames: readonly FrameRecord[]): number {
  const answers = frames.filter(({ atMs, probe }) => probe !== undefined && atMs >= fromMs && atMs < untilMs);
  return new Set(answers.map(({ mac }) => mac)).size;
}

/** How many of the frames come before the first that was not asked for: a leader announces itself before it answers. */
function answersBeforeClaim(frames: readonly FrameRecord[]): number {
  const claim = frames.findIndex(({ probe }) => probe === undefined);
  return claim === -1 ? frames.length : claim;
}

/** Time in which probes were answered by two MACs. */
export function bothAnswerMs(frames: readonly FrameRecord[]): number {
  return answerersByProbe(frames).filter((macs) => macs.size > 1).length * PROBE_INTERVAL_MS;
}

/** When a new leader's first frame was seen. */
function flipTimes(frames: readonly FrameRecord[], oldMac: Mac): readonly number[] {
  const lastHeardMs = new Map<Mac, number>();
  const flips: number[] = [];
  let leader = oldMac;
  for (const { atMs, mac, probe } of frames) {
    const silentMs = atMs - (lastHeardMs.get(mac) ?? Number.NEGATIVE_INFINITY);
    if (mac !== leader && (probe === undefined || silentMs > SPELL_MS)) {
      flips.push(atMs);
      leader = mac;
    }
    lastHeardMs.set(mac, atMs);
  }
  return flips;
}

/** For every probe that was answered, who answered it. */
function answerersByProbe(frames: readonly FrameRecord[]): readonly ReadonlySet<Mac>[] {
  const answers = new Map<number, Set<Mac>>();
  for (const { mac, probe } of frames) {
    if (probe === undefined) continue;
    answers.set(probe, (answers.get(probe) ?? new Set()).add(mac));
  }
  return [...answers.entries()].toSorted(([a], [b]) => a - b).map(([, macs]) => macs);
}

function countMoves(answers: readonly ReadonlySet<Mac>[]): number {
  const single = answers.flatMap((macs) => (macs.size === 1 ? [...macs] : []));
  return single.filter((mac, index) => index > 0 && mac !== single[index - 1]).length;
}

function longestGap(requests: readonly RequestRecord[]): number {
  const starts = requests.map(({ startMs }) => startMs).toSorted((a, b) => a - b);
  const ends = requests.flatMap(({ outcome, endMs }) => (outcome === "answered" ? [endMs] : []));
  const times = [...starts.slice(0, 1), ...ends, ...starts.slice(-1)].toSorted((a, b) => a - b);
  return times.reduce((gapMs, timeMs, index) => Math.max(gapMs, timeMs - (times[index - 1] ?? timeMs)), 0);
}

function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}
