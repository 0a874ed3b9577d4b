import { expect } from "chai";
import { readConfigurationState } from "../../../src/kube/read-watched.ts";
import type { ResourceProblem, WatchedConfigurationState } from "../../../src/kube/watched.ts";
import { NAMESPACE, WriterBench } from "./writer-bench.ts";

function refused(sentence: string): ResourceProblem {
  return { kind: "IPAddressPool", namespace: NAMESPACE, name: "p", uid: "uid-p", sentence, problem: "refused" };
}

function stateOf(bench: WriterBench): WatchedConfigurationState | undefined {
  return readConfigurationState(bench.api.list("configurationstates")[0]);
}

function conditionOf(bench: WriterBench, type = "configReconcilerValid") {
  return stateOf(bench)?.conditions.find((condition) => condition.type === type);
}

describe("KubernetesWriter: ConfigurationState", () => {
  it("is created plainly, then applied as MetalLB's reconciler", async () => {
    const bench = new WriterBench().listed();
    bench.writer.problemsChanged([]);
    await bench.run(1_000);
    const [create, apply] = bench.api.writes;
    expect([create?.method, create?.path, create?.body]).to.deep.equal([
      "POST",
      "/apis/metallb.io/v1beta1/namespaces/metallb-system/configurationstates",
      {
        apiVersion: "metallb.io/v1beta1",
        kind: "ConfigurationState",
        metadata: {
          name: "speaker-n2",
          namespace: NAMESPACE,
          labels: { "metallb.io/component-type": "speaker", "metallb.io/node-name": "n2" },
          ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "speaker-b", uid: "uid-pod-b" }],
        },
      },
    ]);
    expect([apply?.path, apply?.query, apply?.contentType]).to.deep.equal([
      "/apis/metallb.io/v1beta1/namespaces/metallb-system/configurationstates/speaker-n2/status",
      { fieldManager: "configReconciler", force: "true" },
      "application/apply-patch+yaml",
    ]);
    expect(stateOf(bench)?.result).to.equal("Valid");
    expect(conditionOf(bench)).to.deep.equal({
      type: "configReconcilerValid",
      status: "True",
      reason: "Reconciled",
      message: "",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    });
    await bench.run(600_000);
    expect(bench.api.writes).to.have.length(2);
  });

  it("says what is refused, in any order the same, and heals; the time moves with the status only", async () => {
    const bench = new WriterBench().listed();
    bench.writer.problemsChanged([]);
    await bench.run(60_000);
    bench.writer.problemsChanged([refused("b"), refused("a")]);
    await bench.run(60_000);
    expect(stateOf(bench)).to.include({ result: "Invalid", errorSummary: "configuration error: a\nb" });
    expect(conditionOf(bench)).to.include({
      status: "False",
      reason: "ConfigurationError",
      message: "configuration error: a\nb",
      lastTransitionTime: "2026-01-01T00:01:00Z",
    });
    const writes = bench.api.writes.length;
    bench.writer.problemsChanged([refused("a"), refused("b")]);
    await bench.run(60_000);
    expect(bench.api.writes).to.have.length(writes);
    bench.writer.problemsChanged([refused("c")]);
    await bench.run(60_000);
    expect(conditionOf(bench)).to.include({ lastTransitionTime: "2026-01-01T00:01:00Z" });
    bench.writer.problemsChanged([]);
    await bench.run(60_000);
    expect(stateOf(bench)).to.include({ result: "Valid" });
    expect(stateOf(bench)).to.not.have.property("errorSummary");
    expect(conditionOf(bench)).to.include({ status: "True", lastTransitionTime: "2026-01-01T00:04:00Z" });
  });

  it("a BGP resource does not make it Invalid", async () => {
    const bench = new WriterBench().listed();
    bench.writer.problemsChanged([{ ...refused("x"), problem: "not-served" }]);
    await bench.run(1_000);
    expect(stateOf(bench)?.result).to.equal("Valid");
  });

  it("what could not be read for 10 s is Unknown", async () => {
    const bench = new WriterBench().listed();
    await bench.run(9_000);
    expect(stateOf(bench)).to.equal(undefined);
    await bench.run(2_000);
    expect(stateOf(bench)?.result).to.equal("Unknown");
    expect(conditionOf(bench)).to.include({ status: "Unknown", reason: "UnknownError" });
  });

  it("a thousand sentences are fifty, and a count", async () => {
    const bench = new WriterBench().listed();
    bench.writer.problemsChanged(Array.from({ length: 1_000 }, (_, index) => refused(`sentence ${index}`)));
    await bench.run(1_000);
    const lines = stateOf(bench)?.errorSummary?.split("\n") ?? [];
    expect(lines).to.have.length(51);
    expect(lines.at(-1)).to.equal("and 950 more");
  });

  it("takes an object of a former pod over before it says anything", async () => {
    const former = new WriterBench().listed();
    former.writer.problemsChanged([]);
    await former.run(1_000);
    former.writer.close();
    const [object] = former.api.list("configurationstates");
    const owner = { apiVersion: "v1", kind: "Pod", name: "speaker-x", uid: "uid-pod-x" };
    former.api.put("configurationstates", NAMESPACE, {
      ...object,
      metadata: { ...object?.metadata, ownerReferences: [owner] },
    });
    const bench = new WriterBench({ api: former.api }).listed();
    bench.writer.problemsChanged([]);
    await bench.run(1_000);
    expect(bench.api.writes.slice(2).map(({ method, body }) => [method, body])).to.deep.equal([
      [
        "PATCH",
        {
          metadata: {
            labels: { "metallb.io/component-type": "speaker", "metallb.io/node-name": "n2" },
            ownerReferences: [{ ...owner, name: "speaker-b", uid: "uid-pod-b" }],
          },
        },
      ],
    ]);
    expect(conditionOf(bench)).to.include({ lastTransitionTime: "2026-01-01T00:00:00Z" });
  });

  it("without a known Pod, what is written has no owner, and what is there keeps its own", async () => {
    const bench = new WriterBench();
    bench.watched.pods = undefined;
    bench.listed();
    bench.writer.problemsChanged([]);
    await bench.run(9_000);
    expect(bench.api.writes).to.deep.equal([]);
    await bench.run(2_000);
    expect(bench.api.list("configurationstates")[0]?.metadata["ownerReferences"]).to.deep.equal([]);
    const pod = { namespace: NAMESPACE, name: "speaker-b", uid: "uid-pod-b", resourceVersion: "1" };
    bench.watched.pods = new Map([[pod.name, { ...pod, isBeingDeleted: false }]]);
    bench.writer.watchedChanged();
    await bench.run(1_000);
    expect(stateOf(bench)?.owners.map(({ name }) => name)).to.deep.equal(["speaker-b"]);
  });

  it("one that was there, though the watch does not show it, is read before it is written", async () => {
    const bench = new WriterBench();
    bench.api.put("configurationstates", NAMESPACE, { metadata: { name: "speaker-n2" } });
    bench.isWatching = false;
    bench.listed();
    bench.writer.problemsChanged([]);
    await bench.run(5_000);
    expect(bench.api.requests.slice(1).map(({ method }) => method)).to.deep.equal(["POST", "GET", "PATCH", "PATCH"]);
    expect(stateOf(bench)?.result).to.equal("Valid");
  });

  it("an answer of OpenAPI becomes the condition SchemaComplete, and is asked for again while fields are dropped", async () => {
    const bench = new WriterBench();
    const properties = { spec: { properties: {} } };
    const kind = { group: "metallb.io", kind: "L2Advertisement", version: "v1beta1" };
    const schemas = { L2Advertisement: { properties, "x-kubernetes-group-version-kind": [kind] } };
    const old = new WriterBench();
    old.api.trouble = (request) =>
      request.path.startsWith("/openapi") ? { status: 200, body: { components: { schemas } } } : undefined;
    for (const one of [bench, old]) {
      one.listed();
      one.writer.problemsChanged([]);
      await one.run(31_000);
    }
    // The first request was sent before the test could say otherwise.
    expect(conditionOf(bench, "arpeggio.dev/SchemaComplete")).to.equal(undefined);
    expect(conditionOf(old, "arpeggio.dev/SchemaComplete")).to.include({
      status: "False",
      reason: "FieldsDropped",
      message:
        "the installed CRDs drop L2Advertisement.spec.interfaces, L2Advertisement.spec.ipAddressPoolSelectors, " +
        "L2Advertisement.spec.ipAddressPools, L2Advertisement.spec.nodeSelectors, " +
        "L2Advertisement.spec.preferredNodeSelectors, L2Advertisement.spec.serviceSelectors",
    });
    expect(stateOf(old)?.result).to.equal("Valid");
    expect(old.lines.filter((line) => line.includes("installed CRDs drop fields"))).to.have.length(1);
    old.api.trouble = (request) =>
      request.path.startsWith("/openapi") ? { status: 200, body: { components: { schemas: {} } } } : undefined;
    await old.run(600_000);
    expect(conditionOf(old, "arpeggio.dev/SchemaComplete")).to.include({ status: "True" });
  });
});
