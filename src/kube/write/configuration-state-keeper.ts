/** Keeps the speaker's ConfigurationState as the resources that were read want it. */
import type { Clock } from "../../base/clock.ts";
import { readConfigurationState } from "../read-watched.ts";
import type { ResourceProblem, WatchedConfigurationState, WatchedObjects } from "../watched.ts";
import type { Verdict } from "./answers.ts";
import {
  CONFIGURATION_FIELD_OWNER,
  type ConfigurationWrite,
  configurationStateName,
  planConfigurationState,
} from "./configuration-state.ts";
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
  readonly nodeName: string;
  readonly namespace: string;
  readonly watched: WatchedObjects;
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
  readonly #name: string;
  readonly #readByMs: number;
  #problems: readonly ResourceProblem[] | undefined;
  #droppedFields: readonly string[] | undefined;

  constructor(options: ConfigurationStateKeeperOptions) {
    this.#options = options;
    this.#name = configurationStateName(options.nodeName);
    this.#readByMs = options.clock.nowMs() + READING_MS;
  }

  set problems(problems: readonly ResourceProblem[] | undefined) {
    this.#problems = problems;
  }

  set droppedFields(fields: readonly string[] | undefined) {
    this.#droppedFields = fields;
  }

  next(_name: string, nowMs: number): Next {
    const { nodeName: node, watched, ownPod, clock } = this.#options;
    if (watched.configurationState === undefined) return {};
    if (this.#problems === undefined && nowMs < this.#readByMs) return { againAtMs: this.#readByMs };
    const pod = ownPod.at(nowMs);
    if (!pod.isSettled) return { againAtMs: pod.againAtMs };
    const state = this.#own.newest(this.#name, watched.configurationState ?? undefined);
    if (this.#own.toRead(nowMs) !== undefined) return { write: this.#read() };
    const write = planConfigurationState({
      node,
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
    const { namespace } = this.#options;
    const { name } = write;
    const answered = (verdict: Verdict, body: unknown, nowMs: number): void => this.#take(verdict, body, uid, nowMs);
    if (write.kind === "create") {
      const metadata = { name, namespace, labels: write.labels, ownerReferences: write.owners };
      const request = createRequest(RESOURCE, namespace, { ...KIND, metadata });
      return { request, verb: "create", resource: RESOURCE, answered };
    }
    if (write.kind === "metadata") {
      const request = mergeRequest(RESOURCE, namespace, name, { metadata: write.metadata });
      return { request, verb: "patch", resource: RESOURCE, answered };
    }
    const object = { ...KIND, metadata: { name, namespace }, status: write.status };
    const request = applyStatusRequest(RESOURCE, namespace, name, CONFIGURATION_FIELD_OWNER, object);
    return { request, verb: "patch", resource: `${RESOURCE}/status`, answered };
  }

  #read(): PlannedWrite {
    const request = readRequest(RESOURCE, this.#options.namespace, this.#name);
    const uid = this.#options.watched.configurationState?.uid;
    const answered = (verdict: Verdict, body: unknown, nowMs: number): void => this.#take(verdict, body, uid, nowMs);
    return { request, verb: "get", resource: RESOURCE, answered };
  }

  #take(verdict: Verdict, body: unknown, uid: string | undefined, nowMs: number): void {
    if (verdict === "gone") this.#own.gone(this.#name, uid);
    if (verdict === "conflict") this.#own.mustRead(this.#name);
    const state = verdict === "done" ? readConfigurationState(body) : undefined;
    if (state !== undefined) this.#own.written(state, nowMs);
  }
}
