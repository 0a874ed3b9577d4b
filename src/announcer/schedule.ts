/**
 * Announcements waiting for one link (DESIGN D11): series of bursts through a token bucket, the first frame of every address
 * before the second of any. Knows addresses by name and frames by number; whether one may still leave is asked when it would.
 */
import type { Ip } from "../net/ip.ts";
import { TokenBucket } from "./token-bucket.ts";

/** Bursts of a series: some clients and switches learn only from a later one. MetalLB sends as many. */
export const BURSTS = 5;
/** Linux ignores a second change of an entry within its lock time of 1 s (net.ipv4.neigh.*.locktime). */
export const BURST_INTERVAL_MS = 1_100;
/** Unsolicited frames per second and link, and how many at once (DESIGN D11). */
export const FRAMES_PER_SECOND = 500;
export const FRAMES_AT_ONCE = 100;

interface Series {
  readonly ip: Ip;
  readonly framesPerBurst: number;
  readonly bursts: number;
  framesSent: number;
  dueMs: number;
  /** First frame of the latest burst; before any, of the series before this one. */
  burstAtMs: number;
  isCancelled: boolean;
}

/** One frame that is due: number `frame` of its burst. */
export interface DueFrame {
  readonly ip: Ip;
  readonly frame: number;
  readonly isLastOfBurst: boolean;
}

export class LinkSchedule {
  readonly #bucket: TokenBucket;
  /** By the number of frames that were sent in the series; each queue in order of due time. */
  readonly #queues: SeriesQueue[] = [];
  readonly #series = new Map<Ip, Series>();

  constructor(nowMs: number) {
    this.#bucket = new TokenBucket(FRAMES_PER_SECOND, FRAMES_AT_ONCE, nowMs);
  }

  /** A whole series from now on, in place of one that is under way. */
  start(ip: Ip, framesPerBurst: number, nowMs: number): void {
    this.#add(ip, framesPerBurst, BURSTS, nowMs);
  }

  /** One burst, not sooner than the interval after the last; nothing when a burst is to come anyway. */
  once(ip: Ip, framesPerBurst: number, nowMs: number): void {
    const before = this.#series.get(ip);
    if (before !== undefined && before.framesSent < before.bursts * before.framesPerBurst) return;
    const burstAtMs = before?.burstAtMs ?? Number.NEGATIVE_INFINITY;
    this.#add(ip, framesPerBurst, 1, Math.max(nowMs, burstAtMs + BURST_INTERVAL_MS));
  }

  cancel(ip: Ip): void {
    const series = this.#series.get(ip);
    if (series !== undefined) series.isCancelled = true;
    this.#series.delete(ip);
  }

  /** The next frame that is due and has a token; undefined when there is none now. */
  next(nowMs: number, mayAnnounce: (ip: Ip) => boolean): DueFrame | undefined {
    for (const queue of this.#queues) {
      let series = queue.head();
      while (series !== undefined && series.dueMs <= nowMs && !mayAnnounce(series.ip)) {
        this.cancel(series.ip);
        series = queue.head();
      }
      if (series === undefined || series.dueMs > nowMs) continue;
      if (!this.#bucket.take(nowMs)) return undefined;
      queue.takeHead();
      return this.#advance(series, nowMs);
    }
    return undefined;
  }

  nextDeadlineMs(): number | undefined {
    let dueMs = Number.POSITIVE_INFINITY;
    for (const queue of this.#queues) dueMs = Math.min(dueMs, queue.head()?.dueMs ?? dueMs);
    return dueMs === Number.POSITIVE_INFINITY ? undefined : this.#bucket.readyMs(dueMs);
  }

  #add(ip: Ip, framesPerBurst: number, bursts: number, dueMs: number): void {
    const burstAtMs = this.#series.get(ip)?.burstAtMs ?? Number.NEGATIVE_INFINITY;
    this.cancel(ip);
    const series = { ip, framesPerBurst, bursts, framesSent: 0, dueMs, burstAtMs, isCancelled: false };
    this.#series.set(ip, series);
    this.#enqueue(series);
  }

  #advance(series: Series, nowMs: number): DueFrame {
    const frame = series.framesSent % series.framesPerBurst;
    if (frame === 0) series.burstAtMs = nowMs;
    series.framesSent++;
    const isLastOfBurst = frame === series.framesPerBurst - 1;
    series.dueMs = isLastOfBurst ? Math.max(nowMs, series.burstAtMs + BURST_INTERVAL_MS) : nowMs;
    if (series.framesSent < series.bursts * series.framesPerBurst) this.#enqueue(series);
    return { ip: series.ip, frame, isLastOfBurst };
  }

  #enqueue(series: Series): void {
    while (this.#queues.length <= series.framesSent) this.#queues.push(new SeriesQueue());
    this.#queues[series.framesSent]?.add(series);
  }
}

/** In order of due time. Thousands wait here: one that leaves moves none of the others. */
class SeriesQueue {
  #waiting: Series[] = [];
  /** Before it nobody waits. */
  #first = 0;

  /** Nearly always at the end: frames are due in the order in which they are queued, but for a postponed burst. */
  add(series: Series): void {
    let at = this.#waiting.length;
    while (at > this.#first && (this.#waiting[at - 1]?.dueMs ?? 0) > series.dueMs) at--;
    if (at === this.#waiting.length) this.#waiting.push(series);
    else this.#waiting.splice(at, 0, series);
  }

  /** The first that is not cancelled. */
  head(): Series | undefined {
    while (this.#waiting[this.#first]?.isCancelled === true) this.takeHead();
    return this.#waiting[this.#first];
  }

  takeHead(): void {
    this.#first++;
    if (2 * this.#first < this.#waiting.length) return;
    this.#waiting = this.#waiting.slice(this.#first);
    this.#first = 0;
  }
}
