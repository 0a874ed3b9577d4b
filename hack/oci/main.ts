/**
 * Makes the speaker's image: a folder that speaker/Dockerfile takes, an archive that `ctr images import`, `docker load` and
 * `podman load` take, and the bill of materials. Prints the archive's path last, alone on its line. Called by hack/image.
 */
import { chmodSync, existsSync, lutimesSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { VERSION } from "../../src/base/version.ts";
import { makeAppFolder } from "./app-folder.ts";
import { architectureOf } from "./architecture.ts";
import { completeBillOfMaterials } from "./bill-of-materials.ts";
import { unpackDebianPackages } from "./debian-packages.ts";
import { parseDockerfile } from "./dockerfile.ts";
import { entriesOf } from "./folder-entries.ts";
import { packImage, packLayer } from "./image-archive.ts";
import { nodePackageFolder } from "./node-package.ts";
import { run } from "./run.ts";
import { makeRuntimeFolder } from "./runtime-folder.ts";

const NAME = "arpeggio-speaker";
const DEBIAN_PACKAGES = ["libc6", "libstdc++6", "libgcc-s1"];
const EPOCH = new Date(0);

const root = join(import.meta.dirname, "../..");
const { values } = parseArgs({ options: { arch: { type: "string" }, tag: { type: "string", default: VERSION } } });
const architecture = architectureOf(values.arch, process.arch);
const cache = join(root, ".cache/image", architecture.name);
const context = join(cache, "context");
const archive = join(cache, `${NAME}.tar`);

mkdirSync(cache, { recursive: true });
// One of before must not pass for one that could not be made.
rmSync(archive, { force: true });
const unpacked = join(cache, "unpacked");
const packages = unpackDebianPackages(DEBIAN_PACKAGES, architecture.name, join(cache, "debian"), unpacked);
const node = nodePackageFolder(root, architecture.nodePackage, join(cache, "npm"));
makeRuntimeFolder(join(context, "runtime"), architecture, node.folder, unpacked, packages);
await makeAppFolder(root, join(context, "app"), architecture);
likeTheArchive(context);

const recipe = parseDockerfile(readFileSync(join(root, "speaker/Dockerfile"), "utf8"), {
  VERSION: values.tag,
  REVISION: revision(),
});
const layers = recipe.copies.map(({ from, to }) => packLayer(entriesOf(join(context, from), to)));
const image = packImage(layers, recipe, architecture.name, `${NAME}:${values.tag}`);
writeFileSync(archive, image.bytes);
const sbom = run("npm", ["sbom", "--package-lock-only", "--omit=dev", "--sbom-format=cyclonedx"], root);
writeFileSync(join(cache, `${NAME}.sbom.json`), completeBillOfMaterials(sbom, architecture, packages));

process.stdout.write(`${NAME}:${values.tag} ${architecture.name}, node ${node.version}\n${image.digest}\n`);
for (const { name, version } of packages) process.stdout.write(`${name} ${version}\n`);
process.stdout.write(`${(image.bytes.length / 1e6).toFixed(1)} MB\n${archive}\n`);

/** docker and buildah keep times and modes of what they copy: whatever the umask was, they are the archive's. */
function likeTheArchive(folder: string): void {
  for (const entry of entriesOf(folder, "")) {
    const path = join(folder, entry.name);
    if (entry.kind !== "link") chmodSync(path, entry.mode);
    lutimesSync(path, EPOCH, EPOCH);
  }
}

/** The commit, marked when the tree has more than it. */
function revision(): string {
  if (!existsSync(join(root, ".git"))) return "unknown";
  const commit = run("git", ["rev-parse", "HEAD"], root).trim();
  return run("git", ["status", "--porcelain"], root) === "" ? commit : `${commit}-dirty`;
}
