import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { parseDockerfile } from "../../hack/oci/dockerfile.ts";

const ROOT = join(import.meta.dirname, "../../..");
const VALUES = { VERSION: "1.2.3", REVISION: "0123abcd" };

describe("speaker/Dockerfile", () => {
  const recipe = parseDockerfile(readFileSync(join(ROOT, "speaker/Dockerfile"), "utf8"), VALUES);

  it("starts the speaker, so that manifests pass arguments alone", () => {
    expect(recipe.entrypoint).to.deep.equal(["/usr/bin/node", "--max-semi-space-size=2", "/app/speaker.js"]);
    expect(recipe.environment).to.deep.equal(["NODE_ENV=production"]);
  });

  it("copies what changes seldom first", () => {
    expect(recipe.copies).to.deep.equal([
      { from: "runtime", to: "/" },
      { from: "app", to: "/app" },
    ]);
  });

  it("labels the image with version and commit", () => {
    expect(recipe.labels).to.include({
      "org.opencontainers.image.title": "arpeggio-speaker",
      "org.opencontainers.image.licenses": "Apache-2.0",
      "org.opencontainers.image.version": "1.2.3",
      "org.opencontainers.image.revision": "0123abcd",
    });
  });
});

describe("parseDockerfile", () => {
  for (const line of ["FROM debian", "RUN true", "COPY a b c", "ARG UNKNOWN", "USER nobody", "ENTRYPOINT"]) {
    it(`refuses ${line}`, () => {
      expect(() => parseDockerfile(line, VALUES)).to.throw(`"${line}" is no instruction that hack/image knows`);
    });
  }
});
