/** The command `hack/lab` as a user gives it, and what its drills found. */
import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import type { DrillName } from "../../hack/netlab/drills.ts";
import type { Figures } from "../../hack/netlab/measure.ts";
import type { DrillResult } from "../../hack/netlab/promises.ts";

/** This file runs from dist/bench/failover. */
const COMMAND = resolve(import.meta.dirname, "../../../hack/lab");

export interface DrillOptions {
  readonly nodes: number;
  readonly runs?: number;
  readonly minutes?: number;
}

/** One lab; it is built by its first drill. */
export class LabCommand {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  /** One result a run; fewer when the lab ended over one, for a reason that it has said on standard error. */
  async drill(drill: DrillName, { nodes, runs = 1, minutes = 1 }: DrillOptions): Promise<readonly DrillResult[]> {
    const counts = ["--nodes", String(nodes), "--runs", String(runs), "--minutes", String(minutes)];
    const lines = await this.#run(["drill", drill, ...counts, "--json"]);
    return lines.map((line) => {
      const found = JSON.parse(line) as Figures & DrillResult["extra"];
      return { figures: found, extra: found };
    });
  }

  async down(): Promise<void> {
    await this.#run(["down"]);
  }

  async #run(words: readonly string[]): Promise<readonly string[]> {
    const child = spawn(COMMAND, [...words, "--name", this.#name], { stdio: ["ignore", "pipe", "inherit"] });
    const lines: string[] = [];
    for await (const line of createInterface(child.stdout)) lines.push(line);
    return lines;
  }
}
