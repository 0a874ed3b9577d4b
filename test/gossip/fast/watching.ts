/** One fast detector and a member that answers it, or does not: what it asks is answered within 1 ms. */
import { FastDetector } from "../../../src/gossip/fast/fast-detector.ts";
import type { FastEffect, FastObservation, WatchView } from "../../../src/gossip/fast/fast-event.ts";

export const LEADER = "n1";
export const SELF = "n2";

/** What answers at the moment. */
export interface Answers {
  process: boolean;
  host: boolean;
  /** Other members, to pings of ours. */
  others: boolean;
  /** The leader, through a helper. */
  helpers: boolean;
}

export function viewOf(nodes: number, change: Partial<WatchView> = {}): WatchView {
  const names = Array.from({ length: nodes }, (_, index) => `n${index + 1}`);
  return { leaders: [{ node: LEADER, seconds: [SELF] }], watchers: names, goMembers: [], hasLink: true, ...change };
}

export interface Told {
  readonly atMs: number;
  readonly effect: FastEffect;
}

export class Watching {
  readonly detector: FastDetector;
  readonly answers: Answers = { process: true, host: true, others: true, helpers: false };
  readonly told: Told[] = [];
  nowMs = 10_000;
  incarnation = 1;

  constructor(nodes: number, change: Partial<WatchView> = {}, self = SELF) {
    this.detector = new FastDetector({ self, phase: () => 0.5 });
    this.view(nodes, change);
  }

  view(nodes: number, change: Partial<WatchView> = {}): void {
    const view = viewOf(nodes, change);
    const members = new Map([...view.watchers, ...view.goMembers].map((name) => [name, this.incarnation]));
    this.observe({ kind: "view", view, members });
  }

  observe(observation: FastObservation): readonly FastEffect[] {
    const effects = this.detector.handle(observation, this.nowMs);
    for (const effect of effects) this.told.push({ atMs: this.nowMs, effect });
    for (const effect of effects) for (const answer of this.#answersTo(effect)) this.observe(answer);
    return effects;
  }

  /** Ticks at every deadline. */
  run(durationMs: number): void {
    const untilMs = this.nowMs + durationMs;
    for (
      let next = this.detector.nextDeadlineMs();
      next !== undefined && next <= untilMs;
      next = this.detector.nextDeadlineMs()
    ) {
      this.nowMs = Math.max(this.nowMs, next);
      this.observe({ kind: "tick" });
    }
    this.nowMs = untilMs;
  }

  /** The watcher itself stands: nothing is read, nothing is asked. */
  stand(durationMs: number): void {
    this.nowMs += durationMs;
    this.observe({ kind: "tick" });
  }

  accuse(by: string, incarnation = this.incarnation): void {
    this.observe({ kind: "accused", node: LEADER, incarnation, by });
  }

  of<Kind extends FastEffect["kind"]>(
    kind: Kind,
    sinceMs = 0,
  ): readonly (Extract<FastEffect, { kind: Kind }> & { readonly atMs: number })[] {
    return this.told.flatMap(({ atMs, effect }) =>
      atMs >= sinceMs && isKind(effect, kind) ? [{ ...effect, atMs }] : [],
    );
  }

  #answersTo(effect: FastEffect): readonly FastObservation[] {
    const { process, host, others, helpers } = this.answers;
    const node = LEADER;
    switch (effect.kind) {
      case "ping":
        if (effect.node !== node) return others ? [{ kind: "answered", node: effect.node }] : [];
        return process
          ? [
              { kind: "answered", node },
              { kind: "proof", node, by: "ack" },
            ]
          : [];
      case "ask-helpers":
        return [
          ...(others ? [{ kind: "answered", node: "n3" } as const] : []),
          ...(helpers ? [{ kind: "proof", node, by: "relayed" } as const] : []),
        ];
      case "ask-neighbour":
        return host ? [{ kind: "host-answered", node }] : [];
      case "tcp-ping":
        return this.#connectionTo(node);
      case "suspect":
      case "tell-suspect":
      case "dead":
      case "unwatched":
        return [];
      default:
        return [];
    }
  }

  #connectionTo(node: string): readonly FastObservation[] {
    const { process, host } = this.answers;
    const { incarnation } = this;
    if (!host) return [];
    if (this.isPortClosed) return [{ kind: "refused", node, incarnation }];
    const accepted = { kind: "accepted", node, incarnation } as const;
    return process ? [accepted, { kind: "proof", node, by: "tcp" }] : [accepted];
  }

  /** The process is gone, and its host says so. */
  isPortClosed = false;

  killProcess(): void {
    this.answers.process = false;
    this.isPortClosed = true;
  }

  killHost(): void {
    this.answers.process = false;
    this.answers.host = false;
  }
}

function isKind<Kind extends FastEffect["kind"]>(
  effect: FastEffect,
  kind: Kind,
): effect is Extract<FastEffect, { kind: Kind }> {
  return effect.kind === kind;
}
