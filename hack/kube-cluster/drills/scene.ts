/** What a drill on the cluster can do and see: kubectl, the speakers, the client and the watcher. */
import { setTimeout as sleep } from "node:timers/promises";
import { ArpeggioError } from "../../../src/base/errors.ts";
import type { Ip } from "../../../src/net/ip.ts";
import { SwitchFaults } from "../../netlab/faults.ts";
import { Instruments } from "../../netlab/instruments.ts";
import { monotonicMs } from "../../netlab/monotonic-ms.ts";
import type { FrameRecord, RequestRecord } from "../../netlab/observations.ts";
import type { Host } from "../../netlab/topology.ts";
import { kubectl } from "../kubectl.ts";
import type { Cluster } from "../topology.ts";
import { favourBackends } from "./backends.ts";
import {
  buildAdvertisement,
  buildDeployment,
  buildIngress,
  buildNamespace,
  buildPool,
  buildService,
  DRILL_NAME,
  DRILL_NAMESPACE,
  DRILL_SERVICES,
  type DrillService,
  SERVICE_PORT,
  SPEAKER_NAMESPACE,
} from "./objects.ts";
import { waitForAgreement, waitForSpeakers } from "./speakers.ts";

/** A drain and a policy need that many. */
const LEAST_NODES = 3;
const AGREE_TIMEOUT_MS = 60_000;
const FRESH_ENDPOINTS_MS = 3_000;
const TAKE_OVER_TIMEOUT_MS = 30_000;

export class KubeScene {
  readonly cluster: Cluster;
  readonly service: DrillService;
  readonly faults: SwitchFaults;
  readonly #instruments: Instruments;
  #leader: Host | undefined;

  constructor(cluster: Cluster, service: DrillService) {
    this.cluster = cluster;
    this.service = service;
    this.faults = new SwitchFaults(cluster.topology);
    this.#instruments = new Instruments(cluster.topology);
  }

  get nodes(): readonly Host[] {
    return this.cluster.topology.nodes;
  }

  get addresses(): readonly Ip[] {
    return [this.service.ipv4, this.service.ipv6];
  }

  /** The node that led the Service when it was last asked for (see `agree`). */
  get leader(): Host {
    if (this.#leader === undefined) throw new Error(`nobody leads ${this.service.ipv4}`);
    return this.#leader;
  }

  get others(): readonly Host[] {
    return this.nodes.filter((node) => node !== this.leader);
  }

  kubectl(args: readonly string[], input = ""): Promise<string> {
    return kubectl(this.cluster, args, input);
  }

  /** Until the speakers of these nodes agree and none settles; remembers the leader. */
  async agree(nodes: readonly Host[] = this.nodes): Promise<void> {
    this.#leader = await waitForAgreement(nodes, this.addresses, AGREE_TIMEOUT_MS);
  }

  /** As `agree`, when no endpoint is fresh any more: under policy Local one that has just turned ready moves the address 2 s later. */
  async settle(): Promise<void> {
    if (this.service.policy === "Local") await sleep(FRESH_ENDPOINTS_MS);
    await this.agree();
  }

  /** Requests and probes run, and have been answered for a while. */
  begin(): Promise<void> {
    // Under policy Cluster any node's backend answers, whoever leads.
    const answerer = this.service.policy === "Local" ? this.leader.name : undefined;
    return this.#instruments.begin(this.service.ipv4, SERVICE_PORT, this.leader.mac, answerer);
  }

  /** Requests and probes run, whether anybody answers or not. */
  beginInSilence(): void {
    this.#instruments.start(this.service.ipv4, SERVICE_PORT);
  }

  /** Until another node than the leader has claimed the address since the deed; says whether one did within 30 s. */
  async takeOver(deedMs: number): Promise<boolean> {
    const { mac: oldMac } = this.leader;
    const isNews = ({ mac, atMs }: { readonly mac: string; readonly atMs: number }): boolean =>
      mac !== oldMac && atMs >= deedMs;
    return (await this.#instruments.waitForFrame(isNews, TAKE_OVER_TIMEOUT_MS)) !== undefined;
  }

  /** The first frame that claims the address since the deed; undefined when there was none within 30 s. */
  async firstFrame(deedMs: number): Promise<number | undefined> {
    return (await this.#instruments.waitForFrame(({ atMs }) => atMs >= deedMs, TAKE_OVER_TIMEOUT_MS))?.atMs;
  }

  finish(): Promise<{ readonly requests: readonly RequestRecord[]; readonly frames: readonly FrameRecord[] }> {
    return this.#instruments.finish();
  }

  close(): void {
    this.#instruments.close();
    this.faults.close();
  }
}

/** Applies what the drills need, and waits until backends and speakers are ready. */
export async function setStage(cluster: Cluster): Promise<void> {
  if (cluster.topology.nodes.length < LEAST_NODES) {
    throw new ArpeggioError("ERR_CONFIG_INVALID", `drills need a cluster of ${LEAST_NODES} nodes or more`);
  }
  await apply(cluster, [
    buildNamespace(),
    ...DRILL_SERVICES.flatMap((service) => [buildDeployment(service), buildService(service)]),
    buildPool(),
    buildAdvertisement(),
  ]);
  for (const service of DRILL_SERVICES) {
    const patch = JSON.stringify(buildIngress(service));
    const target = ["service", service.name, "-n", DRILL_NAMESPACE];
    await kubectl(cluster, ["patch", ...target, "--subresource=status", "--type=merge", "-p", patch]);
  }
  await waitForBackends(cluster);
  await waitForSpeakers(cluster);
}

/** As `setStage` left it, whatever a drill did to nodes and advertisement. */
export async function repairStage(cluster: Cluster): Promise<void> {
  const names = cluster.topology.nodes.map(({ name }) => name);
  await kubectl(cluster, ["uncordon", ...names]);
  await apply(cluster, [buildPool(), buildAdvertisement()]);
  await waitForBackends(cluster);
  await waitForSpeakers(cluster);
}

/** Nothing of the drills is left in the cluster. */
export async function clearStage(cluster: Cluster): Promise<void> {
  for (const kind of ["l2advertisement", "ipaddresspool"]) {
    await kubectl(cluster, ["delete", kind, DRILL_NAME, "-n", SPEAKER_NAMESPACE, "--ignore-not-found"]);
  }
  await kubectl(cluster, ["delete", "namespace", DRILL_NAMESPACE, "--ignore-not-found"]);
}

export async function apply(cluster: Cluster, objects: readonly unknown[]): Promise<void> {
  const list = { apiVersion: "v1", kind: "List", items: objects };
  await kubectl(cluster, ["apply", "-f", "-"], JSON.stringify(list));
}

/** The instruments go on for that long: something may still happen. */
export async function watchFor(durationMs: number): Promise<number> {
  await sleep(durationMs);
  return monotonicMs();
}

async function waitForBackends(cluster: Cluster): Promise<void> {
  const names = DRILL_SERVICES.map(({ name }) => `deployment/${name}`);
  for (const name of names) {
    await kubectl(cluster, ["rollout", "status", name, "-n", DRILL_NAMESPACE, "--timeout=120s"]);
  }
  await favourBackends(cluster);
}
