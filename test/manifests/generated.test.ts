/** The committed manifests say what `api/` says: whoever changes `api/` runs hack/manifests. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { generatedFiles } from "../../hack/manifests-from-api/generated-files.ts";

const ROOT = join(import.meta.dirname, "../../..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

describe("generated manifests", () => {
  for (const { path, text } of generatedFiles()) {
    it(`${path} is what hack/manifests writes`, () => expect(read(path)).to.equal(text));
  }

  it("manifests/crd holds the definitions, the namespace and nothing else", () => {
    expect(readdirSync(join(ROOT, "manifests/crd"))).to.have.members([
      "metallb.io_configurationstates.yaml",
      "metallb.io_ipaddresspools.yaml",
      "metallb.io_l2advertisements.yaml",
      "metallb.io_servicel2statuses.yaml",
      "namespace.yaml",
    ]);
  });

  for (const [image, folder] of [
    ["arpeggio-speaker", "base"],
    ["arpeggio-controller", "controller"],
  ] as const) {
    it(`image ${image} has the version of the package`, () => {
      const { version } = JSON.parse(read("package.json")) as { version: string };
      expect(read(`manifests/${folder}/kustomization.yaml`)).to.match(
        new RegExp(`name: ${image}\n +newTag: ${version}\n`),
      );
    });
  }
});
