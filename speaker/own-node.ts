/** What this node is at present: its standing and its links. The states of two pure machines, and the word that follows from them. */
import { earliest } from "../src/base/deadlines.ts";
import type { PastRun } from "../src/election/damping.ts";
import { buildWord, type OwnFacts } from "../src/election/own-word.ts";
import type { ReturnTiming } from "../src/election/return-timing.ts";
import {
  flagsOf,
  initialStanding,
  readyReasonOf,
  type StandingEvent,
  type StandingState,
  stand,
  standingDeadlineMs,
} from "../src/election/standing.ts";
import {
  failSockets,
  initialLinks,
  type JudgedLink,
  judgeLinks,
  type LinksState,
  linksDeadlineMs,
  observeLinks,
} from "../src/election/usable-links.ts";
import type { NodeWord } from "../src/election/word.ts";
import type { Link } from "../src/net/link.ts";
import { type PastTrouble, pastTroublesOf, type Readiness, type SpeakerSettings } from "./speaker-ports.ts";

export class OwnNode {
  #standing: StandingState;
  #links: LinksState;

  /** `timing`: other numbers than DESIGN's. */
  constructor(settings: SpeakerSettings, nowMs: number, timing?: ReturnTiming) {
    const options = {
      name: settings.nodeName,
      ignoresCordon: settings.ignoresCordon,
      ignoresExcludeLabel: settings.ignoresExcludeLabel,
      troubles: settings.pastTroubles.map(({ kind, ageMs }) => ({ kind, atMs: nowMs - ageMs })),
      isFirstRun: settings.isFirstRun === true,
    };
    this.#standing = initialStanding(options, timing);
    this.#links = initialLinks({ excluded: settings.excludedLinks, selected: [] }, timing);
  }

  get standing(): StandingState {
    return this.#standing;
  }

  readiness(): Readiness {
    return readyReasonOf(this.#standing);
  }

  /** As its word says. */
  isReady(nowMs: number): boolean {
    return flagsOf(this.#standing, nowMs).includes("ready");
  }

  stand(event: StandingEvent, nowMs: number): void {
    this.#standing = stand(this.#standing, event, nowMs);
  }

  /** Troubles of the process before this one that only a peer knew of; empty when they do not count. */
  remember(run: PastRun, nowMs: number): readonly PastTrouble[] {
    const before = this.#standing.troubles;
    this.stand({ kind: "remembered", run }, nowMs);
    return this.#standing.troubles === before ? [] : pastTroublesOf(this.#standing.troubles, nowMs);
  }

  /** False before the kernel has said anything. */
  get knowsLinks(): boolean {
    return this.#links.links !== undefined;
  }

  /** The machine's links, complete. */
  observeLinks(links: readonly Link[], nowMs: number): void {
    this.#links = observeLinks(this.#links, links, nowMs);
  }

  /** Indices of the links whose sockets do not open now, complete. */
  failSockets(links: ReadonlySet<number>): void {
    this.#links = failSockets(this.#links, links);
  }

  /** Every link, by index, and whether it counts now. */
  links(nowMs: number): readonly JudgedLink[] {
    return judgeLinks(this.#links, nowMs);
  }

  /** One link that fails must not keep the others from answering; with no link at all there is nothing to open. */
  hasOpenSockets(nowMs: number): boolean {
    if (!this.knowsLinks) return false;
    const links = this.links(nowMs);
    return links.some(({ isUsable }) => isUsable) || !links.some(({ reason }) => reason === "socket-failed");
  }

  /** What others are told of this node. */
  word(facts: Omit<OwnFacts, "standing" | "links">, nowMs: number): NodeWord {
    return buildWord({ ...facts, standing: this.#standing, links: this.links(nowMs) }, nowMs);
  }

  /** When something of it changes without an event. */
  deadlineMs(nowMs: number): number | undefined {
    return earliest([standingDeadlineMs(this.#standing, nowMs), linksDeadlineMs(this.#links, nowMs)]);
  }
}
