/** A writer on a virtual clock, an API server in memory, and a watch of it that comes as late as a test wants. */

import { VirtualClock } from "../../../src/base/clock.ts";
import { createLog } from "../../../src/base/log.ts";
import { SeededRandom } from "../../../src/base/random.ts";
import { readConfigurationState, readL2Status } from "../../../src/kube/read-watched.ts";
import type { WatchedL2Status, WatchedObjects, WatchedPod } from "../../../src/kube/watched.ts";
import { KubernetesWriter } from "../../../src/kube/write/kubernetes-writer.ts";
import type { LeadingReport, ServiceReport } from "../../../src/kube/write/service-report.ts";
import { MemoryApiServer } from "./memory-api-server.ts";

export const NAMESPACE = "metallb-system";
/** Wall time of the bench's start. */
export const START = "2026-01-01T00:00:00.000Z";

export const LEADING: LeadingReport = {
  kind: "leading",
  addresses: ["192.0.2.10", "2001:db8::10"],
  links: [{ name: "eth0", mac: "02:00:00:00:00:01" }],
  restrictedTo: [],
  sinceMs: Date.parse(START),
  reason: "lowest-hash",
  previousNode: "n1",
  rank: 1,
  candidates: 3,
};

interface Watched extends WatchedObjects {
  l2Statuses: ReadonlyMap<string, WatchedL2Status> | undefined;
  configurationState: WatchedObjects["configurationState"];
  pods: ReadonlyMap<string, WatchedPod> | undefined;
}

export interface BenchOptions {
  /** How late the watch is, in ms. */
  readonly lagMs?: number;
  readonly node?: string;
  /** One that other benches write to as well. */
  readonly api?: MemoryApiServer;
  readonly clock?: VirtualClock;
  readonly members?: readonly string[];
}

/** Every process has randomness of its own. */
let benches = 0;

export class WriterBench {
  readonly clock: VirtualClock;
  readonly api: MemoryApiServer;
  readonly lines: string[] = [];
  readonly services = new Map<string, string>([["default/web", "uid-web"]]);
  readonly node: string;
  readonly watched: Watched;
  members: readonly string[];
  isWatching = true;
  readonly writer: KubernetesWriter;
  readonly #lagMs: number;
  #isLookDue = false;

  constructor(options: BenchOptions = {}) {
    this.clock = options.clock ?? new VirtualClock(1_000);
    this.api = options.api ?? new MemoryApiServer();
    this.node = options.node ?? "n2";
    this.members = options.members ?? [this.node];
    this.#lagMs = options.lagMs ?? 20;
    const pod = {
      namespace: NAMESPACE,
      name: "speaker-b",
      uid: "uid-pod-b",
      resourceVersion: "1",
      isBeingDeleted: false,
    };
    this.watched = {
      serviceUid: (namespace, name) => this.services.get(`${namespace}/${name}`),
      l2Statuses: undefined,
      configurationState: undefined,
      pods: new Map([[pod.name, pod]]),
    };
    const before = this.api.changed;
    this.api.changed = () => {
      before?.();
      if (this.#isLookDue) return;
      this.#isLookDue = true;
      this.clock.schedule(this.#lagMs, () => this.look());
    };
    this.writer = new KubernetesWriter({
      api: this.api,
      watched: this.watched,
      clock: this.clock,
      random: new SeededRandom(benches++),
      log: createLog(
        "all",
        (line) => this.lines.push(line),
        () => this.clock.wallMs(),
      ),
      nodeName: this.node,
      namespace: NAMESPACE,
      podName: pod.name,
      aliveMembers: () => this.members,
    });
  }

  /** The lists are in. */
  listed(): this {
    this.watched.l2Statuses = new Map();
    this.watched.configurationState = null;
    this.look();
    return this;
  }

  /** What a watch does: shows what is there now. */
  look(): void {
    this.#isLookDue = false;
    if (this.watched.l2Statuses === undefined || !this.isWatching) return;
    const before = this.watched.l2Statuses;
    const statuses = this.api.list("servicel2statuses").flatMap((object) => {
      const known = before.get(object.metadata.name);
      return known?.resourceVersion === object.metadata.resourceVersion ? known : (readL2Status(object) ?? []);
    });
    this.watched.l2Statuses = new Map(statuses.map((status) => [status.name, status]));
    const [state] = this.api.list("configurationstates");
    this.watched.configurationState = readConfigurationState(state) ?? null;
    this.writer.watchedChanged();
  }

  report(report: ServiceReport | undefined, service = "default/web"): void {
    this.writer.apply([report === undefined ? { service } : { service, report }]);
  }

  /** Lets time pass, and every answer arrive at its moment. */
  async run(durationMs: number): Promise<void> {
    await pass(this.clock, durationMs);
  }

  /** `POST servicel2statuses`, `PATCH servicel2statuses/status`, … in order, without those of the ConfigurationState. */
  get writes(): string[] {
    return this.api.writes.map(shortOf).filter((text) => !text.includes("configurationstates"));
  }

  get statusWrites(): string[] {
    return this.writes.filter((text) => text.includes("servicel2statuses"));
  }

  get events(): Readonly<Record<string, unknown>>[] {
    return this.api.list("events");
  }
}

/** Time passes on a clock that several benches may share. */
export async function pass(clock: VirtualClock, durationMs: number): Promise<void> {
  const endMs = clock.nowMs() + durationMs;
  await settled();
  for (let next = clock.nextMs(); next !== undefined && next <= endMs; next = clock.nextMs()) {
    clock.step();
    await settled();
  }
  clock.advance(endMs - clock.nowMs());
}

/** Every promise that can be kept without time passing is. */
function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

function shortOf({ method, path }: { readonly method: string; readonly path: string }): string {
  const [resource = "", , subresource] = path.split("/namespaces/")[1]?.split("/").slice(1) ?? [];
  return `${method} ${resource}${subresource === undefined ? "" : `/${subresource}`}`;
}
