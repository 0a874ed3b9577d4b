/** What a drill on the cluster is, and what comes of one. */
import type { DrillService } from "./objects.ts";
import type { KubeScene } from "./scene.ts";

export interface KubeDeed {
  /** When the deed was done; a command line takes its time to do it, as it does for a user. */
  readonly deedMs: number;
  /** Figures of this drill alone, by name. */
  readonly extra?: Readonly<Record<string, number | null>>;
  /** Stretches of time whose moves are counted apart: figure's name → from, to. */
  readonly movesBetween?: Readonly<Record<string, readonly [number, number]>>;
}

export interface KubeDrill {
  /** What is done, for the reader. */
  readonly does: string;
  readonly service: DrillService;
  /** Before the instruments run and the leader is asked for. */
  readonly prepare?: (scene: KubeScene) => Promise<void>;
  /** Nobody answers when it begins. */
  readonly beginsInSilence?: true;
  /** Nobody is to answer when it ends; how long the address was claimed is a figure then. */
  readonly endsInSilence?: true;
  /** Ends when there is nothing more to see. */
  readonly drill: (scene: KubeScene) => Promise<KubeDeed>;
  /** Undoes what `repairStage` does not, also when the drill failed. */
  readonly repair?: (scene: KubeScene) => Promise<void>;
}
