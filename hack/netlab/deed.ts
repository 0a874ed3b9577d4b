/** What a drill is, and what it gives beside the figures that are measured of every drill. */
import type { DrillScene } from "./drill-scene.ts";

export type Extra = Readonly<Record<string, string | number>>;

export interface Spell {
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface Deed {
  readonly deedMs: number;
  /** When a frozen leader was let go on. */
  readonly thawMs?: number;
  /** When one node alone has to answer: `fromMs` to `untilMs`. */
  readonly alone?: Spell;
  readonly extra?: Extra;
}

export type Drill = (scene: DrillScene) => Promise<Deed>;
