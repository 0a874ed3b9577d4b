/** One test's own pool, advertisements, Services and addresses, and what is waited for and asked about them. */
import { hash } from "node:crypto";
import { until } from "../../hack/kube-cluster/until.ts";
import type { Ip } from "../../src/net/ip.ts";
import { SCENE_NAMESPACE, type Scene, SPEAKER_NAMESPACE } from "./kube-scene.ts";
import { collectionPath, type Resource } from "./resource-path.ts";

/** 192.0.2.120 to .149: between the lab's own pool and what its tests take. */
const FIRST_IPV4 = 120;
const IPV4_ADDRESSES = 30;

const METALLB = "metallb.io/v1beta1";

export interface L2Status {
  readonly metadata: { readonly name: string };
  readonly status?: { readonly node?: string; readonly interfaces?: readonly { readonly name: string }[] };
}

export interface KubeEvent {
  readonly metadata: { readonly resourceVersion: string };
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly source: { readonly component?: string };
}

export interface ServiceOptions {
  /** Beside the test's own name. */
  readonly suffix?: string;
  readonly policy?: "Cluster" | "Local";
  /** Of its backends; by default all three. */
  readonly selector?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly loadBalancerClass?: string;
  readonly ports?: readonly { readonly name?: string; readonly port: number; readonly protocol?: "TCP" | "UDP" }[];
}

export class Trial {
  readonly scene: Scene;
  readonly name: string;
  readonly ipv4: Ip;
  readonly ipv6: Ip;
  readonly #made = new Map<string, Resource>();

  constructor(scene: Scene, number: number) {
    this.scene = scene;
    this.name = `t${number}`;
    this.ipv4 = `192.0.2.${FIRST_IPV4 + (number % IPV4_ADDRESSES)}` as Ip;
    this.ipv6 = `2001:db8::5:${(number + 1).toString(16)}` as Ip;
  }

  get addresses(): readonly Ip[] {
    return [this.ipv4, this.ipv6];
  }

  /** Of the test's two addresses alone. */
  pool(labels: Readonly<Record<string, string>> = {}): Resource {
    return {
      apiVersion: METALLB,
      kind: "IPAddressPool",
      metadata: { name: this.name, namespace: SPEAKER_NAMESPACE, labels },
      spec: { addresses: [`${this.ipv4}/32`, `${this.ipv6}/128`], autoAssign: false },
    };
  }

  /** For the test's pool, if `spec` does not say otherwise. */
  advertisement(spec: Readonly<Record<string, unknown>> = {}, suffix = ""): Resource {
    return {
      apiVersion: METALLB,
      kind: "L2Advertisement",
      metadata: { name: `${this.name}${suffix}`, namespace: SPEAKER_NAMESPACE },
      spec: { ipAddressPools: [this.name], ...spec },
    };
  }

