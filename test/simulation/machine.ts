/** One host: cards, kernel, and at most one speaker process with its loop and sockets. */

import type { VirtualClock } from "../../src/base/clock.ts";
import type { Random } from "../../src/base/random.ts";
import type { ClusterSnapshot } from "../../src/desired/snapshot.ts";
import type { KeyFiles } from "../../src/gossip/key-rotation.ts";
import type { Endpoint } from "../../src/gossip/message.ts";
import type { Ip } from "../../src/net/ip.ts";
import type { Link } from "../../src/net/link.ts";
import { type Mac, parseMac } from "../../src/net/mac.ts";
import type { EthernetSwitch } from "./ethernet-switch.ts";
import type { GossipNetwork, NetworkListener, Station } from "./gossip-network.ts";
import { type CardSettings, NetworkCard } from "./network-card.ts";
import { ProcessLoop, type Standstill } from "./process-loop.ts";
import { type PortWatch, ProcessPackets } from "./process-packets.ts";
import { ProcessTransport } from "./process-transport.ts";
import type { StartTenant, Tenant, TenantView } from "./tenant.ts";

/** From a change in the kernel to its rtnetlink message being readable. */
const NETLINK_MS = 1;
const GOSSIP_PORT = 7946;

export interface MachineSettings {
  readonly name: string;
  readonly ip: Ip;
  readonly ratePpm: number;
  readonly cards: readonly { readonly segment: EthernetSwitch; readonly settings: CardSettings }[];
}

/** What happens on a machine, for checkers and trace. */
export interface MachineWatch extends PortWatch {
  noted(text: string, about: readonly Ip[]): void;
  exited(): void;
}

/** Asked of everything that the process sends. */
export interface Refusal {
  readonly refusesFrame: () => boolean;
  readonly refusesDatagram: () => boolean;
}

interface RunningProcess {
  readonly loop: ProcessLoop;
  readonly packets: ProcessPackets;
  readonly transport: ProcessTransport;
  readonly tenant: Tenant;
  readonly startedMs: number;
}

export class Machine implements Station {
  readonly name: string;
  readonly cards: readonly NetworkCard[];
  ip: Ip;
  /** What the process on this machine was given last; undefined: nothing has been read yet. */
  snapshot: ClusterSnapshot | undefined;
  peers: readonly Endpoint[] = [];
  isPowered = true;
  isLeaving = false;
  /** What its files of the gossip key say; undefined: gossip goes in the clear. */
  keys: KeyFiles | undefined;
  /** While set, its kernel refuses some of what is sent. */
  refusal: Refusal | undefined;
  /** A change of a link is on its way to the process. */
  isNewsPending = false;
  readonly #clock: VirtualClock;
  readonly #network: GossipNetwork;
  readonly #watch: MachineWatch;
  readonly #ratePpm: number;
  #process: RunningProcess | undefined;
  #pausedUntilMs = -1;
  #bystanders: readonly Link[] = [];
  #seen: { readonly loop: ProcessLoop; readonly turns: number; readonly view: TenantView } | undefined;

  constructor(settings: MachineSettings, clock: VirtualClock, network: GossipNetwork, watch: MachineWatch) {
    this.name = settings.name;
    this.ip = settings.ip;
    this.#clock = clock;
    this.#network = network;
    this.#watch = watch;
    this.#ratePpm = settings.ratePpm;
    this.cards = settings.cards.map(
      (card) =>
        new NetworkCard(settings.name, card.segment, card.settings, (from, frame) =>
          this.#process?.packets.offer(from, frame),
        ),
    );
    network.assign(this.ip, this);
  }

  get isReachable(): boolean {
    return this.isPowered && this.#pausedUntilMs <= this.#clock.nowMs() && this.cards[0]?.hasCarrier === true;
  }

  get listener(): NetworkListener | undefined {
    const transport = this.#process?.transport;
    return transport?.isListening === true ? transport : undefined;
  }

  get isRunning(): boolean {
    return this.#process !== undefined;
  }

  /** Running, and its loop turns. */
  get isAwake(): boolean {
    return this.#process !== undefined && !this.#process.loop.isStanding;
  }

  get startedMs(): number | undefined {
    return this.#process?.startedMs;
  }

  get tenant(): Tenant | undefined {
    return this.#process?.tenant;
  }

  /** What its process holds: the same object until the process has done something. */
  view(): TenantView | undefined {
    const process = this.#process;
    if (process === undefined) return undefined;
    const { loop, tenant } = process;
    if (this.#seen?.loop !== loop || this.#seen.turns !== loop.turns || loop.isTurning) {
      this.#seen = { loop, turns: loop.turns, view: tenant.view() };
    }
    return this.#seen.view;
  }

  get endpoint(): Endpoint {
    return { ip: this.ip, port: GOSSIP_PORT };
  }

