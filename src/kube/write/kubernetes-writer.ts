/** Everything that a speaker writes to the API server: composition and life. Nothing waits for it, and it decides nothing. */
import type { Clock, Timer } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Random } from "../../base/random.ts";
import type { ApiServer } from "../api-server.ts";
import type { ResourceProblem, WatchedConfigurationState, WatchedObjects } from "../watched.ts";
import { speakerConfiguration } from "./configuration-state.ts";
import { ConfigurationStateKeeper } from "./configuration-state-keeper.ts";
import { EventKeeper } from "./event-keeper.ts";
import { L2StatusKeeper } from "./l2-status-keeper.ts";
import { OwnPodSearch } from "./own-pod.ts";
import { readDroppedFields } from "./schema-check.ts";
import type { ServiceReportChange } from "./service-report.ts";
import { WritePump, type WritePumpStatus } from "./write-pump.ts";
import { WriteQueue } from "./write-queue.ts";

export interface KubernetesWriterOptions {
  readonly api: ApiServer;
  readonly watched: WatchedObjects;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly nodeName: string;
  /** Where the speaker, its pools and its statuses lie. */
  readonly namespace: string;
  /** The speaker's own Pod; absent: statuses are written without an owner. */
  readonly podName?: string;
  /** Names of the members that are alive, read at the moment of use. */
  readonly aliveMembers: () => readonly string[];
}

export interface KubernetesWriterStatus {
  /** ServiceL2Statuses and the ConfigurationState. */
  readonly objects: WritePumpStatus;
  readonly events: WritePumpStatus & { readonly dropped: number };
  /** Services that a ServiceL2Status of this node stands for. */
  readonly ledServices: number;
  /** Fields that the installed CRDs drop; undefined: not known. */
  readonly droppedFields?: readonly string[];
}

const OBJECT_LIMITS = { perSecond: 20, burst: 50, atOnce: 4 } as const;
const EVENT_LIMITS = { perSecond: 50, burst: 50, atOnce: 4 } as const;
const CONFIGURATION = "configuration";
/** How soon the CRDs are looked at again: after a failure, and while they drop something. What is whole stays so. */
const SCHEMA_MS = { failed: 30_000, dropping: 600_000 };
const NONCE_BYTES = 8;

export class KubernetesWriter {
  readonly #options: KubernetesWriterOptions;
  readonly #ownPod: OwnPodSearch;
  readonly #statuses: L2StatusKeeper;
  readonly #configuration: ConfigurationStateKeeper;
  readonly #eventKeeper: EventKeeper;
  readonly #objects: WritePump;
  readonly #events: WritePump;
  #schemaTimer: Timer | undefined;
  #droppedFields: readonly string[] | undefined;
  #shownConfiguration: WatchedConfigurationState | null | undefined;
  #hasOwner = false;
  #isClosed = false;

  constructor(options: KubernetesWriterOptions) {
    const { api, watched, clock, random, log, nodeName, namespace, podName, aliveMembers } = options;
    this.#options = options;
    this.#ownPod = new OwnPodSearch(watched, podName, clock);
    const shared = { namespace, watched, ownPod: this.#ownPod, clock };
    this.#statuses = new L2StatusKeeper({ ...shared, nodeName, mark: (service) => this.#objects.mark(service) });
    this.#configuration = new ConfigurationStateKeeper({ ...shared, subject: speakerConfiguration(nodeName) });
    this.#eventKeeper = new EventKeeper({
      nodeName,
      watched,
      clock,
      aliveMembers,
      instance: podName ?? nodeName,
      nonce: Buffer.from(random.bytes(NONCE_BYTES)).toString("hex"),
      mark: (subject, atMs) => this.#events.mark(subject, atMs),
    });
    this.#objects = new WritePump({
      api,
      clock,
      log,
      queue: new WriteQueue(OBJECT_LIMITS, random),
      // A Service's name has a slash.
      source: { next: (name, nowMs) => this.#keeperOf(name).next(name, nowMs) },
      place: `in namespace ${namespace}`,
    });
    this.#events = new WritePump({
      api,
      clock,
      log,
      queue: new WriteQueue(EVENT_LIMITS, random),
      source: this.#eventKeeper,
      place: "in every namespace",
    });
    this.#objects.mark(CONFIGURATION);
    void this.#checkSchema();
  }

  /** What the wire thread says anew. */
  apply(changes: readonly ServiceReportChange[]): void {
    const nowMs = this.#options.clock.nowMs();
    for (const { service, report } of changes) {
      // The event first: it asks whether the status that is there says the same already.
      this.#eventKeeper.report(service, report);
      this.#statuses.report(service, report, nowMs);
    }
  }

  /** Something in `watched` is different. */
  watchedChanged(): void {
    const { watched, clock } = this.#options;
    const nowMs = clock.nowMs();
    this.#eventKeeper.watchedChanged();
    this.#statuses.watchedChanged(nowMs);
    const pod = this.#ownPod.at(nowMs);
    const hasOwner = pod.isSettled && pod.owner !== undefined;
    if (hasOwner !== this.#hasOwner) this.#statuses.markAll();
    if (hasOwner !== this.#hasOwner || watched.configurationState !== this.#shownConfiguration) {
      this.#objects.mark(CONFIGURATION);
    }
    this.#hasOwner = hasOwner;
    this.#shownConfiguration = watched.configurationState;
  }

  /** Undefined: the resources are not read yet, which is what it starts with. */
  problemsChanged(problems: readonly ResourceProblem[] | undefined): void {
    this.#configuration.problems = problems;
    this.#eventKeeper.problemsChanged(problems ?? []);
    this.#objects.mark(CONFIGURATION);
  }

  status(): KubernetesWriterStatus {
    return {
      objects: this.#objects.status(),
      events: { ...this.#events.status(), dropped: this.#eventKeeper.dropped },
      ledServices: this.#statuses.leading,
      ...(this.#droppedFields === undefined ? {} : { droppedFields: this.#droppedFields }),
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#schemaTimer?.cancel();
    this.#events.close();
    this.#objects.close();
  }

  #keeperOf(name: string): L2StatusKeeper | ConfigurationStateKeeper {
    return name === CONFIGURATION ? this.#configuration : this.#statuses;
  }

  async #checkSchema(): Promise<void> {
    const { api, clock, log } = this.#options;
    // An API server that is away is said by those who write.
    const fields = await readDroppedFields(api).catch(() => undefined);
    if (this.#isClosed) return;
    if (fields !== undefined) {
      const isNews = fields.join() !== (this.#droppedFields ?? []).join();
      if (isNews && fields.length > 0) log.warn("installed CRDs drop fields", { fields });
      this.#droppedFields = fields;
      this.#configuration.droppedFields = fields;
      this.#objects.mark(CONFIGURATION);
    }
    if (fields?.length === 0) return;
    const delayMs = fields === undefined ? SCHEMA_MS.failed : SCHEMA_MS.dropping;
    this.#schemaTimer = clock.schedule(delayMs, () => void this.#checkSchema());
  }
}
