import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect } from "chai";
import { CONTROLLER_KINDS } from "../../../src/kube/watch/controller-kinds.ts";
import { KINDS } from "../../../src/kube/watch/kinds.ts";
import { acceptOf, pathOf, type WatchedKind } from "../../../src/kube/watch/watched-kind.ts";

const README = resolve(import.meta.dirname, "../../../../src/kube/watch/README.md");
const IDENTITY = /^metadata\.(name|namespace|uid|creationTimestamp|resourceVersion)$/;

/** A table of the README. */
function formatKinds(kinds: Readonly<Record<string, WatchedKind>>): string {
  const rows = Object.values(kinds).map((kind: WatchedKind) => [
    kind.kind,
    kind.scope === "own" ? "own namespace" : "all",
    kind.kept.paths
      .filter((path) => !IDENTITY.test(path))
      .map((path) => `\`${path}\``)
      .join(", "),
    kind.listEveryMs === undefined ? "list, watch" : `list of one, every ${kind.listEveryMs / 60_000} min`,
  ]);
  const lines = [["kind", "scope", "kept", "how"], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  const table = lines.map(
    (cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`,
  );
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return [table[0], rule, ...table.slice(1)].join("\n");
}

describe("kube: kinds", () => {
  for (const [block, kinds] of [
    ["kinds", KINDS],
    ["controller kinds", CONTROLLER_KINDS],
  ] as const) {
    it(`stand in the README as they are: ${block}`, () => {
      const text = readFileSync(README, "utf8");
      const pattern = new RegExp(`<!-- ${block}: begin[^>]*-->\\n+([\\s\\S]*?)\\n+<!-- ${block}: end -->`);
      expect(pattern.exec(text)?.[1]).to.equal(formatKinds(kinds));
    });
  }

  it("keep what counts, and forget the rest", () => {
    const kept = KINDS.services.kept.of({
      metadata: {
        name: "web",
        managedFields: [{}],
        annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{}", "metallb.io/allow-shared-ip": "x" },
      },
      spec: { type: "LoadBalancer", sessionAffinity: "None" },
      status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] }, conditions: [] },
    });
    expect(kept).to.deep.equal({
      metadata: { name: "web", annotations: { "metallb.io/allow-shared-ip": "x" } },
      spec: { type: "LoadBalancer" },
      status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } },
    });
    expect(
      KINDS.endpointSlices.kept.of({ endpoints: [{ addresses: ["198.51.100.1"], nodeName: "n1", zone: "a" }] }),
    ).to.deep.equal({ endpoints: [{ nodeName: "n1" }] });
  });

  it("leave what has another form to the schema", () => {
    for (const value of [null, 7, "x", [1]]) expect(KINDS.services.kept.of(value)).to.equal(value);
    expect(KINDS.services.kept.of({ spec: 7, metadata: { annotations: 7 } })).to.deep.equal({ spec: 7, metadata: {} });
    expect(KINDS.endpointSlices.kept.of({ endpoints: 7 })).to.deep.equal({ endpoints: 7 });
  });

  it("have paths in their namespace, and a form", () => {
    expect(pathOf(KINDS.services, "ns")).to.equal("/api/v1/services");
    expect(pathOf(KINDS.pods, "ns")).to.equal("/api/v1/namespaces/ns/pods");
    expect(pathOf(KINDS.endpointSlices, "ns")).to.equal("/apis/discovery.k8s.io/v1/endpointslices");
    expect(pathOf(KINDS.pools, "ns")).to.equal("/apis/metallb.io/v1beta1/namespaces/ns/ipaddresspools");
    expect(acceptOf(KINDS.pools, "list")).to.equal("application/json");
    expect(acceptOf(KINDS.namespaces, "watch")).to.equal(
      "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    );
  });
});
