/** The wire thread's counts, put together for the metrics when they are asked for. */
import type { Timings } from "../src/metrics/counters.ts";
import type { Speaker } from "./speaker.ts";
import type { SpeakerNote } from "./speaker-ports.ts";
import type { WireTotals } from "./thread-messages.ts";

const NOTHING_DETECTED = {
  accusations: { silent: 0, hung: 0, refused: 0 },
  accusationsOverruled: 0,
  verdicts: 0,
  verdictsOverruled: 0,
  verdictsBraked: 0,
};

/** Timings kept between two scrapes; what exceeds this is one burst, and its shape is known. */
const TIMINGS_KEPT = 10_000;

export class Totals {
  readonly #moves = { self: 0, other: 0, nobody: 0 };
  readonly #self: string;
  #takeoverSeconds: number[] = [];
  #detectionSeconds: number[] = [];

  constructor(self: string) {
    this.#self = self;
  }

  note(note: SpeakerNote): void {
    if (note.kind === "leaders") {
      for (const { to } of note.changes) {
        if (to === undefined) this.#moves.nobody++;
        else if (to === this.#self) this.#moves.self++;
        else this.#moves.other++;
      }
    }
    if (note.kind === "took-over") keep(this.#takeoverSeconds, note.seconds);
    if (note.kind === "detected") keep(this.#detectionSeconds, note.seconds);
  }

  /** Totals since the start; timings since the last call. */
  take(speaker: Speaker): WireTotals {
    const announcer = speaker.announcer.counters();
    const timings: Timings = { takeoverSeconds: this.#takeoverSeconds, detectionSeconds: this.#detectionSeconds };
    this.#takeoverSeconds = [];
    this.#detectionSeconds = [];
    return {
      counters: {
        framesReceived: announcer.received,
        framesSent: announcer.sent,
        requestsAnswered: { ipv4: announcer.answered.arp, ipv6: announcer.answered.ndp },
        announcementsSent: announcer.announcedFrames,
        packetDrops: announcer.drops,
        gossipDrops: speaker.gossip?.counters().drops ?? new Map(),
        moves: { ...this.#moves },
        detection: { ...(speaker.gossip?.fast?.counters() ?? NOTHING_DETECTED), fences: speaker.fence.entries() },
      },
      timings,
    };
  }
}

function keep(list: number[], value: number): void {
  if (list.length < TIMINGS_KEPT) list.push(value);
}
