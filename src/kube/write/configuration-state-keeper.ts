/** Keeps a daemon's ConfigurationState as the resources that were read want it. */
import type { Clock } from "../../base/clock.ts";
import { readConfigurationState } from "../read-watched.ts";
import type { ResourceProblem, WatchedConfigurationState, WatchedObjects } from "../watched.ts";
import type { Verdict } from "./answers.ts";
import { type ConfigurationSubject, type ConfigurationWrite, planConfigurationState } from "./configuration-state.ts";
import type { OwnPodSearch } from "./own-pod.ts";
import { OwnWrites } from "./own-writes.ts";
import type { Next, PlannedWrite, WriteSource } from "./planned-write.ts";
import {
  applyStatusRequest,
  createRequest,
  METALLB_API_VERSION,
  mergeRequest,
  readRequest,
} from "./resource-requests.ts";

export interface ConfigurationStateKeeperOptions {
  readonly subject: ConfigurationSubject;
  readonly namespace: string;
  readonly watched: Pick<WatchedObjects, "configurationState">;
  readonly ownPod: OwnPodSearch;
  readonly clock: Clock;
}

const RESOURCE = "configurationstates";
const KIND = { apiVersion: METALLB_API_VERSION, kind: "ConfigurationState" } as const;
/** So long the resources may take to be read before it is said that they are not. */
const READING_MS = 10_000;

export class ConfigurationStateKeeper implements WriteSource {
  readonly #options: ConfigurationStateKeeperOptions;
  readonly #own = new OwnWrites<WatchedConfigurationState>();
  readonly #readByMs: number;
  #problems: readonly ResourceProblem[] | undefined;
  #droppedFields: readonly string[] | undefined;

  constructor(options: ConfigurationStateKeeperOptions) {
    this.#options = options;
    this.#readByMs = options.clock.nowMs() + READING_MS;
  }

  set problems(problems: readonly ResourceProblem[] | undefined) {
    this.#problems = problems;
  }

  set droppedFields(fields: readonly string[] | undefined) {
    this.#droppedFields = fields;
  }

  next(_name: string, nowMs: number): Next {
    const { subject, watched, ownPod, clock } = this.#options;
    if (watched.configurationState === undefined) return {};
    if (this.#problems === undefined && nowMs < this.#readByMs) return { againAtMs: this.#readByMs };
    const pod = ownPod.at(nowMs);
    if (!pod.isSettled) return { againAtMs: pod.againAtMs };
    const state = this.#own.newest(subject.name, watched.configurationState ?? undefined);
    if (this.#own.toRead(nowMs) !== undefined) return { write: this.#read() };
    const write = planConfigurationState({
      subject,
      owner: pod.owner,
      problems: this.#problems,
      droppedFields: this.#droppedFields,
      state,
      wallMs: clock.wallMs(),
    });
    if (write !== undefined) return { write: this.#planned(write, state?.uid) };
    const againAtMs = this.#own.nextReadMs();
    return againAtMs === undefined ? {} : { againAtMs };
  }

  #planned(write: ConfigurationWrite, uid: string | undefined): PlannedWrite {
    const { namespace, subject } = this.#options;
    const { name } = write;
    const answered = (verdict: Verdict, body: unknown, nowMs: number): void => this.#take(verdict, body, uid, nowMs);
    if (write.kind === "create") {
      const metadata = { name, namespace, labels: write.labels, ownerReferences: write.owners };
      const request = createRequest(RESOURCE, namespace, { ...KIND, metadata }, subject.manager);
      return { request, verb: "create", resource: RESOURCE, answered };
    }
    if (write.kind === "metadata") {
      const request = mergeRequest(RESOURCE, namespace, name, { metadata: write.metadata }, subject.manager);
      return { request, verb: "patch", resource: RESOURCE, answered };
    }
    const object = { ...KIND, metadata: { name, namespace }, status: write.status };
    const request = applyStatusRequest(RESOURCE, namespace, name, subject.fieldOwner, object);
    return { request, verb: "patch", resource: `${RESOURCE}/status`, answered };
  }

  #read(): PlannedWrite {
    const { namespace, subject, watched } = this.#options;
    const request = readRequest(RESOURCE, namespace, subject.name);
    const uid = watched.configurationState?.uid;
    const answered = (verdict: Verdict, body: unknown, nowMs: number): void => this.#take(verdict, body, uid, nowMs);
    return { request, verb: "get", resource: RESOURCE, answered };
  }

  #take(verdict: Verdict, body: unknown, uid: string | undefined, nowMs: number): void {
    const { name } = this.#options.subject;
    if (verdict === "gone") this.#own.gone(name, uid);
    if (verdict === "conflict") this.#own.mustRead(name);
    const state = verdict === "done" ? readConfigurationState(body) : undefined;
    if (state !== undefined) this.#own.written(state, nowMs);
  }
}
