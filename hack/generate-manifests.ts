/** Writes what follows from `api/` into the tree: see `generatedFiles`. usage: node hack/generate-manifests.ts */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { generatedFiles } from "./manifests-from-api/generated-files.ts";

const ROOT = join(import.meta.dirname, "..");

for (const { path, text } of generatedFiles()) writeFileSync(join(ROOT, path), text);
