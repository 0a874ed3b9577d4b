import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { Cluster } from "../../../speaker/cluster.ts";
import { createLog } from "../../../src/base/log.ts";
import type { ApiServer } from "../../../src/kube/api-server.ts";
import { openApiServer } from "../../../src/kube/node-api-server.ts";
import { KubernetesWriter } from "../../../src/kube/write/kubernetes-writer.ts";
import { l2StatusName } from "../../../src/kube/write/l2-status.ts";
import { readDroppedFields } from "../../../src/kube/write/schema-check.ts";
import type { LeadingReport } from "../../../src/kube/write/service-report.ts";
import { SystemClock } from "../../../src/sys/system-clock.ts";
import { SystemRandom } from "../../../src/sys/system-random.ts";
import { useControlPlane } from "../../support/control-plane.ts";
import { PolledObjects } from "./polled-objects.ts";

const NAMESPACE = "metallb-system";
const SPEAKER = {
  name: `system:serviceaccount:${NAMESPACE}:arpeggio-speaker`,
  groups: ["system:serviceaccounts", `system:serviceaccounts:${NAMESPACE}`, "system:authenticated"],
  token: "speaker-token",
};
const NODE = "n2";
const STATE = `speaker-${NODE}`;
const LEADING: LeadingReport = {
  kind: "leading",
  addresses: ["192.0.2.10", "2001:db8::10"],
  links: [{ name: "eth0", mac: "02:00:00:00:00:01" }],
  restrictedTo: ["eth0"],
  sinceMs: Date.UTC(2026, 0, 1),
  reason: "lowest-hash",
  previousNode: "n1",
  rank: 1,
  candidates: 3,
};
const REFUSED = {
  kind: "IPAddressPool",
  namespace: NAMESPACE,
  name: "p",
  uid: "1",
  sentence: 'IPAddressPool p: spec.addresses[0] "x" is no range',
  problem: "refused",
} as const;

/** What PolledObjects lists. */
const READ = ["services", "pods", "servicel2statuses.metallb.io", "configurationstates.metallb.io"];