  start(startTenant: StartTenant, random: Random): void {
    if (this.#process !== undefined || !this.isPowered) return;
    this.isLeaving = false;
    const loop = new ProcessLoop(this.#clock, this.#ratePpm);
    const packets = new ProcessPackets(this.cards, loop, this.#watch, () => this.refusal?.refusesFrame() === true);
    const isRefused = (): boolean => this.refusal?.refusesDatagram() === true;
    const transport = new ProcessTransport(this.#network, this, loop, this.endpoint, isRefused);
    const tenant = startTenant({
      name: this.name,
      clock: loop,
      random,
      transport,
      packets,
      afterPoll: (callback) => loop.afterPoll(callback),
      noted: (text, about) => this.#watch.noted(text, about),
      ...(this.keys === undefined ? {} : { keys: this.keys }),
      exited: () => {
        // A process that ends by itself does so after the call that told us.
        if (this.#process?.loop === loop) loop.afterPoll(() => this.#end(false));
        this.#watch.exited();
      },
    });
    this.#process = { loop, packets, transport, tenant, startedMs: this.#clock.nowMs() };
    loop.postReliably(() => {
      tenant.setLinks(this.#links());
      tenant.setPeers(this.peers);
      if (this.snapshot !== undefined) tenant.applySnapshot(this.snapshot);
    });
  }

  /** SIGKILL: the kernel resets connections and forgets what was queued. */
  kill(): void {
    this.#end(true);
  }

  powerOff(): void {
    this.isPowered = false;
    for (const card of this.cards) {
      card.isPowered = false;
      card.segment.forget(card);
    }
    this.#process?.loop.end();
    this.#process?.packets.close();
    this.#process = undefined;
  }

  powerOn(): void {
    this.isPowered = true;
    for (const card of this.cards) card.isPowered = true;
  }

  /** Another address for the gossip port, as a pod or host gets after a restart. */
  readdress(ip: Ip): void {
    this.#network.release(this.ip);
    this.ip = ip;
    this.#network.assign(ip, this);
  }

  /** SIGTERM. */
  leave(): void {
    const process = this.#process;
    if (process === undefined) return;
    this.isLeaving = true;
    process.loop.post(() => process.tenant.leave());
  }

  /** SIGSTOP, a busy thread, or (queues lost) the whole machine paused: then its kernel is silent too. */
  stand(standstill: Standstill): void {
    const process = this.#process;
    if (process === undefined) return;
    if (!standstill.keepsQueues) {
      this.#pausedUntilMs = this.#clock.nowMs() + standstill.durationMs;
      for (const card of this.cards) card.isPowered = false;
      this.#clock.schedule(standstill.durationMs, () => {
        if (this.#pausedUntilMs > this.#clock.nowMs() || !this.isPowered) return;
        for (const card of this.cards) card.isPowered = true;
      });
    }
    process.loop.stand(standstill);
    if (standstill.keepsQueues) return;
    process.packets.forgetQueued();
    process.transport.forgetQueued();
  }

  /** SIGSTOP with its next frames in hand. */
  standAtSend(durationMs: number): void {
    this.#process?.packets.stopAtSend({ durationMs, keepsQueues: true, isGapVisible: true });
  }

  stepWall(byMs: number): void {
    this.#process?.loop.stepWall(byMs);
  }

  setPeers(endpoints: readonly Endpoint[]): void {
    this.peers = endpoints;
    this.#tell((tenant) => tenant.setPeers(endpoints));
  }

  changeKeys(files: KeyFiles): void {
    this.keys = files;
    this.#tell((tenant) => tenant.changeKeys?.(files));
  }

  applySnapshot(snapshot: ClusterSnapshot): void {
    this.snapshot = snapshot;
    this.#tell((tenant) => tenant.applySnapshot(snapshot));
  }

  /** Changes a card, and tells the process as netlink would. */
  changeCard(card: NetworkCard, change: (card: NetworkCard) => void): void {
    change(card);
    this.#linksChanged();
  }

  /** So many links more that nobody is to be answered on: half of them have a master, half no carrier. */
  changeBystanders(count: number): void {
    this.#bystanders = Array.from({ length: count }, (_, number) => bystander(number));
    this.#linksChanged();
  }

  #linksChanged(): void {
    this.isNewsPending = true;
    this.#clock.schedule(NETLINK_MS, () => {
      this.isNewsPending = false;
      this.#tell((tenant) => tenant.setLinks(this.#links()));
    });
  }

  #links(): readonly Link[] {
    return [...this.cards.map(({ link }) => link), ...this.#bystanders];
  }

  /** What an observer would hear if he sent this frame and it came in on `card` now. */
  ask(card: NetworkCard, frame: Uint8Array): readonly Uint8Array[] {
    return this.#process?.packets.ask(card, frame) ?? [];
  }

  #tell(call: (tenant: Tenant) => void): void {
    const process = this.#process;
    process?.loop.postReliably(() => call(process.tenant));
  }

  #end(isKilled: boolean): void {
    const process = this.#process;
    if (process === undefined) return;
    this.#process = undefined;
    process.loop.end();
    process.packets.close();
    if (isKilled) process.transport.reset();
    else void process.transport.close();
    process.tenant.close();
  }
}

function bystander(number: number): Link {
  return {
    index: 1_000 + number,
    name: `veth${number}`,
    mac: parseMac(`02:00:0e:00:00:${(16 + number).toString(16)}`) as Mac,
    isEthernet: true,
    isLoopback: false,
    isBroadcast: true,
    isNoArp: false,
    isAdminUp: true,
    hasCarrier: number % 2 === 0,
    masterKind: number % 2 === 0 ? "other" : "none",
    addresses: [],
    prefixes: [],
  };
}
