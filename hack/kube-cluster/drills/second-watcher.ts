/** A watcher beside the one of the instruments: for another address, or another link. */
import { join } from "node:path";
import type { Ip } from "../../../src/net/ip.ts";
import { HelperProcess } from "../../netlab/helper-process.ts";
import type { Command, FrameRecord, WatcherReport } from "../../netlab/observations.ts";
import type { Host } from "../../netlab/topology.ts";

const PROGRAM = join(import.meta.dirname, "../../netlab/watcher-main.js");
const TIMEOUT_MS = 30_000;

export class SecondWatcher {
  readonly #process: HelperProcess<Command, WatcherReport>;
  readonly #address: Ip;

  constructor(host: Host, link: string, address: Ip) {
    this.#process = new HelperProcess(host.namespace, PROGRAM, [link]);
    this.#address = address;
  }

  /** Probes from now on. */
  start(): void {
    this.#process.send({ kind: "start", address: this.#address, port: 0 });
  }

  /** The first frame since then that claims the address from another MAC than the frame before; undefined when none came within 30 s. */
  async firstFrame(sinceMs: number): Promise<number | undefined> {
    const report = await this.#process.waitFor(
      (one): one is Extract<WatcherReport, { kind: "claimed-by" }> => one.kind === "claimed-by" && one.atMs >= sinceMs,
      TIMEOUT_MS,
    );
    return report?.atMs;
  }

  /** Ends the probes and gives every frame. */
  async finish(): Promise<readonly FrameRecord[]> {
    this.#process.send({ kind: "stop" });
    const done = await this.#process.waitFor(
      (report): report is Extract<WatcherReport, { kind: "done" }> => report.kind === "done",
      TIMEOUT_MS,
    );
    if (done === undefined) throw new Error("the drill's watcher does not end");
    return done.frames;
  }

  close(): void {
    this.#process.close();
  }
}