describe("what is written back, to a real API server", function () {
  this.timeout(60_000);
  // Before the control plane's own end.
  after(async () => {
    await stop?.();
    disconnect?.();
  });
  const plane = useControlPlane({ users: [SPEAKER], controllerManager: true });
  let api: ApiServer;
  let current: { readonly writer: KubernetesWriter };
  /** Nothing runs where there is no control plane. */
  let stop: (() => Promise<void>) | undefined;
  let disconnect: (() => void) | undefined;

  before(async () => {
    const kubectl = plane().kubectl.bind(plane());
    await kubectl(["apply", "--server-side", "-f", "manifests/crd"]);
    const base = ["-f", "manifests/base/service-accounts.yaml", "-f", "manifests/base/rbac.yaml"];
    await kubectl(["apply", "-n", NAMESPACE, ...base]);
    // The authorizer learns of roles from a watch of its own.
    for (const resource of READ) {
      const question = ["auth", "can-i", "list", resource, "-n", NAMESPACE, `--as=${SPEAKER.name}`];
      await until(async () => (await kubectl(question).catch(() => "no")).startsWith("yes"));
    }
    await kubectl(["wait", "--for=create", "serviceaccount/default", "-n", NAMESPACE, "--timeout=20s"]);
    await kubectl(["wait", "--for=condition=Established", "crd", "--all", "--timeout=20s"]);
    await Promise.all(["speaker-old", "speaker-a", "speaker-b"].map(makePod));
    await kubectl(["create", "service", "loadbalancer", "web", "--tcp=80"]);
    api = await openApiServer({ kubeconfig: plane().kubeconfig(SPEAKER.name) });
    disconnect = () => api.close();
    start("speaker-a");
  });

  it("a new leader's status ends its competitor's, as MetalLB writes one", async () => {
    await plane().kubectl(
      ["create", "-f", "-"],
      `{"apiVersion":"metallb.io/v1beta1","kind":"ServiceL2Status","metadata":{"generateName":"l2-","namespace":"${NAMESPACE}",
        "labels":{"metallb.io/node":"n1","metallb.io/service-name":"web","metallb.io/service-namespace":"default"}},"spec":{}}`,
    );
    await until(async () => (await names()).length === 1);
    current.writer.apply([{ service: "default/web", report: LEADING }]);
    await until(async () => (await names()).join() === l2StatusName("default/web", NODE));
    await until(async () => (await table()).length === 1);
    expect(await table()).to.deep.equal([[l2StatusName("default/web", NODE), NODE, "web", "default"]]);
    const status = await object("servicel2statuses", l2StatusName("default/web", NODE));
    expect(status["status"]).to.deep.equal({
      node: NODE,
      serviceName: "web",
      serviceNamespace: "default",
      interfaces: [{ name: "eth0" }],
    });
    expect(status.metadata["annotations"]).to.deep.equal({
      "arpeggio.dev/since": "2026-01-01T00:00:00.000Z",
      "arpeggio.dev/reason": "lowest-hash",
      "arpeggio.dev/previous-node": "n1",
      "arpeggio.dev/mac": "eth0=02:00:00:00:00:01",
      "arpeggio.dev/rank": "1/3",
    });
  });

  it("the node in a status is immutable, which is why a new leader makes a new one", async () => {
    const patch = `{"status":{"node":"n3"}}`;
    const name = l2StatusName("default/web", NODE);
    const said = await plane()
      .kubectl(["patch", "servicel2status", name, "-n", NAMESPACE, "--subresource=status", "--type=merge", "-p", patch])
      .catch((error: Error) => error.message);
    expect(said).to.contain("Value is immutable");
  });

  it("kubectl describe service shows who announces, and why", async () => {
    await until(async () => (await describeService()).includes("nodeAssigned"));
    const text = await describeService();
    expect(text).to.match(
      /Normal\s+nodeAssigned\s+\S+\s+metallb-speaker\s+announcing from node "n2" with protocol "layer2"/,
    );
    expect(text).to.contain("192.0.2.10, 2001:db8::10 on eth0; before: n1; reason: lowest-hash");
  });

  it("the ConfigurationState is of configReconciler, by apply, and dates what changes", async () => {
    current.writer.problemsChanged([]);
    await until(async () => (await state())?.result === "Valid");
    const valid = await state();
    expect(valid?.conditions.map(({ type, status, reason }) => [type, status, reason])).to.deep.equal([
      ["configReconcilerValid", "True", "Reconciled"],
      ["arpeggio.dev/SchemaComplete", "True", "AllFieldsKept"],
    ]);
    await sleep(1_100);
    current.writer.problemsChanged([REFUSED]);
    await until(async () => (await state())?.result === "Invalid");
    const invalid = await state();
    expect(invalid?.errorSummary).to.equal(`configuration error: ${REFUSED.sentence}`);
    expect(dates(invalid)["configReconcilerValid"]).to.not.equal(dates(valid)["configReconcilerValid"]);
    expect(dates(invalid)["arpeggio.dev/SchemaComplete"]).to.equal(dates(valid)["arpeggio.dev/SchemaComplete"]);
    await sleep(1_100);
    current.writer.problemsChanged([{ ...REFUSED, sentence: "another" }]);
    await until(async () => (await state())?.errorSummary === "configuration error: another");
    expect(dates(await state())).to.deep.equal(dates(invalid));
    const { managedFields } = (await object("configurationstates", STATE)).metadata;
    const owners = (managedFields as Readonly<Record<string, string>>[]).map((entry) => [
      entry["manager"],
      entry["operation"],
      entry["subresource"],
    ]);
    expect(owners).to.deep.include(["configReconciler", "Apply", "status"]);
    current.writer.problemsChanged([]);
    await until(async () => (await state())?.result === "Valid");
    expect((await state())?.errorSummary).to.equal("");
  });

  it("a ConfigurationState that is deleted is there again", async () => {
    await plane().kubectl(["delete", "configurationstate", STATE, "-n", NAMESPACE]);
    await until(async () => (await state())?.result === "Valid");
  });

  it("nothing changes: nothing is written", async () => {
    await sleep(3_000);
    const before = writes().length;
    current.writer.apply([{ service: "default/web", report: { ...LEADING } }]);
    current.writer.problemsChanged([]);
    current.writer.watchedChanged();
    await sleep(3_000);
    expect(writes().slice(before)).to.deep.equal([]);
  });

  it("what a former pod owned is taken over before that pod's end takes it along", async () => {
    await stop?.();
    const orphan = "l2-orphan";
    await makeOwned("servicel2status", orphan, "speaker-a");
    const events = (await list("events")).length;
    start("speaker-b");
    current.writer.apply([{ service: "default/web", report: LEADING }]);
    current.writer.problemsChanged([]);
    const mine = l2StatusName("default/web", NODE);
    await until(async () => (await ownerOf("servicel2statuses", mine)) === "speaker-b");
    await until(async () => (await ownerOf("configurationstates", STATE)) === "speaker-b");
    const uids = await Promise.all([uidOf("servicel2statuses", mine), uidOf("configurationstates", STATE)]);
    await plane().kubectl(["delete", "pod", "speaker-a", "-n", NAMESPACE, "--force", "--grace-period=0"]);
    await until(async () => !(await names()).includes(orphan));
    await sleep(1_000);
    expect(await Promise.all([uidOf("servicel2statuses", mine), uidOf("configurationstates", STATE)])).to.deep.equal(
      uids,
    );
    // The status of the former process says that this node leads already: no transition.
    expect(await list("events")).to.have.length(events);
  });

  it("without gossip, where the other speakers' pods are not watched, what is written belongs to the own pod all the same", async () => {
    await stop?.();
    await makePod("speaker-c");
    const kubernetes = {
      kind: "kubernetes",
      kubeconfig: plane().kubeconfig(SPEAKER.name),
      namespace: NAMESPACE,
      podName: "speaker-c",
      podSelector: "",
    } as const;
    const heard: (readonly string[])[] = [];
    const cluster = await Cluster.open(
      kubernetes,
      {
        nodeName: NODE,
        clock: new SystemClock(),
        random: new SystemRandom(),
        log: createLog("none", () => {}, Date.now),
        aliveMembers: () => [NODE],
      },
      { changed: () => {}, podsChanged: (ips) => heard.push(ips), freshnessChanged: () => {} },
    );
    stop = () => cluster.close();
    await cluster.start();
    cluster.report([{ service: "default/web", report: LEADING }], true);
    await until(async () => (await ownerOf("servicel2statuses", l2StatusName("default/web", NODE))) === "speaker-c");
    await until(async () => (await ownerOf("configurationstates", STATE)) === "speaker-c");
    // No node runs them, so none has an address; the others are not even listed.
    expect(heard.flat()).to.deep.equal([]);
    expect(cluster.status().watches?.find(({ kind }) => kind === "Pod")?.objects).to.equal(1);
  });

  it("a CRD that drops a field is named", async () => {
    const path = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/serviceSelectors";
    const patch = JSON.stringify([{ op: "remove", path }]);
    await plane().kubectl(["patch", "crd", "l2advertisements.metallb.io", "--type=json", "-p", patch]);
    await stop?.();
    await until(async () => (await readDroppedFields(api))?.length === 1);
    start("speaker-b");
    current.writer.problemsChanged([]);
    await until(async () => JSON.stringify(await state()).includes("FieldsDropped"));
    const condition = (await state())?.conditions.find(({ type }) => type === "arpeggio.dev/SchemaComplete");
    expect(condition).to.include({
      status: "False",
      reason: "FieldsDropped",
      message: "the installed CRDs drop L2Advertisement.spec.serviceSelectors",
    });
    expect((await state())?.result).to.equal("Valid");
  });

  it("the Service's status goes with the Service", async () => {
    current.writer.apply([{ service: "default/web", report: LEADING }]);
    await until(async () => (await names()).length === 1);
    await sleep(200);
    await plane().kubectl(["delete", "service", "web"]);
    await sleep(500);
    current.writer.apply([{ service: "default/web" }]);
    await until(async () => (await names()).length === 0);
  });

  it("asked for nothing that RBAC does not grant", () => {
    const refused = audit().filter(({ responseStatus }) => responseStatus?.code === 403);
    expect(refused.map(({ verb, requestURI }) => `${verb} ${requestURI}`)).to.deep.equal([]);
    expect(current.writer.status().objects.missingRights).to.deep.equal([]);
  });

  function start(podName: string): void {
    const objects = new PolledObjects(api, NAMESPACE, STATE);
    const clock = new SystemClock();
    const writer = new KubernetesWriter({
      api,
      watched: objects,
      clock,
      random: new SystemRandom(),
      log: createLog(
        "none",
        () => {},
        () => clock.wallMs(),
      ),
      nodeName: NODE,
      namespace: NAMESPACE,
      podName,
      aliveMembers: () => [NODE],
    });
    current = { writer };
    const polled = objects.poll(() => writer.watchedChanged());
    stop = async () => {
      objects.close();
      await polled;
      writer.close();
    };
  }

  async function makePod(name: string): Promise<void> {
    await plane().kubectl(
      ["apply", "-n", NAMESPACE, "-f", "-"],
      `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"${name}"},"spec":{"containers":[{"name":"speaker","image":"example.org/speaker"}]}}`,
    );
  }

  /** As another process of this node left it. */
  async function makeOwned(kind: string, name: string, pod: string): Promise<void> {
    const uid = await uidOf("pods", pod);
    await plane().kubectl(
      ["create", "-f", "-"],
      `{"apiVersion":"metallb.io/v1beta1","kind":"ServiceL2Status","metadata":{"name":"${name}","namespace":"${NAMESPACE}",
        "ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"${pod}","uid":"${uid}"}]},"spec":{}}`,
    );
    expect(await ownerOf(`${kind}es`, name)).to.equal(pod);
  }

  async function list(resource: string, namespace = "default"): Promise<readonly KubernetesObject[]> {
    const text = await plane().kubectl(["get", resource, "-n", namespace, "-o", "json", "--show-managed-fields"]);
    return (JSON.parse(text) as { readonly items: readonly KubernetesObject[] }).items;
  }

  async function object(resource: string, name: string): Promise<KubernetesObject> {
    const found = (await list(resource, NAMESPACE)).find(({ metadata }) => metadata.name === name);
    if (found === undefined) throw new Error(`there is no ${resource} ${name}`);
    return found;
  }

  async function uidOf(resource: string, name: string): Promise<string> {
    return (await object(resource, name)).metadata.uid;
  }

  async function ownerOf(resource: string, name: string): Promise<string | undefined> {
    return (await object(resource, name)).metadata.ownerReferences?.map((owner) => owner.name).join();
  }

  async function names(): Promise<readonly string[]> {
    return (await list("servicel2statuses", NAMESPACE)).map(({ metadata }) => metadata.name);
  }

  /** The columns that kubectl prints. */
  async function table(): Promise<readonly (readonly string[])[]> {
    const text = await plane().kubectl(["get", "servicel2statuses", "-A", "--no-headers"]);
    const rows = text.trim().split("\n");
    return rows.map((row) => row.split(/\s+/).slice(1)).filter((row) => row.length === 4);
  }

  async function state(): Promise<State | undefined> {
    const found = (await list("configurationstates", NAMESPACE)).find(({ metadata }) => metadata.name === STATE);
    return found?.["status"] as State | undefined;
  }

  function describeService(): Promise<string> {
    return plane().kubectl(["describe", "service", "web"]);
  }

  function audit(): readonly AuditEntry[] {
    const lines = readFileSync(plane().auditLog, "utf8").trimEnd().split("\n");
    const entries = lines.flatMap((line) => (line === "" ? [] : [JSON.parse(line) as AuditEntry]));
    return entries.filter(({ user }) => user.username === SPEAKER.name);
  }

  function writes(): readonly string[] {
    const reads = ["get", "list", "watch"];
    return audit().flatMap(({ verb, requestURI }) => (reads.includes(verb) ? [] : [`${verb} ${requestURI}`]));
  }
});

interface KubernetesObject {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly ownerReferences?: readonly { readonly name: string }[];
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

interface State {
  readonly result?: string;
  readonly errorSummary?: string;
  readonly conditions: readonly Readonly<
    Record<"type" | "status" | "reason" | "message" | "lastTransitionTime", string>
  >[];
}

interface AuditEntry {
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string };
  readonly responseStatus?: { readonly code?: number };
}

function dates(state: State | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(state?.conditions.map(({ type, lastTransitionTime }) => [type, lastTransitionTime]) ?? []);
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + 30_000;
  while (!(await holds())) {
    if (performance.now() > deadlineMs) throw new Error(`never: ${holds.toString()}`);
    await sleep(100);
  }
}
