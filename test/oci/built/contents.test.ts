/** What the image holds, and what it does not. */
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { unpackImage, useBuiltImage } from "../../support/image.ts";

const MAX_BYTES = 150 * 1_000_000;
/** Node alone starts anything; the loader is started by the kernel, libraries by nobody. */
const PROGRAMS = ["usr/bin/node"];

const IMAGES = [
  ["speaker", "amd64"],
  ["speaker", "arm64"],
  ["controller", "amd64"],
  ["controller", "arm64"],
] as const;

for (const [program, architecture] of IMAGES) {
  describe(`what is in the ${program}'s image for ${architecture}`, function () {
    this.timeout(120_000);
    const image = useBuiltImage(architecture, program);
    let root: string;

    before(async () => {
      root = join(image().folder, "root");
      await unpackImage(image().archive, root);
    });

    it("is no larger than 150 MB", () => {
      const paths = readdirSync(root, { recursive: true, encoding: "utf8" });
      const bytes = paths.map((path) => lstatSync(join(root, path))).filter((stat) => stat.isFile());
      expect(bytes.reduce((sum, { size }) => sum + size, 0)).to.be.lessThan(MAX_BYTES);
    });

    it("has no program but Node: no shell, no package manager", () => {
      const paths = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((path) => {
        const stat = lstatSync(join(root, path));
        return stat.isFile() && (stat.mode & 0o111) !== 0 && !/\.so(\.|$)/.test(path) && !path.endsWith(".node");
      });
      expect(paths).to.deep.equal(PROGRAMS);
    });
  });
}
