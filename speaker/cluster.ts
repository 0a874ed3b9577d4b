/** `--source=kubernetes` on the main thread: the API server, what is read from it, and what is written back. */
import type { Clock } from "../src/base/clock.ts";
import type { Log } from "../src/base/log.ts";
import type { Random } from "../src/base/random.ts";
import { VERSION } from "../src/base/version.ts";
import type { ClusterSnapshot } from "../src/desired/snapshot.ts";
import type { ApiServer } from "../src/kube/api-server.ts";
import { openApiServer } from "../src/kube/node-api-server.ts";
import { KubernetesSource } from "../src/kube/watch/kubernetes-source.ts";
import type { ResourceProblem } from "../src/kube/watched.ts";
import { KubernetesWriter } from "../src/kube/write/kubernetes-writer.ts";
import type { ServiceReportChange } from "../src/kube/write/service-report.ts";
import type { KubernetesOptions } from "./kubernetes-options.ts";
import { objectsOf, type RunningSource, type SourceListener, type SourceStatus } from "./source.ts";
import { describeWrites, type WrittenBack } from "./written-back.ts";

/** Reports that are taken in one turn of the event loop: some milliseconds. */
const REPORTS_AT_ONCE = 250;

export interface ClusterContext {
  readonly nodeName: string;
  readonly cacheFolder?: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Names of the members that are alive, this node among them. */
  readonly aliveMembers: () => readonly string[];
}

export interface ClusterListener extends SourceListener {
  /** Addresses of the speakers' pods, as written; empty while they are not known. */
  podsChanged(ips: readonly string[]): void;
  /** How new what was told last is, when nothing else has changed. */
  freshnessChanged(freshness: number): void;
}

export class Cluster implements RunningSource {
  readonly location: string;
  readonly api: ApiServer;
  readonly #source: KubernetesSource;
  readonly #writer: KubernetesWriter;
  #snapshot: ClusterSnapshot | undefined;
  /** Undefined: not known. */
  #problems: readonly ResourceProblem[] | undefined;
  /** As far as they were told, and those of them that may be taken. */
  readonly #reports: ServiceReportChange[] = [];
  readonly #toTake: ServiceReportChange[] = [];
  #taking: NodeJS.Immediate | undefined;
  #refusal: string | undefined;
  readonly #namespace: string;
  #lastChangeMs: number | undefined;

  /** Rejects with `ERR_CONFIG_INVALID` when there is no readable configuration. The API server itself may be away. */
  static async open(options: KubernetesOptions, context: ClusterContext, listener: ClusterListener): Promise<Cluster> {
    const { kubeconfig } = options;
    const userAgent = `arpeggio-speaker/${VERSION}`;
    const api = await openApiServer({ userAgent, ...(kubeconfig === undefined ? {} : { kubeconfig }) });
    return new Cluster(api, options, context, listener);
  }

  private constructor(
    api: ApiServer,
    { namespace, podName, podSelector }: KubernetesOptions,
    { aliveMembers, cacheFolder, ...shared }: ClusterContext,
    listener: ClusterListener,
  ) {
    this.api = api;
    this.location = api.url;
    this.#namespace = namespace;
    const podQuery = podQueryOf(podSelector, podName);
    this.#source = new KubernetesSource({
      ...shared,
      api,
      namespace,
      ...(podQuery === undefined ? {} : { podQuery }),
      ...(cacheFolder === undefined ? {} : { cacheFolder }),
      onChange: (snapshot, problems, freshness) => {
        this.#lastChangeMs = shared.clock.wallMs();
        this.#read(snapshot, problems, freshness, listener);
      },
      onPods: (pods) => listener.podsChanged([...pods.values()].flatMap(({ podIp }) => podIp ?? [])),
      onWatchedChange: () => this.#writer.watchedChanged(),
      onFreshness: (freshness) => listener.freshnessChanged(freshness),
    });
    this.#writer = new KubernetesWriter({
      ...shared,
      api,
      watched: this.#source.watched,
      namespace,
      aliveMembers,
      ...(podName === undefined ? {} : { podName }),
    });
  }

  /** The first snapshot comes when it comes: a speaker whose API server is away has health to serve and links to open all the same. */
  start(): Promise<void> {
    return this.#source.start();
  }

  /** What the wire thread says of the Services that this node has to write about; nothing is written before `isEnd`. */
  report(changes: readonly ServiceReportChange[], isEnd: boolean): void {
    this.#reports.push(...changes);
    if (!isEnd) return;
    this.#toTake.push(...this.#reports.splice(0));
    if (this.#taking === undefined) this.#takeReports();
  }

  #takeReports(): void {
    this.#taking = undefined;
    this.#writer.apply(this.#toTake.splice(0, REPORTS_AT_ONCE));
    if (this.#toTake.length > 0) this.#taking = setImmediate(() => this.#takeReports());
  }

  /** Under MetalLB's rule a configuration counts whole or not at all: why this one does not; undefined when it does. */
  refuse(sentence: string | undefined): void {
    this.#refusal = sentence;
    this.#tellProblems();
  }

  status(): SourceStatus {
    const { state, watches, sentences } = this.#source.status();
    return {
      kind: "kubernetes",
      location: this.location,
      state,
      objects: this.#snapshot === undefined ? {} : objectsOf(this.#snapshot),
      problems: [...sentences, ...(this.#problems ?? []).map(({ sentence }) => sentence)],
      ...(this.#lastChangeMs === undefined ? {} : { lastChange: new Date(this.#lastChangeMs).toISOString() }),
      watches: watches.map((watch) => ({ ...watch })),
    };
  }

  writtenBack(): WrittenBack {
    return describeWrites(this.#writer.status());
  }

  /** What was never listed, a sentence each; empty when all that decides was. */
  missing(): readonly string[] {
    if (this.#snapshot !== undefined) return [];
    return this.#source
      .unlisted()
      .map(({ kind, lastError }) => `${kind}: not listed yet${lastError === undefined ? "" : ` (${lastError})`}`);
  }

  async close(): Promise<void> {
    clearImmediate(this.#taking);
    this.#writer.close();
    await this.#source.close();
    this.api.close();
  }

  #tellProblems(): void {
    if (this.#problems === undefined) return this.#writer.problemsChanged(undefined);
    const refused: readonly ResourceProblem[] =
      this.#refusal === undefined
        ? []
        : [{ kind: "", namespace: this.#namespace, name: "", uid: "", sentence: this.#refusal, problem: "refused" }];
    this.#writer.problemsChanged([...this.#problems, ...refused]);
  }

  #read(
    snapshot: ClusterSnapshot,
    problems: readonly ResourceProblem[] | undefined,
    freshness: number | undefined,
    listener: ClusterListener,
  ): void {
    this.#snapshot = snapshot;
    this.#problems = problems;
    this.#tellProblems();
    listener.changed(
      snapshot,
      (problems ?? []).map(({ sentence }) => sentence),
      freshness,
    );
  }
}

/** The speakers' pods are peers. Without gossip there are none, and the own one is watched alone: it owns what is written. */
function podQueryOf(podSelector: string, podName: string | undefined): Readonly<Record<string, string>> | undefined {
  if (podSelector !== "") return { labelSelector: podSelector };
  return podName === undefined ? undefined : { fieldSelector: `metadata.name=${podName}` };
}
