/** What a drill can do and see: the faults, the client, the watcher. */
import type { AddressDocument } from "../../api/address.ts";
import type { Ip } from "../../src/net/ip.ts";
import type { SwitchFaults } from "./faults.ts";
import { Instruments } from "./instruments.ts";
import type { Lab } from "./lab.ts";
import type { FrameRecord, RequestRecord } from "./observations.ts";
import { callSpeaker, waitUntilSettled } from "./status.ts";
import { ADDRESSES, type Host } from "./topology.ts";

/** MetalLB's worst measured take-over is 7.6 s; what takes four times that will not come. */
const TAKE_OVER_TIMEOUT_MS = 30_000;
/** Rejoining a healed member may take a round of 10 s and a wait for it to settle of another 10 s. */
const AGREE_TIMEOUT_MS = 45_000;

export class DrillScene {
  readonly lab: Lab;
  readonly address: Ip;
  readonly leader: Host;
  readonly faults: SwitchFaults;
  /** How long a drill that lasts shall last. */
  readonly minutes: number;
  readonly #instruments: Instruments;

  constructor(
    lab: Lab,
    address: Ip,
    leader: Host,
    faults: SwitchFaults,
    { minutes, requestIntervalMs }: { readonly minutes: number; readonly requestIntervalMs: number | undefined },
  ) {
    this.lab = lab;
    this.address = address;
    this.leader = leader;
    this.faults = faults;
    this.minutes = minutes;
    this.#instruments = new Instruments(lab.topology, requestIntervalMs);
  }

  /** The node that would lead next, as the leader sees it. */
  async second(): Promise<Host> {
    const answer = await callSpeaker(this.lab, this.leader, "GET", `/status/addresses/${this.address}`);
    if (answer?.status !== 200) throw new Error(`${this.leader.name} does not tell who is second for ${this.address}`);
    const { candidates } = JSON.parse(answer.body) as AddressDocument;
    const second = this.lab.topology.nodes.find(({ name }) => name === candidates[1]?.node);
    if (second === undefined) throw new Error(`${this.address} has no second`);
    return second;
  }

  /** Requests and probes run, and the leader has answered both for a while. */
  async begin(port: number): Promise<void> {
    await this.#instruments.begin(this.address, port, this.leader.mac, this.leader.name);
  }

  /** Until another node than the leader has answered both a probe and a request since the deed; false: 30 s went by. */
  async takeOver(deedMs: number): Promise<boolean> {
    const { leader } = this;
    const answer = await this.#instruments.waitForProbeAnswer(
      ({ mac, atMs }) => mac !== leader.mac && atMs >= deedMs,
      TAKE_OVER_TIMEOUT_MS,
    );
    const reply = await this.#instruments.waitForReply(
      ({ node, atMs }) => node !== leader.name && atMs >= deedMs,
      TAKE_OVER_TIMEOUT_MS,
    );
    return answer !== undefined && reply !== undefined;
  }

  /** Until all speakers name one leader again and none settles. */
  async agree(): Promise<void> {
    await waitUntilSettled(this.lab, ADDRESSES, AGREE_TIMEOUT_MS);
  }

  /** Ends requests and probes, and gives what was noted. */
  finish(): Promise<{ readonly requests: readonly RequestRecord[]; readonly frames: readonly FrameRecord[] }> {
    return this.#instruments.finish();
  }

  close(): void {
    this.#instruments.close();
  }
}
