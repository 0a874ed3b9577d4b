/** A program of the lab that runs in a namespace as long as its drill, and talks over IPC. */
import { type ChildProcess, spawn } from "node:child_process";
import { asInstrument, inNamespace } from "./run-command.ts";

export class HelperProcess<Command, Report extends { readonly kind: string }> {
  readonly #child: ChildProcess;
  readonly #reports: Report[] = [];
  readonly #waiting = new Set<() => void>();
  #hasEnded = false;

  /** `program` is the path of a script that ends when its IPC channel is closed, so that it cannot outlive us. */
  constructor(namespace: string, program: string, args: readonly string[] = []) {
    const [command = "", ...argv] = inNamespace(namespace, asInstrument([process.execPath, program, ...args]));
    this.#child = spawn(command, argv, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
    this.#child.on("message", (report: Report) => {
      this.#reports.push(report);
      this.#wake();
    });
    this.#child.once("exit", () => {
      this.#hasEnded = true;
      this.#wake();
    });
  }

  /** Every report so far, in order. */
  get reports(): readonly Report[] {
    return this.#reports;
  }

  send(command: Command): void {
    this.#child.send(command as object);
  }

  /** The first report that `isWanted`, past or to come; undefined after the timeout. Throws when the program has ended without it. */
  async waitFor<Wanted extends Report>(
    isWanted: (report: Report) => report is Wanted,
    timeoutMs: number,
  ): Promise<Wanted | undefined> {
    const deadlineMs = performance.now() + timeoutMs;
    for (;;) {
      const found = this.#reports.find(isWanted);
      if (found !== undefined) return found;
      if (this.#hasEnded) throw new Error("a helper of the drill ended before its time");
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0) return undefined;
      await this.#nextReport(leftMs);
    }
  }

  close(): void {
    this.#child.kill("SIGKILL");
  }

  #nextReport(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(wake, timeoutMs);
      const waiting = this.#waiting;
      function wake(): void {
        clearTimeout(timer);
        waiting.delete(wake);
        resolve();
      }
      waiting.add(wake);
    });
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }
}
