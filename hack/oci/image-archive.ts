/**
 * An image archive as an OCI image layout (image-spec 1.1) that carries docker's manifest.json beside it, so that
 * `ctr images import`, `docker load`, `podman load` and skopeo take it alike. Pure: the same layers give the same bytes.
 */
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { ImageRecipe } from "./dockerfile.ts";
import { type TarEntry, writeTar } from "./tar.ts";

/** Nothing in the image has a time: two builds of one commit are the same bytes. */
const CREATED = "1970-01-01T00:00:00Z";

export interface Layer {
  /** Compressed. */
  readonly bytes: Uint8Array;
  /** `sha256:…` of the tar archive before compression. */
  readonly diffId: string;
}

export interface ImageArchive {
  readonly bytes: Uint8Array;
  /** Of the manifest, as registries and containerd name it: `sha256:…`. */
  readonly digest: string;
}

export function packLayer(entries: readonly TarEntry[]): Layer {
  const tar = writeTar(entries);
  return { bytes: gzipSync(tar, { level: 6 }), diffId: digestOf(tar) };
}

/** @param architecture Go's word: amd64 or arm64 @param name with its tag, such as `arpeggio-speaker:0.0.0` */
export function packImage(
  layers: readonly Layer[],
  recipe: ImageRecipe,
  architecture: string,
  name: string,
): ImageArchive {
  const config = json({
    created: CREATED,
    architecture,
    os: "linux",
    config: { Entrypoint: recipe.entrypoint, Env: recipe.environment, Labels: recipe.labels },
    rootfs: { type: "layers", diff_ids: layers.map(({ diffId }) => diffId) },
    history: recipe.copies.map(({ from, to }) => ({ created: CREATED, created_by: `COPY ${from} ${to}` })),
  });
  const manifest = json({
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.manifest.v1+json",
    config: descriptor("application/vnd.oci.image.config.v1+json", config),
    layers: layers.map(({ bytes }) => descriptor("application/vnd.oci.image.layer.v1.tar+gzip", bytes)),
  });
  const full = `docker.io/library/${name}`;
  const annotations = { "io.containerd.image.name": full, "org.opencontainers.image.ref.name": full };
  const index = json({
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.index.v1+json",
    manifests: [{ ...descriptor("application/vnd.oci.image.manifest.v1+json", manifest), annotations }],
  });
  const forDocker = json([
    { Config: blobName(config), RepoTags: [name], Layers: layers.map(({ bytes }) => blobName(bytes)) },
  ]);
  const blobs = [config, manifest, ...layers.map(({ bytes }) => bytes)];
  const entries: TarEntry[] = [
    ...["blobs", "blobs/sha256"].map((folder): TarEntry => ({ kind: "folder", name: folder, mode: 0o755 })),
    ...blobs.map((bytes) => file(blobName(bytes), bytes)),
    file("index.json", index),
    file("manifest.json", forDocker),
    file("oci-layout", json({ imageLayoutVersion: "1.0.0" })),
  ];
  return { bytes: writeTar(entries), digest: digestOf(manifest) };
}

function descriptor(mediaType: string, bytes: Uint8Array) {
  return { mediaType, digest: digestOf(bytes), size: bytes.length };
}

function blobName(bytes: Uint8Array): string {
  return `blobs/${digestOf(bytes).replace(":", "/")}`;
}

function file(name: string, bytes: Uint8Array): TarEntry {
  return { kind: "file", name, mode: 0o644, bytes };
}

function json(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}
