import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { speakerNodeFlags } from "../../hack/netlab/lab.ts";
import { parseDockerfile } from "../../hack/oci/dockerfile.ts";

const ROOT = join(import.meta.dirname, "../../..");
const VALUES = { VERSION: "1.2.3", REVISION: "0123abcd" };

const ENTRYPOINTS = {
  speaker: ["/usr/bin/node", ...speakerNodeFlags(), "/app/speaker.js"],
  controller: ["/usr/bin/node", "--max-semi-space-size=2", "/app/controller.js"],
};

for (const [program, entrypoint] of Object.entries(ENTRYPOINTS)) {
  describe(`${program}/Dockerfile`, () => {
    const recipe = parseDockerfile(readFileSync(join(ROOT, program, "Dockerfile"), "utf8"), VALUES);

    it("starts the program, so that manifests pass arguments alone", () => {
      expect(recipe.entrypoint).to.deep.equal(entrypoint);
      expect(recipe.environment).to.deep.equal(["NODE_ENV=production"]);
    });

    it("copies what changes seldom first", () => {
      expect(recipe.copies).to.deep.equal([
        { from: "runtime", to: "/" },
        { from: program, to: "/app" },
      ]);
    });

    it("labels the image with version and commit", () => {
      expect(recipe.labels).to.include({
        "org.opencontainers.image.title": `arpeggio-${program}`,
        "org.opencontainers.image.licenses": "Apache-2.0",
        "org.opencontainers.image.version": "1.2.3",
        "org.opencontainers.image.revision": "0123abcd",
      });
    });
  });
}

describe("docs/try-it.md", () => {
  it("starts the speaker with the flags of the image", () => {
    const guide = readFileSync(join(ROOT, "docs/try-it.md"), "utf8").replaceAll("\\\n", " ").replaceAll(/ +/g, " ");
    expect(speakerNodeFlags()).to.have.length.greaterThan(0);
    expect(guide).to.include(`/opt/arpeggio/node ${speakerNodeFlags().join(" ")} /opt/arpeggio/speaker.js`);
  });
});

describe("parseDockerfile", () => {
  for (const line of ["FROM debian", "RUN true", "COPY a b c", "ARG UNKNOWN", "USER nobody", "ENTRYPOINT"]) {
    it(`refuses ${line}`, () => {
      expect(() => parseDockerfile(line, VALUES)).to.throw(`"${line}" is no instruction that hack/image knows`);
    });
  }
});
