/** What a drill can do and see: the faults, the client, the watcher. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Ip } from "../../src/net/ip.ts";
import type { SwitchFaults } from "./faults.ts";
import { HelperProcess } from "./helper-process.ts";
import type { Lab } from "./lab.ts";
import type { ClientReport, Command, FrameRecord, RequestRecord, WatcherReport } from "./observations.ts";
import { runIpBatch } from "./run-command.ts";
import { waitUntilSettled } from "./status.ts";
import { ADDRESSES, type Host } from "./topology.ts";

const CLIENT_PROGRAM = join(import.meta.dirname, "client-main.js");
const WATCHER_PROGRAM = join(import.meta.dirname, "watcher-main.js");

/** MetalLB's worst measured take-over is 7.6 s; what takes four times that will not come. */
const TAKE_OVER_TIMEOUT_MS = 30_000;
/** Rejoining a healed member may take a round of 10 s and a wait for it to settle of another 10 s. */
const AGREE_TIMEOUT_MS = 45_000;
const START_TIMEOUT_MS = 30_000;
/** Requests before the deed, so that the client's neighbour entry is older than the second in which Linux ignores news. */
const WARM_UP_MS = 1_200;

export class DrillScene {
  readonly lab: Lab;
  readonly address: Ip;
  readonly leader: Host;
  readonly faults: SwitchFaults;
  readonly #client: HelperProcess<Command, ClientReport>;
  readonly #watcher: HelperProcess<Command, WatcherReport>;

  constructor(lab: Lab, address: Ip, leader: Host, faults: SwitchFaults) {
    this.lab = lab;
    this.address = address;
    this.leader = leader;
    this.faults = faults;
    this.#client = new HelperProcess(lab.topology.client.namespace, CLIENT_PROGRAM);
    this.#watcher = new HelperProcess(lab.topology.watcher.namespace, WATCHER_PROGRAM);
  }

  /** Requests and probes run, and the leader has answered both for a while. */
  async begin(port: number): Promise<void> {
    await runIpBatch(this.lab.topology.client.namespace, ["neigh flush all"]);
    this.#client.send({ kind: "start", address: this.address, port });
    this.#watcher.send({ kind: "start", address: this.address, port });
    const reply = await this.#client.waitFor(isReplyOf(this.leader), START_TIMEOUT_MS);
    const frame = await this.#watcher.waitFor(isFrameOf(this.leader), START_TIMEOUT_MS);
    if (reply === undefined || frame === undefined) {
      throw new Error(`${this.address}: ${this.leader.name} leads and does not answer`);
    }
    await sleep(WARM_UP_MS);
  }

  /** Until another node than the leader has both claimed the address and answered a request since the deed; false: 30 s went by. */
  async takeOver(deedMs: number): Promise<boolean> {
    const { leader } = this;
    const frame = await this.#watcher.waitFor(
      (report): report is WatcherReport =>
        report.kind === "claimed-by" && report.mac !== leader.mac && report.atMs >= deedMs,
      TAKE_OVER_TIMEOUT_MS,
    );
    const reply = await this.#client.waitFor(
      (report): report is ClientReport =>
        report.kind === "answered-by" && report.node !== leader.name && report.atMs >= deedMs,
      TAKE_OVER_TIMEOUT_MS,
    );
    return frame !== undefined && reply !== undefined;
  }

  /** Until all speakers name one leader again and none settles. */
  async agree(): Promise<void> {
    await waitUntilSettled(this.lab, ADDRESSES, AGREE_TIMEOUT_MS);
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

function isReplyOf(host: Host) {
  return (report: ClientReport): report is ClientReport => report.kind === "answered-by" && report.node === host.name;
}

function isFrameOf(host: Host) {
  return (report: WatcherReport): report is WatcherReport => report.kind === "claimed-by" && report.mac === host.mac;
}
