import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { parse } from "yaml";
import { findDroppedFields } from "../../../src/kube/write/schema-check.ts";

const ROOT = resolve(import.meta.dirname, "../../../..");

interface Crd {
  readonly spec: {
    readonly names: { readonly kind: string };
    readonly versions: readonly [{ readonly schema: { readonly openAPIV3Schema: Record<string, unknown> } }];
  };
}

/** The document that an API server serves for our own CRDs, as far as it is read. */
function ownDocument(edit: (text: string) => string = (text) => text): unknown {
  const plurals = ["configurationstates", "ipaddresspools", "l2advertisements", "servicel2statuses"];
  const schemas: Record<string, unknown> = {};
  for (const plural of plurals) {
    const text = edit(readFileSync(`${ROOT}/manifests/crd/metallb.io_${plural}.yaml`, "utf8"));
    const crd = parse(text) as Crd;
    const { kind } = crd.spec.names;
    const kinds = [{ group: "metallb.io", kind, version: "v1beta1" }];
    schemas[kind] = { ...crd.spec.versions[0].schema.openAPIV3Schema, "x-kubernetes-group-version-kind": kinds };
  }
  return { components: { schemas } };
}

describe("findDroppedFields", () => {
  it("our own CRDs drop nothing", () => expect(findDroppedFields(ownDocument())).to.deep.equal([]));

  for (const { name, expected } of [
    {
      name: "serviceSelectors",
      expected: ["IPAddressPool.spec.serviceAllocation.serviceSelectors", "L2Advertisement.spec.serviceSelectors"],
    },
    { name: "weight", expected: ["L2Advertisement.spec.preferredNodeSelectors[].weight"] },
    { name: "errorSummary", expected: ["ConfigurationState.status.errorSummary"] },
    { name: "serviceNamespace", expected: ["ServiceL2Status.status.serviceNamespace"] },
  ]) {
    it(`names ${name} when a CRD has it under another name`, () => {
      expect(findDroppedFields(ownDocument((text) => text.replaceAll(`${name}:`, "other:")))).to.deep.equal(expected);
    });
  }

  it("what keeps unknown fields drops none", () => {
    const keeping = ownDocument((text) =>
      text
        .replaceAll("serviceSelectors:", "other:")
        .replaceAll(/^( *)spec:$/gm, "$1spec:\n$1  x-kubernetes-preserve-unknown-fields: true"),
    );
    expect(findDroppedFields(keeping)).to.deep.equal([]);
  });

  it("a kind that is not served is not judged", () => {
    expect(findDroppedFields({ components: { schemas: {} } })).to.deep.equal([]);
  });

  it("takes any document without throwing", () => {
    fc.assert(fc.property(fc.jsonValue(), (document) => void findDroppedFields(document)));
  });
});
