/** What the watches hold, for a writer under test: lists of one ServiceAccount, asked again and again. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ApiServer } from "../../../src/kube/api-server.ts";
import { readConfigurationState, readL2Status } from "../../../src/kube/read-watched.ts";
import type { WatchedL2Status, WatchedObjects, WatchedPod } from "../../../src/kube/watched.ts";

interface Listed {
  readonly metadata: {
    readonly namespace?: string;
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
}

const POLL_MS = 50;

export class PolledObjects implements WatchedObjects {
  readonly #api: ApiServer;
  readonly #namespace: string;
  readonly #stateName: string;
  #services = new Map<string, string>();
  #isClosed = false;
  l2Statuses: ReadonlyMap<string, WatchedL2Status> | undefined;
  configurationState: WatchedObjects["configurationState"];
  pods: ReadonlyMap<string, WatchedPod> | undefined;

  constructor(api: ApiServer, namespace: string, stateName: string) {
    this.#api = api;
    this.#namespace = namespace;
    this.#stateName = stateName;
  }

  serviceUid(namespace: string, name: string): string | undefined {
    return this.#services.get(`${namespace}/${name}`);
  }

  /** Until `close`; calls back after every round in which something changed. */
  async poll(changed: () => void): Promise<void> {
    let before = "";
    while (!this.#isClosed) {
      const versions = await this.#look();
      if (versions !== before) changed();
      before = versions;
      await sleep(POLL_MS);
    }
  }

  close(): void {
    this.#isClosed = true;
  }

  async #look(): Promise<string> {
    const own = `namespaces/${this.#namespace}`;
    const [services, pods, statuses, states] = await Promise.all([
      this.#list("/api/v1/services"),
      this.#list(`/api/v1/${own}/pods`),
      this.#list(`/apis/metallb.io/v1beta1/${own}/servicel2statuses`),
      this.#list(`/apis/metallb.io/v1beta1/${own}/configurationstates`),
    ]);
    this.#services = new Map(services.map(({ metadata }) => [`${metadata.namespace}/${metadata.name}`, metadata.uid]));
    this.pods = new Map(pods.map(podOf));
    const shown = this.l2Statuses;
    this.l2Statuses = new Map(
      statuses.flatMap((object) => {
        const known = shown?.get(object.metadata.name);
        const status = known?.resourceVersion === object.metadata.resourceVersion ? known : readL2Status(object);
        return status === undefined ? [] : [[status.name, status] as const];
      }),
    );
    const state = states.find(({ metadata }) => metadata.name === this.#stateName);
    if (state?.metadata.resourceVersion !== this.configurationState?.resourceVersion) {
      this.configurationState = readConfigurationState(state) ?? null;
    }
    this.configurationState ??= null;
    const all = [...services, ...pods, ...statuses, ...states];
    return all.map(({ metadata }) => `${metadata.uid}/${metadata.resourceVersion}`).join();
  }

  async #list(path: string): Promise<readonly Listed[]> {
    for (;;) {
      const { status, body } = await this.#api.request({ method: "GET", path });
      if (status === 200) return (body as { readonly items: readonly Listed[] }).items;
      // A CRD that is new answers 429 until its storage is ready.
      if (status !== 429) throw new Error(`${path}: HTTP ${status}`);
      await sleep(POLL_MS);
    }
  }
}

function podOf({ metadata }: Listed): [string, WatchedPod] {
  const { name, uid, resourceVersion } = metadata;
  return [name, { namespace: metadata.namespace ?? "", name, uid, resourceVersion, isBeingDeleted: false }];
}
