/**
 * Images as hack/image and builders leave them, taken apart; and the tools that hack/oci/fetch-tools keeps. Tests that use them
 * stand in test/oci/built. What is not there is said aloud, and the tests are skipped; hack/test makes all of it.
 */
import { createHash } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { runCommand } from "../../hack/netlab/run-command.ts";

const ROOT = resolve(import.meta.dirname, "../../..");

export interface BuiltImage {
  /** What hack/image wrote: a folder for the Dockerfile, and the archive. */
  readonly context: string;
  readonly archive: string;
  readonly dockerfile: string;
  /** Empty, and removed after the tests. */
  readonly folder: string;
  /** The command line that runs `argv` as if the tools were installed. */
  readonly withTools: (argv: readonly string[]) => readonly string[];
  /** Of QEMU's user mode for the image's processor: a static program. */
  readonly qemu: string;
}

/** @param architecture absent: this machine's */
export function useBuiltImage(
  architecture?: "amd64" | "arm64",
  program: "speaker" | "controller" = "speaker",
): () => BuiltImage {
  let image: BuiltImage | undefined;
  before(async function () {
    const found = await findImage(program, architecture ?? (process.arch === "x64" ? "amd64" : process.arch));
    if (typeof found !== "string") {
      image = found;
      return;
    }
    process.stdout.write(`    skipped: ${found}\n`);
    this.skip();
  });
  after(() => {
    if (image !== undefined) rmSync(image.folder, { recursive: true });
  });
  return () => {
    if (image === undefined) throw new Error("there is no image");
    return image;
  };
}

/** The image, or why there is none. */
async function findImage(program: string, architecture: string): Promise<BuiltImage | string> {
  if (process.getuid?.() !== 0) return "mounts and root folders need root";
  const built = join(ROOT, ".cache/image", architecture);
  const archive = join(built, `arpeggio-${program}.tar`);
  if (!existsSync(archive)) return `nothing is built yet: hack/image --arch ${architecture}`;
  const tools = (await runCommand([join(ROOT, "hack/oci/fetch-tools"), "--path"])).trim();
  if (!existsSync(tools)) return "the image tools are not there yet: hack/oci/fetch-tools";
  const folder = mkdtempSync(join(tmpdir(), "arpeggio-image-"));
  return {
    archive,
    context: join(built, "context"),
    dockerfile: join(ROOT, program, "Dockerfile"),
    folder,
    withTools: (argv) => [join(ROOT, "hack/oci/with-tools"), folder, ...argv],
    qemu: join(tools, "usr/bin", architecture === "arm64" ? "qemu-aarch64-static" : "qemu-x86_64-static"),
  };
}

export interface ImageConfig {
  readonly architecture: string;
  readonly config: {
    readonly Entrypoint: readonly string[];
    readonly Cmd?: readonly string[] | null;
    readonly Env: readonly string[];
    readonly Labels: Readonly<Record<string, string>>;
  };
}

interface Descriptor {
  readonly digest: string;
}

/** Unpacks the layers of an OCI or docker archive, one over the other, into `root`. Ours have no whiteouts. */
export async function unpackImage(archive: string, root: string): Promise<ImageConfig> {
  const layout = `${root}.layout`;
  for (const folder of [layout, root]) mkdirSync(folder);
  await runCommand(["tar", "-xf", archive, "-C", layout]);
  const { config, layers } = existsSync(join(layout, "index.json")) ? ociFiles(layout) : dockerFiles(layout);
  for (const layer of layers) {
    await runCommand(["tar", "-xpf", join(layout, layer), "--numeric-owner", "-C", root]);
  }
  const found = readJson(join(layout, config)) as ImageConfig;
  rmSync(layout, { recursive: true });
  return found;
}

/** In the archive. */
interface ImageFiles {
  readonly config: string;
  readonly layers: readonly string[];
}

function ociFiles(layout: string): ImageFiles {
  const blob = ({ digest }: Descriptor) => join("blobs", digest.replace(":", "/"));
  const { manifests } = readJson(join(layout, "index.json")) as { manifests: readonly [Descriptor] };
  const manifest = readJson(join(layout, blob(manifests[0])));
  const { config, layers } = manifest as { config: Descriptor; layers: readonly Descriptor[] };
  return { config: blob(config), layers: layers.map(blob) };
}

function dockerFiles(layout: string): ImageFiles {
  const [image] = readJson(join(layout, "manifest.json")) as readonly [{ Config: string; Layers: readonly string[] }];
  return { config: image.Config, layers: image.Layers };
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, "utf8"));
}

/** One line for each thing in the folder: mode, owner, path, and a file's digest or a link's target. Sorted. */
export function listFiles(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .map((path) => {
      const file = join(root, path);
      const stat = lstatSync(file);
      const start = `${stat.mode.toString(8)} ${stat.uid}:${stat.gid} ${path}`;
      if (stat.isSymbolicLink()) return `${start} -> ${readlinkSync(file)}`;
      if (!stat.isFile()) return start;
      return `${start} ${createHash("sha256").update(readFileSync(file)).digest("hex")}`;
    })
    .toSorted();
}
