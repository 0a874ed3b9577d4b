/** What a drill is measured with: the client, who makes requests, and the watcher, who asks for the address. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Ip } from "../../src/net/ip.ts";
import type { Mac } from "../../src/net/mac.ts";
import { HelperProcess } from "./helper-process.ts";
import type { ClientReport, Command, FrameRecord, RequestRecord, WatcherReport } from "./observations.ts";
import { runIpBatch } from "./run-command.ts";
import type { Topology } from "./topology.ts";

const CLIENT_PROGRAM = join(import.meta.dirname, "client-main.js");
const WATCHER_PROGRAM = join(import.meta.dirname, "watcher-main.js");

const START_TIMEOUT_MS = 30_000;
/** Requests before the deed, so that the client's neighbour entry is older than the second in which Linux ignores news. */
const WARM_UP_MS = 1_200;

export class Instruments {
  readonly #topology: Topology;
  readonly #requestIntervalMs: number | undefined;
  readonly #client: HelperProcess<Command, ClientReport>;
  readonly #watcher: HelperProcess<Command, WatcherReport>;

  constructor(topology: Topology, requestIntervalMs?: number) {
    this.#topology = topology;
    this.#requestIntervalMs = requestIntervalMs;
    this.#client = new HelperProcess(topology.client.namespace, CLIENT_PROGRAM);
    this.#watcher = new HelperProcess(topology.watcher.namespace, WATCHER_PROGRAM);
  }

  /** Requests and probes run; the leader's MAC has claimed the address and its requests are answered for a while, by `node` if given. */
  async begin(address: Ip, port: number, leaderMac: Mac, node?: string): Promise<void> {
    // Before the first request: what waits for a neighbour entry is lost with it.
    await runIpBatch(this.#topology.client.namespace, ["neigh flush all"]);
    this.start(address, port);
    const frame = await this.waitForFrame((report) => report.mac === leaderMac, START_TIMEOUT_MS);
    const reply = await this.waitForReply((report) => node === undefined || report.node === node, START_TIMEOUT_MS);
    if (reply === undefined) throw new Error(`${address}: requests to its leader are not answered`);
    if (frame === undefined) throw new Error(`${address}: its leader does not answer probes`);
    await sleep(WARM_UP_MS);
  }

  /** Without waiting for anybody to answer. */
  start(address: Ip, port: number): void {
    const pace = this.#requestIntervalMs === undefined ? {} : { requestIntervalMs: this.#requestIntervalMs };
    const command: Command = { kind: "start", address, port, ...pace };
    this.#client.send(command);
    this.#watcher.send(command);
  }

  /** The first frame of another claimer than before that `isWanted`, past or to come; undefined after the timeout. */
  async waitForFrame(
    isWanted: (report: { readonly mac: Mac; readonly atMs: number }) => boolean,
    timeoutMs: number,
  ): Promise<{ readonly mac: Mac; readonly atMs: number } | undefined> {
    return this.#watcher.waitFor(
      (report): report is Extract<WatcherReport, { kind: "claimed-by" }> =>
        report.kind === "claimed-by" && isWanted(report),
      timeoutMs,
    );
  }

  /** The first answer to a probe from another MAC than before that `isWanted`: on a busy machine long after its announcement. */
  async waitForProbeAnswer(
    isWanted: (report: { readonly mac: Mac; readonly atMs: number }) => boolean,
    timeoutMs: number,
  ): Promise<{ readonly mac: Mac; readonly atMs: number } | undefined> {
    return this.#watcher.waitFor(
      (report): report is Extract<WatcherReport, { kind: "probe-answered-by" }> =>
        report.kind === "probe-answered-by" && isWanted(report),
      timeoutMs,
    );
  }

  /** The first answer from another node than before that `isWanted`, past or to come; undefined after the timeout. */
  async waitForReply(
    isWanted: (report: { readonly node: string; readonly atMs: number }) => boolean,
    timeoutMs: number,
  ): Promise<{ readonly node: string; readonly atMs: number } | undefined> {
    return this.#client.waitFor(
      (report): report is Extract<ClientReport, { kind: "answered-by" }> =>
        report.kind === "answered-by" && isWanted(report),
      timeoutMs,
    );
  }

  /** Ends requests and probes, and gives what was noted. */
  async finish(): Promise<{ readonly requests: readonly RequestRecord[]; readonly frames: readonly FrameRecord[] }> {
    this.#client.send({ kind: "stop" });
    const client = await this.#client.waitFor((report) => report.kind === "done", START_TIMEOUT_MS);
    this.#watcher.send({ kind: "stop" });
    const watcher = await this.#watcher.waitFor((report) => report.kind === "done", START_TIMEOUT_MS);
    if (client === undefined || watcher === undefined) throw new Error("the drill's helpers do not end");
    return { requests: client.requests, frames: watcher.frames };
  }

  close(): void {
    this.#client.close();
    this.#watcher.close();
  }
}
