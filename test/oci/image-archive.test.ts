import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { expect } from "chai";
import type { ImageRecipe } from "../../hack/oci/dockerfile.ts";
import { packImage, packLayer } from "../../hack/oci/image-archive.ts";

const RECIPE: ImageRecipe = {
  copies: [{ from: "app", to: "/app" }],
  entrypoint: ["/usr/bin/node", "/app/speaker.js"],
  environment: ["NODE_ENV=production"],
  labels: { "org.opencontainers.image.title": "example" },
};
const FILE = { kind: "file", name: "app/speaker.js", mode: 0o644, bytes: Buffer.from("1\n") } as const;

interface Descriptor {
  readonly digest: string;
  readonly size: number;
}

function pack() {
  return packImage([packLayer([FILE])], RECIPE, "arm64", "example:1");
}

function read(name: string): Buffer {
  return execFileSync("tar", ["--extract", "--to-stdout", "--file=-", name], { input: pack().bytes });
}

function parse(name: string): unknown {
  return JSON.parse(read(name).toString());
}

function blob({ digest, size }: Descriptor): Buffer {
  const bytes = read(`blobs/${digest.replace(":", "/")}`);
  expect(`sha256:${createHash("sha256").update(bytes).digest("hex")}`).to.equal(digest);
  expect(bytes.length).to.equal(size);
  return bytes;
}

describe("packImage", () => {
  it("is an OCI layout whose descriptors lead to manifest, configuration and layers", () => {
    expect(parse("oci-layout")).to.deep.equal({ imageLayoutVersion: "1.0.0" });
    const index = parse("index.json") as { manifests: (Descriptor & { annotations: Record<string, string> })[] };
    const [first] = index.manifests;
    if (first === undefined) throw new Error("no manifest");
    expect(first.annotations["io.containerd.image.name"]).to.equal("docker.io/library/example:1");
    expect(first.digest).to.equal(pack().digest);
    const manifest = JSON.parse(blob(first).toString()) as { config: Descriptor; layers: Descriptor[] };
    const tars = manifest.layers.map((layer) => gunzipSync(blob(layer)));
    const config = JSON.parse(blob(manifest.config).toString()) as Record<string, unknown>;
    expect(config).to.deep.include({
      architecture: "arm64",
      os: "linux",
      config: { Entrypoint: RECIPE.entrypoint, Env: RECIPE.environment, Labels: RECIPE.labels },
      rootfs: {
        type: "layers",
        diff_ids: tars.map((tar) => `sha256:${createHash("sha256").update(tar).digest("hex")}`),
      },
    });
  });

  it("has docker's manifest beside it, with the same blobs", () => {
    const [image] = parse("manifest.json") as { Config: string; RepoTags: string[]; Layers: string[] }[];
    expect(image?.RepoTags).to.deep.equal(["example:1"]);
    expect(JSON.parse(read(image?.Config ?? "").toString())).to.include({ architecture: "arm64" });
    expect(image?.Layers.map((path) => read(path).length > 0)).to.deep.equal([true]);
  });

  it("is the same bytes each time", () => {
    expect(pack().bytes).to.deep.equal(pack().bytes);
  });
});
