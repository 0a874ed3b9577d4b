/** The controller of a cluster: what is read, the Lease, the allocator and everything that is written, joined. */
import type { Effect } from "../src/allocator/ports.ts";
import type { Settings } from "../src/allocator/reconcile.ts";
import type { Clock } from "../src/base/clock.ts";
import type { Log } from "../src/base/log.ts";
import type { Random } from "../src/base/random.ts";
import { VERSION } from "../src/base/version.ts";
import type { ApiServer, EndableApiServer } from "../src/kube/api-server.ts";
import { LeaseKeeper } from "../src/kube/lease/lease-keeper.ts";
import { openApiServer } from "../src/kube/node-api-server.ts";
import type { ControllerKindName } from "../src/kube/watch/controller-kinds.ts";
import type { ResourceProblem } from "../src/kube/watched.ts";
import { CONTROLLER_CONFIGURATION } from "../src/kube/write/configuration-state.ts";
import { ConfigurationStateKeeper } from "../src/kube/write/configuration-state-keeper.ts";
import type { EventSubject, SaidText } from "../src/kube/write/event-object.ts";
import { OwnPodSearch } from "../src/kube/write/own-pod.ts";
import { METALLB_API_VERSION } from "../src/kube/write/resource-requests.ts";
import { SubjectEvents } from "../src/kube/write/subject-events.ts";
import { WritePump } from "../src/kube/write/write-pump.ts";
import { WriteQueue } from "../src/kube/write/write-queue.ts";
import { ClusterAllocation } from "./cluster-allocation.ts";
import { ClusterSource } from "./cluster-source.ts";
import { Gates } from "./gates.ts";
import { CONFIGURATION_ENTRY, KeptObjects, poolEntry, RESERVATIONS_ENTRY } from "./kept-objects.ts";
import { Leadership } from "./leadership.ts";
import { LEASE } from "./names.ts";
import { poolProblems } from "./pool-problems.ts";
import { ServiceWriter } from "./service-writer.ts";

export interface ClusterOptions {
  readonly namespace: string;
  /** Absent: what is written has no owner. */
  readonly podName?: string;
  /** Of this process alone. */
  readonly identity: string;
  readonly settings: Settings;
}

export interface ClusterContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Watches, the Lease and the writes of Services each have connections of their own: the last can end without the others. */
export interface ClusterApis {
  readonly reading: ApiServer;
  readonly lease: ApiServer;
  readonly services: EndableApiServer;
}

const OBJECT_LIMITS = { perSecond: 20, burst: 50, atOnce: 4 } as const;
const EVENT_LIMITS = { perSecond: 50, burst: 100, atOnce: 4 } as const;
/** A write that nobody waits for any more may arrive for so long; where no condition fences it off, it is waited for. */
const STRAY_MS = 5_000;
/** Of writes under way when the process is to end. */
const DRAIN_MS = 1_500;
const NONCE_BYTES = 8;

export async function openClusterApis(kubeconfig: string | undefined): Promise<ClusterApis> {
  const options = { userAgent: `arpeggio-controller/${VERSION}`, ...(kubeconfig === undefined ? {} : { kubeconfig }) };
  const [reading, lease, services] = await Promise.all([
    openApiServer(options),
    openApiServer(options),
    openApiServer(options),
  ]);
  return { reading, lease, services };
}

export class Cluster {
  readonly apis: ClusterApis;
  readonly source: ClusterSource;
  readonly lease: LeaseKeeper;
  readonly allocation: ClusterAllocation;
  readonly writer: ServiceWriter;
  readonly leadership: Leadership;
  /** What else must hold for addresses to be given is added here before `start`. Whoever adds a gate calls `check` when it opens or closes. */
  readonly gates = new Gates();
  readonly objects: WritePump;
  readonly eventPump: WritePump;
  readonly events: SubjectEvents;
  readonly #options: ClusterOptions;
  readonly #kept: KeptObjects;
  readonly #configuration: ConfigurationStateKeeper;
  readonly #whenRead: ((changed: ReadonlySet<ControllerKindName>) => void)[] = [];
  #problems = "";
  #isStopping = false;

