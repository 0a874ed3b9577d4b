/**
 * Makes the images of speaker and controller: a folder that their Dockerfiles take, archives that `ctr images import`, `docker load` and
 * `podman load` take, and bills of materials. Prints the archives' paths last, each alone on its line: the controller's, then the
 * speaker's. Called by hack/image.
 */
import { chmodSync, existsSync, lutimesSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { VERSION } from "../../src/base/version.ts";
import { SPEAKER_ENTRY_POINTS } from "../bundle-programs.ts";
import { makeAppFolder } from "./app-folder.ts";
import { architectureOf } from "./architecture.ts";
import { completeBillOfMaterials } from "./bill-of-materials.ts";
import { unpackDebianPackages } from "./debian-packages.ts";
import { parseDockerfile } from "./dockerfile.ts";
import { entriesOf } from "./folder-entries.ts";
import { type Layer, packImage, packLayer } from "./image-archive.ts";
import { nodePackageFolder } from "./node-package.ts";
import { emptyFolder, run } from "./run.ts";
import { makeRuntimeFolder } from "./runtime-folder.ts";

/** The controller's first: its path is printed before the speaker's. */
const IMAGES = [
  { folder: "controller", entryPoints: [{ out: "controller", in: "controller/main.ts" }] },
  { folder: "speaker", entryPoints: SPEAKER_ENTRY_POINTS },
] as const;
const DEBIAN_PACKAGES = ["libc6", "libstdc++6", "libgcc-s1"];
const EPOCH = new Date(0);

const root = join(import.meta.dirname, "../..");
const { values } = parseArgs({ options: { arch: { type: "string" }, tag: { type: "string", default: VERSION } } });
const architecture = architectureOf(values.arch, process.arch);
const cache = join(root, ".cache/image", architecture.name);
const context = join(cache, "context");
const archiveOf = ({ folder }: (typeof IMAGES)[number]) => join(cache, `arpeggio-${folder}.tar`);

mkdirSync(cache, { recursive: true });
// One of before must not pass for one that could not be made.
for (const image of IMAGES) rmSync(archiveOf(image), { force: true });
const unpacked = join(cache, "unpacked");
const packages = unpackDebianPackages(DEBIAN_PACKAGES, architecture.name, join(cache, "debian"), unpacked);
const node = nodePackageFolder(root, architecture.nodePackage, join(cache, "npm"));
emptyFolder(context);
makeRuntimeFolder(join(context, "runtime"), architecture, node.folder, unpacked, packages);
for (const { folder, entryPoints } of IMAGES)
  await makeAppFolder(root, join(context, folder), entryPoints, architecture);
likeTheArchive(context);
const sbom = run("npm", ["sbom", "--package-lock-only", "--omit=dev", "--sbom-format=cyclonedx"], root);

/** By what is copied where: both images have one of them in common. */
const layers = new Map<string, Layer>();
for (const one of IMAGES) {
  const { folder } = one;
  const recipe = parseDockerfile(readFileSync(join(root, folder, "Dockerfile"), "utf8"), {
    VERSION: values.tag,
    REVISION: revision(),
  });
  const name = `arpeggio-${folder}`;
  const image = packImage(recipe.copies.map(layerOf), recipe, architecture.name, `${name}:${values.tag}`);
  writeFileSync(archiveOf(one), image.bytes);
  writeFileSync(join(cache, `${name}.sbom.json`), completeBillOfMaterials(sbom, architecture, packages));
  const size = `${(image.bytes.length / 1e6).toFixed(1)} MB`;
  process.stdout.write(`${name}:${values.tag} ${architecture.name}, node ${node.version}, ${size}\n${image.digest}\n`);
}
for (const { name, version } of packages) process.stdout.write(`${name} ${version}\n`);
for (const image of IMAGES) process.stdout.write(`${archiveOf(image)}\n`);

function layerOf({ from, to }: { readonly from: string; readonly to: string }): Layer {
  const key = `${from} ${to}`;
  const layer = layers.get(key) ?? packLayer(entriesOf(join(context, from), to));
  layers.set(key, layer);
  return layer;
}

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
