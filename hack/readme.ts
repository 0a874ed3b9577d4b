/**
 * Fills the blocks of README.md that show what the program really says, between `<!-- NAME: begin …` and `<!-- NAME: end -->`.
 * usage: node hack/readme.ts options | node hack/readme.ts controller-options | node hack/readme.ts signals | COMMAND | node hack/readme.ts status
 * `signals` writes docs/signals.md instead; hack/kube drill all --json | node hack/readme.ts drills writes docs/drills.md.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { OPTIONS as CONTROLLER_OPTIONS } from "../controller/options-table.ts";
import { OPTION_TABLE } from "../speaker/options-table.ts";
import { formatOptionsTable } from "../src/options/options-table-text.ts";
import { formatDrills } from "./drills-page.ts";
import { formatSignals } from "./signals-page.ts";

const README = join(import.meta.dirname, "../README.md");

const [, , name] = process.argv;
if (name === "options") replaceBlock(name, formatOptionsTable(OPTION_TABLE));
else if (name === "controller-options") replaceBlock(name, formatOptionsTable(CONTROLLER_OPTIONS.rows));
else if (name === "status") replaceBlock(name, `\`\`\`\n${(await text(process.stdin)).trimEnd()}\n\`\`\`\n`);
else if (name === "signals") writeFileSync(join(import.meta.dirname, "../docs/signals.md"), formatSignals());
else if (name === "drills") {
  const page = formatDrills(await text(process.stdin), new Date().toISOString().slice(0, 10));
  writeFileSync(join(import.meta.dirname, "../docs/drills.md"), page);
} else {
  process.stderr.write(
    "usage: node hack/readme.ts options | controller-options | signals | COMMAND | node hack/readme.ts status\n",
  );
  process.exitCode = 2;
}

function replaceBlock(block: string, content: string): void {
  const readme = readFileSync(README, "utf8");
  const pattern = new RegExp(`(<!-- ${block}: begin[^\\n]*-->\\n).*?(<!-- ${block}: end -->)`, "s");
  if (!pattern.test(readme)) throw new Error(`README.md has no block named ${block}`);
  writeFileSync(
    README,
    readme.replace(pattern, (_all, begin: string, end: string) => `${begin}${content}${end}`),
  );
}
