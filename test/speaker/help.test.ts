import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { formatHelp, formatVersion } from "../../speaker/help.ts";
import { OPTION_TABLE } from "../../speaker/options-table.ts";
import { VERSION } from "../../src/base/version.ts";
import { formatOptionsTable } from "../../src/options/options-table-text.ts";

const ROOT = join(import.meta.dirname, "../../..");

describe("help", () => {
  it("names every option and every environment variable", () => {
    const help = formatHelp();
    for (const { name, variable = "", hasNoEffect } of OPTION_TABLE) {
      expect(help).to.match(new RegExp(`^ {2}--${name}(=|$| )`, "m"));
      if (hasNoEffect === undefined) expect(help).to.include(variable);
    }
  });

  it("fits into 80 columns", () => {
    const long = formatHelp()
      .split("\n")
      .filter((line) => line.length > 80);
    expect(long).to.deep.equal([]);
  });

  it("stands in README.md as it is; `node hack/readme.ts options` writes it there", () => {
    const readme = readFileSync(join(ROOT, "README.md"), "utf8");
    const block = /<!-- options: begin[^\n]*-->\n(.*?)<!-- options: end -->/s.exec(readme)?.[1];
    expect(block).to.equal(formatOptionsTable(OPTION_TABLE));
  });

  it("has each option once", () => {
    const names = OPTION_TABLE.map((row) => row.name);
    expect(new Set(names).size).to.equal(names.length);
  });
});

describe("VERSION", () => {
  it("is package.json's", () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
    expect(VERSION).to.equal(version);
  });
  it("is printed with the version of Node", () => {
    expect(formatVersion()).to.equal(`arpeggio speaker ${VERSION}, node ${process.versions.node}\n`);
  });
});
