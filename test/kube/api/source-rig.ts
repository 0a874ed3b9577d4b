/** A Kubernetes source on a real API server, behind a relay, with the rights of a speaker. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createLog } from "../../../src/base/log.ts";
import type { ClusterSnapshot } from "../../../src/desired/snapshot.ts";
import type { ApiRequest, ApiServer, StreamListener } from "../../../src/kube/api-server.ts";
import { openApiServer } from "../../../src/kube/node-api-server.ts";
import { KubernetesSource, type KubernetesSourceOptions } from "../../../src/kube/watch/kubernetes-source.ts";
import type { KindStatus } from "../../../src/kube/watch/source-status.ts";
import { SystemClock } from "../../../src/sys/system-clock.ts";
import { SystemRandom } from "../../../src/sys/system-random.ts";
import type { ControlPlane } from "../../support/control-plane.ts";
import { Relay } from "./relay.ts";

export const NAMESPACE = "metallb-system";
/** The account that manifests/base/rbac.yaml grants a speaker's rights. */
export const SPEAKER = {
  name: `system:serviceaccount:${NAMESPACE}:arpeggio-speaker`,
  groups: [`system:serviceaccounts:${NAMESPACE}`],
  token: "speaker-token",
};
const POLL_MS = 20;

export class SourceRig {
  readonly relay: Relay;
  readonly source: KubernetesSource;
  /** `list` or `watch`, and the path. */
  readonly asked: string[] = [];
  /** Said before a request is sent: true cuts its answer short at once. */
  cuts: (request: ApiRequest) => boolean = () => false;
  snapshots = 0;
  last: ClusterSnapshot | undefined;
  sentences: readonly string[] = [];
  pods: readonly string[] = [];
  readonly #folder: string;
  readonly #api: ApiServer;
  #isClosed = false;

  private constructor(relay: Relay, folder: string, api: ApiServer, others: Partial<KubernetesSourceOptions>) {
    this.relay = relay;
    this.#folder = folder;
    this.#api = api;
    this.source = new KubernetesSource({
      api: this.#recording(api),
      namespace: NAMESPACE,
      nodeName: "n1",
      podQuery: { labelSelector: "app=arpeggio" },
      clock: new SystemClock(),
      random: new SystemRandom(),
      log: createLog("none", () => {}, Date.now),
      onChange: (snapshot, problems) => {
        this.snapshots++;
        this.last = snapshot;
        this.sentences = (problems ?? []).map(({ sentence }) => sentence);
      },
      onPods: (pods) => {
        this.pods = [...pods.keys()];
      },
      ...others,
    });
  }

  static async open(
    plane: ControlPlane,
    { token = SPEAKER.token, ...others }: Partial<KubernetesSourceOptions> & { readonly token?: string } = {},
  ): Promise<SourceRig> {
    const relay = await Relay.open(plane.baseUrl);
    const folder = await mkdtemp(join(tmpdir(), "arpeggio-source-"));
    await writeFile(join(folder, "token"), `${token}\n`);
    const kubeconfig = join(folder, "kubeconfig");
    await writeFile(
      kubeconfig,
      JSON.stringify({
        clusters: [
          {
            name: "c",
            cluster: { server: relay.url, "certificate-authority": plane.caFile },
          },
        ],
        users: [{ name: "u", user: { "auth-provider": { name: "f", config: { tokenFile: join(folder, "token") } } } }],
        contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
        "current-context": "x",
      }),
    );
    return new SourceRig(relay, folder, await openApiServer({ kubeconfig }), others);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.source.close();
    this.#api.close();
    await this.relay.close();
    await rm(this.#folder, { recursive: true });
  }

  replaceToken(token: string): Promise<void> {
    return writeFile(join(this.#folder, "token"), token);
  }

  /** Until it holds; the test's own timeout is the limit. */
  async until(holds: (snapshot: ClusterSnapshot) => boolean): Promise<ClusterSnapshot> {
    while (!this.#isClosed) {
      if (this.last !== undefined && holds(this.last)) return this.last;
      await pause(POLL_MS);
    }
    throw new Error("closed");
  }

  async untilStatus(kind: string, holds: (status: KindStatus) => boolean): Promise<KindStatus> {
    while (!this.#isClosed) {
      const status = this.status(kind);
      if (status !== undefined && holds(status)) return status;
      await pause(POLL_MS);
    }
    throw new Error("closed");
  }

  status(kind: string): KindStatus | undefined {
    return this.source.status().watches.find((watch) => watch.kind === kind);
  }

  #recording(api: ApiServer): ApiServer {
    return {
      url: api.url,
      request: (request) => api.request(request),
      stream: (request, listener) => {
        this.asked.push(`${request.query?.["watch"] === "true" ? "watch" : "list"} ${request.path}`);
        return api.stream(request, this.cuts(request) ? cutShort(listener) : listener);
      },
      refreshCredentials: () => api.refreshCredentials(),
      close: () => api.close(),
    };
  }
}

/** What comes before the end is told, the end itself as one that came too soon. */
function cutShort(listener: StreamListener): StreamListener {
  return {
    opened: (status) => listener.opened(status),
    data: (bytes) => listener.data(bytes),
    ended: () => listener.ended("cut short by the test"),
  };
}
