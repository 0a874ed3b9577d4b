/** Images without a registry: an archive that `ctr images import` reads, made of one static program. */
import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { runCommand } from "../netlab/run-command.ts";
import { PAUSE_IMAGE } from "./node-files.ts";

/** dist/hack/kube-cluster → the repository. */
const CACHE = resolve(import.meta.dirname, "../../../.cache");
/** Go program of hack/kube-cluster/pod, built by hack/kube and hack/test. */
export const POD_PROGRAM = join(CACHE, "bin/pod");
/** Every archive (*.tar) in it is imported on every node: ours, and what `hack/kube image` puts there. */
export const IMAGE_FOLDER = join(CACHE, "images");
export const BACKEND_IMAGE = "localhost/backend:1";

/** File names of all archives but the one that a node imports by itself when it boots. */
export function imageArchives(): readonly string[] {
  return readdirSync(IMAGE_FOLDER).filter((name) => name.endsWith(".tar") && name !== "pause.tar");
}

/** The two images of hack/kube-cluster/pod. */
export async function packOwnImages(): Promise<void> {
  mkdirSync(IMAGE_FOLDER, { recursive: true });
  await packImage(PAUSE_IMAGE, ["/pod", "pause"], join(IMAGE_FOLDER, "pause.tar"));
  await packImage(BACKEND_IMAGE, ["/pod", "backend"], join(IMAGE_FOLDER, "backend.tar"));
}

/** The docker-archive format: manifest.json names a configuration and the layers. */
async function packImage(name: string, entrypoint: readonly string[], archive: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "arpeggio-image-"));
  try {
    const root = join(folder, "root");
    mkdirSync(root);
    copyFileSync(POD_PROGRAM, join(root, "pod"));
    chmodSync(join(root, "pod"), 0o755);
    await pack(root, join(folder, "layer.tar"), ["."]);
    const layer = createHash("sha256")
      .update(readFileSync(join(folder, "layer.tar")))
      .digest("hex");
    const configuration = {
      architecture: process.arch === "x64" ? "amd64" : process.arch,
      os: "linux",
      config: { Entrypoint: entrypoint },
      rootfs: { type: "layers", diff_ids: [`sha256:${layer}`] },
      history: [{ created: "1970-01-01T00:00:00Z" }],
    };
    writeFileSync(join(folder, "config.json"), JSON.stringify(configuration));
    const manifest = [{ Config: "config.json", RepoTags: [name], Layers: ["layer.tar"] }];
    writeFileSync(join(folder, "manifest.json"), JSON.stringify(manifest));
    await pack(folder, archive, ["manifest.json", "config.json", "layer.tar"]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Equal files give equal archives. */
async function pack(folder: string, archive: string, names: readonly string[]): Promise<void> {
  const same = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0"];
  await runCommand(["tar", ...same, "-C", folder, "-cf", archive, ...names]);
}