  service(options: ServiceOptions = {}): Resource {
    const { suffix = "", policy = "Cluster", selector = {}, labels = {}, annotations = {}, ports } = options;
    const { loadBalancerClass } = options;
    return {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: `${this.name}${suffix}`, namespace: SCENE_NAMESPACE, labels, annotations },
      spec: {
        type: "LoadBalancer",
        externalTrafficPolicy: policy,
        allocateLoadBalancerNodePorts: false,
        ipFamilyPolicy: "RequireDualStack",
        selector: { app: "web", ...selector },
        ports: (ports ?? [{ port: 80 }]).map((port) => ({ targetPort: 8080, ...port })),
        ...(loadBalancerClass === undefined ? {} : { loadBalancerClass }),
      },
    };
  }

  /** Pool, one advertisement that says nothing, one Service, and its addresses. */
  async start(service: ServiceOptions = {}, advertisement: Readonly<Record<string, unknown>> = {}): Promise<void> {
    await this.apply(this.pool(), this.advertisement(advertisement), this.service(service));
    await this.assign(service.suffix);
  }

  async apply(...resources: readonly Resource[]): Promise<void> {
    this.goesWithIt(...resources);
    await this.scene.apply(...resources);
  }

  /** Made by other hands, such as kubectl: removed when the trial ends. */
  goesWithIt(...resources: readonly Resource[]): void {
    for (const resource of resources) this.#made.set(`${resource.kind} ${resource.metadata.name}`, resource);
  }

  async remove(resource: Resource): Promise<void> {
    this.#made.delete(`${resource.kind} ${resource.metadata.name}`);
    await this.scene.remove(resource);
  }

  /** Writes the addresses of the Service, as the allocator will. */
  async assign(suffix = "", addresses: readonly Ip[] = this.addresses): Promise<void> {
    const ingress = addresses.map((ip) => ({ ip }));
    await this.scene.patch(this.service({ suffix }), { status: { loadBalancer: { ingress } } }, "/status");
  }

  /** Labels of the test's own on nodes: no other test sees them, and they go with it. */
  async label(labels: Readonly<Record<string, string | null>>): Promise<void> {
    await Promise.all(Object.entries(labels).map(([node, value]) => this.#labelNode(node, { [this.labelKey]: value })));
    for (const node of Object.keys(labels)) this.#labelled.add(node);
  }

  readonly #labelled = new Set<string>();

  get labelKey(): string {
    return `test.example.org/${this.name}`;
  }

  /** Selects the nodes whose label of this test has the value. */
  nodesWith(value: string): { readonly matchLabels: Readonly<Record<string, string>> } {
    return { matchLabels: { [this.labelKey]: value } };
  }

  /** Until exactly one of these nodes answers for every address of the test; gives it. */
  ledBy(nodes: readonly string[], timeoutMs = 20_000): Promise<string> {
    return this.until(`one of ${nodes.join(", ")} answers for ${this.ipv4} and ${this.ipv6}`, timeoutMs, async () => {
      const answers = await Promise.all(this.addresses.map((address) => this.scene.answering(address)));
      const [[leader, ...others] = [], [leader6, ...others6] = []] = answers;
      const isOne = leader !== undefined && leader === leader6 && others.length === 0 && others6.length === 0;
      return isOne && nodes.includes(leader) ? leader : undefined;
    });
  }

  /** Until the first by MetalLB's hash does: another one may have led for a moment before, if it heard of the address earlier. */
  ledByFirst(): Promise<string> {
    return this.ledBy(this.hashOrder().slice(0, 1));
  }

  /** Until nobody answers for any address of the test. */
  async ledByNobody(link = "eth0", timeoutMs = 20_000): Promise<void> {
    await this.until(`nobody answers for ${this.ipv4} and ${this.ipv6}`, timeoutMs, async () => {
      const answers = await Promise.all(this.addresses.map((address) => this.scene.answering(address, link)));
      return answers.flat().length === 0;
    });
  }

  /** Never, for as long as is given: something that must not happen may take its time. */
  async staysSilent(durationMs: number, link = "eth0"): Promise<void> {
    const endMs = performance.now() + durationMs;
    while (performance.now() < endMs) {
      const answers = await Promise.all(this.addresses.map((address) => this.scene.answering(address, link, 500)));
      if (answers.flat().length > 0) throw new Error(`${answers.flat().join(", ")} answers on ${link}`);
    }
  }

  /** The order in which MetalLB's hash ranks these nodes for the test's addresses. */
  hashOrder(nodes: readonly string[] = this.scene.nodes): readonly string[] {
    const hashes = nodes.map((node) => ({ node, digest: hash("sha256", `${node}#${this.ipv4}`, "hex") }));
    return hashes.toSorted((a, b) => (a.digest < b.digest ? -1 : 1)).map(({ node }) => node);
  }

  async l2Statuses(suffix = ""): Promise<readonly L2Status[]> {
    const labelSelector = `metallb.io/service-name=${this.name}${suffix},metallb.io/service-namespace=${SCENE_NAMESPACE}`;
    const path = collectionPath(METALLB, "ServiceL2Status", SPEAKER_NAMESPACE);
    return (await this.scene.call<{ items: readonly L2Status[] }>({ method: "GET", path, query: { labelSelector } }))
      .items;
  }

  /** Of the Service with that reason, oldest first. */
  async events(reason: string, suffix = ""): Promise<readonly KubeEvent[]> {
    const fieldSelector = `involvedObject.kind=Service,involvedObject.name=${this.name}${suffix},reason=${reason}`;
    const path = collectionPath("v1", "Event", SCENE_NAMESPACE);
    const { items } = await this.scene.call<{ items: readonly KubeEvent[] }>({
      method: "GET",
      path,
      query: { fieldSelector },
    });
    // Their times are whole seconds.
    return items.toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion));
  }

  /** Asks again and again; not so often that twenty tests at a time keep the machine from working. */
  async until<Wanted>(
    what: string,
    timeoutMs: number,
    check: () => Promise<Wanted | undefined | false>,
  ): Promise<Wanted> {
    return until(what, { timeoutMs, pollMs: POLL_MS }, check);
  }

  /** Everything that was made; nobody waits for it. */
  async end(): Promise<void> {
    await Promise.all([
      ...[...this.#made.values()].map((resource) => this.scene.remove(resource)),
      ...[...this.#labelled].map((node) => this.#labelNode(node, { [this.labelKey]: null })),
    ]);
  }

  async #labelNode(name: string, labels: Readonly<Record<string, string | null>>): Promise<void> {
    await this.scene.patch({ apiVersion: "v1", kind: "Node", metadata: { name } }, { metadata: { labels } });
  }
}

const POLL_MS = 200;
