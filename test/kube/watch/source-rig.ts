/** A Kubernetes source on a server in memory, for tests. */
import { setImmediate } from "node:timers/promises";
import { VirtualClock } from "../../../src/base/clock.ts";
import { createLog } from "../../../src/base/log.ts";
import { SeededRandom } from "../../../src/base/random.ts";
import type { ClusterSnapshot } from "../../../src/desired/snapshot.ts";
import { KubernetesSource, type KubernetesSourceOptions } from "../../../src/kube/watch/kubernetes-source.ts";
import { advertisement, NAMESPACE, node, PATHS, pool, service, slice } from "./cluster.ts";
import { MemoryApi } from "./memory-api.ts";

/** A source on a server in memory, and everything that it told. */
export class Rig {
  readonly clock: VirtualClock;
  readonly api: MemoryApi;
  readonly lines: string[] = [];
  readonly snapshots: ClusterSnapshot[] = [];
  readonly pods: string[][] = [];
  /** Undefined: not known. */
  sentences: readonly string[] | undefined;
  watchedChanges = 0;
  /** What was told of it, beside the snapshots that were told before. */
  readonly freshness: { readonly freshness: number; readonly snapshots: number }[] = [];
  readonly source: KubernetesSource;

  constructor(others: Partial<KubernetesSourceOptions> = {}, clock = new VirtualClock(), api = new MemoryApi(clock)) {
    this.clock = clock;
    this.api = api;
    this.source = new KubernetesSource({
      api,
      namespace: NAMESPACE,
      nodeName: "n1",
      podQuery: { labelSelector: "app=arpeggio" },
      clock,
      random: new SeededRandom(7),
      log: createLog(
        "info",
        (line) => this.lines.push(line),
        () => 0,
      ),
      onChange: (snapshot, problems, freshness) => {
        this.snapshots.push(snapshot);
        if (freshness !== undefined) this.freshness.push({ freshness, snapshots: this.snapshots.length });
        this.sentences = problems?.map(({ sentence }) => sentence);
      },
      onPods: (pods) => this.pods.push([...pods.keys()]),
      onWatchedChange: () => {
        this.watchedChanges++;
      },
      onFreshness: (freshness) => this.freshness.push({ freshness, snapshots: this.snapshots.length }),
      ...others,
    });
  }

  /** A cluster with one of everything. */
  fill(): this {
    const { api } = this;
    api.put(PATHS.services, service("web", "192.0.2.1"));
    api.put(PATHS.endpointSlices, slice("web-1", "web", "n1"));
    api.put(PATHS.nodes, node("n1"));
    api.put(PATHS.namespaces, { metadata: { name: "default", labels: { team: "a" } } });
    api.put(PATHS.pools, pool("main", ["192.0.2.0/24"]));
    api.put(PATHS.advertisements, advertisement("main"));
    return this;
  }

  async start(): Promise<this> {
    await this.source.start();
    this.clock.advance(100);
    return this;
  }

  get last(): ClusterSnapshot {
    const last = this.snapshots.at(-1);
    if (last === undefined) throw new Error("no snapshot yet");
    return last;
  }

  /** What a change leads to: snapshots since then. */
  after(change: (api: MemoryApi) => void): readonly ClusterSnapshot[] {
    const before = this.snapshots.length;
    change(this.api);
    this.clock.advance(20);
    return this.snapshots.slice(before);
  }
}

/** Until files were read and written, which the virtual clock knows nothing of. */
export async function settled(isDone: () => boolean): Promise<void> {
  while (!isDone()) await setImmediate();
}