  constructor(apis: ClusterApis, options: ClusterOptions, { clock, random, log }: ClusterContext) {
    this.apis = apis;
    this.#options = options;
    const { namespace, podName, identity, settings } = options;
    this.lease = new LeaseKeeper({
      api: apis.lease,
      namespace,
      name: LEASE,
      identity,
      clock,
      log,
      onChange: () => this.#leaseChanged(log),
    });
    this.gates.add({ closedBecause: () => this.#notHolder() });
    this.source = new ClusterSource({
      api: apis.reading,
      namespace,
      clock,
      random,
      log,
      tell: (event) => this.allocation.note(event),
      onLease: (lease) => this.lease.observe(lease),
      onTold: (changed) => this.#told(changed),
    });
    this.allocation = new ClusterAllocation(settings, {
      api: apis.reading,
      clock,
      take: (effect) => this.#take(effect),
    });
    this.writer = new ServiceWriter({
      api: apis.services,
      clock,
      log,
      mayWrite: () => this.gates.mayAllocate(),
      answered: (answer) => this.allocation.note(answer),
    });
    this.leadership = new Leadership({
      gates: this.gates,
      clock,
      relist: () => this.source.relist(),
      isFresh: () => this.source.isFresh,
      tell: (event) => this.allocation.note(event),
      stopWriting: () => {
        this.writer.drop();
        this.#kept.clear();
        this.events.clear();
      },
      term: () => `${identity}/${this.lease.lease?.record.transitions ?? 0}`,
      settleMs: settings.writesConditions ? 0 : STRAY_MS,
    });
    const watched = this.source;
    const ownPod = new OwnPodSearch(watched, podName, clock);
    this.#configuration = new ConfigurationStateKeeper({
      subject: CONTROLLER_CONFIGURATION,
      namespace,
      watched,
      ownPod,
      clock,
    });
    const isHolder = (): boolean => this.lease.isHolder;
    this.#kept = new KeptObjects({
      namespace,
      isHolder,
      reservations: () => this.source.reservations,
      configuration: this.#configuration,
    });
    const pump = { api: heldBy(apis.reading, isHolder), clock, log };
    this.objects = new WritePump({
      ...pump,
      queue: new WriteQueue(OBJECT_LIMITS, random),
      source: this.#kept,
      place: `in namespace ${namespace}`,
    });
    this.events = new SubjectEvents({
      reporter: { component: "metallb-controller", instance: podName ?? identity },
      clock,
      nonce: Buffer.from(random.bytes(NONCE_BYTES)).toString("hex"),
      maySay: isHolder,
      mark: (subject, atMs) => this.eventPump.mark(subject, atMs),
    });
    this.eventPump = new WritePump({
      ...pump,
      queue: new WriteQueue(EVENT_LIMITS, random),
      source: this.events,
      place: "in every namespace",
    });
  }

  start(): void {
    this.source.start();
  }

  /** Called after everything that was read and told, with the kinds that changed. */
  whenRead(listener: (changed: ReadonlySet<ControllerKindName>) => void): void {
    this.#whenRead.push(listener);
  }

  /** To be called when a gate may have opened or closed. */
  check(): void {
    // Who is ending and still holds the Lease is no bystander yet: what it wrote is still to be said.
    if (!this.#isStopping || !this.lease.isHolder) this.leadership.check();
  }

  /** About an object of the cluster; the caller knows that it is news. */
  say(about: EventSubject, text: SaidText): void {
    this.events.say(about, text);
  }

  /** No write of a Service begins any more; what is under way is answered and what follows of it said, then the Lease is given back. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.writer.drain(DRAIN_MS);
    this.allocation.close();
    await Promise.all([this.objects.drain(DRAIN_MS), this.eventPump.drain(DRAIN_MS)]);
    await this.lease.release();
    this.leadership.close();
    this.lease.close();
    this.source.close();
    const { reading, lease, services } = this.apis;
    for (const api of [reading, lease, services]) api.close();
  }

  #notHolder(): string | undefined {
    if (this.#isStopping) return "the controller is ending";
    if (this.lease.isHolder) return undefined;
    const { holder = "" } = this.lease.lease?.record ?? {};
    return holder === "" ? `nobody holds the Lease ${LEASE} yet` : `${holder} holds the Lease ${LEASE}`;
  }

  #leaseChanged(log: Log): void {
    const { isHolder } = this.lease;
    if (!this.#isStopping) log.info(isHolder ? "lease acquired" : "lease lost", { identity: this.#options.identity });
    this.check();
    if (isHolder) this.objects.mark(CONFIGURATION_ENTRY);
  }

  #told(changed: ReadonlySet<ControllerKindName>): void {
    this.check();
    this.#tellProblems();
    if (changed.has("configurationState") || changed.has("pods")) this.objects.mark(CONFIGURATION_ENTRY);
    for (const listener of this.#whenRead) listener(changed);
  }

  /** What is wrong with pools is what the ConfigurationState says. */
  #tellProblems(): void {
    const problems: readonly ResourceProblem[] | undefined = poolProblems(
      this.allocation.allocator,
      this.#options.namespace,
    );
    const text = problems === undefined ? "" : `read ${problems.map(({ sentence }) => sentence).join("\n")}`;
    if (text === this.#problems) return;
    this.#problems = text;
    this.#configuration.problems = problems;
    this.objects.mark(CONFIGURATION_ENTRY);
  }

  #take(effect: Exclude<Effect, { kind: "read-again" }>): void {
    switch (effect.kind) {
      case "write":
        return this.writer.put(effect);
      case "event":
        return this.say(this.#subjectOf(effect), effect.text);
      case "pool-status":
        this.#kept.setNumbers(effect.pool, effect.numbers);
        return this.objects.mark(poolEntry(effect.pool));
      case "reserve":
        this.#kept.setReserved(effect.reserved);
        return this.objects.mark(RESERVATIONS_ENTRY);
      default:
        return effect satisfies never;
    }
  }

  #subjectOf({ about, key, uid }: Extract<Effect, { kind: "event" }>): EventSubject {
    if (about === "IPAddressPool") {
      return { apiVersion: METALLB_API_VERSION, kind: about, namespace: this.#options.namespace, name: key, uid };
    }
    const [namespace = "", name = ""] = key.split("/");
    return { apiVersion: "v1", kind: about, namespace, name, uid };
  }
}

/** Every request only while the Lease is held, asked at the last moment. */
function heldBy(api: ApiServer, isHolder: () => boolean): ApiServer {
  return {
    url: api.url,
    request: (request) => api.request({ ...request, mayBegin: isHolder }),
    stream: (request, listener) => api.stream(request, listener),
    refreshCredentials: () => api.refreshCredentials(),
    close: () => api.close(),
  };
}
