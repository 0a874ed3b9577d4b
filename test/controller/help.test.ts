import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { formatHelp, formatVersion } from "../../controller/help.ts";
import { OPTIONS } from "../../controller/options-table.ts";
import { VERSION } from "../../src/base/version.ts";
import { formatOptionsTable } from "../../src/options/options-table-text.ts";

const ROOT = join(import.meta.dirname, "../../..");

describe("the controller's help", () => {
  it("names every option, and fits into 80 columns", () => {
    const help = formatHelp();
    for (const { name } of OPTIONS.rows) expect(help).to.match(new RegExp(`^ {2}--${name}(=|$| )`, "m"));
    expect(help.split("\n").filter((line) => line.length > 80)).to.deep.equal([]);
  });

  it("stands in README.md as it is; `node hack/readme.ts controller-options` writes it there", () => {
    const readme = readFileSync(join(ROOT, "README.md"), "utf8");
    const block = /<!-- controller-options: begin[^\n]*-->\n(.*?)<!-- controller-options: end -->/s.exec(readme)?.[1];
    expect(block).to.equal(formatOptionsTable(OPTIONS.rows));
  });

  it("has each option once", () => {
    const names = OPTIONS.rows.map((row) => row.name);
    expect(new Set(names).size).to.equal(names.length);
  });

  it("is preceded by a version", () => {
    expect(formatVersion()).to.equal(`arpeggio controller ${VERSION}, node ${process.versions.node}\n`);
  });
});
