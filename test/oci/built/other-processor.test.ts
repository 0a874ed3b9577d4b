/** The image for arm64, made on a machine of another kind: what is in it is for that processor, and it starts under QEMU. */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { runCommand } from "../../../hack/netlab/run-command.ts";
import { VERSION } from "../../../src/base/version.ts";
import { type ImageConfig, unpackImage, useBuiltImage } from "../../support/image.ts";

const NAMES = ["addon", "node", "libc"] as const;
const FILES = { addon: "app/addon.node", node: "usr/bin/node", libc: "lib/aarch64-linux-gnu/libc.so.6" };
/** QEMU translates Node's start anew each time. */
const START_TIMEOUT_MS = 120_000;

describe("the image for arm64", function () {
  this.timeout(START_TIMEOUT_MS);
  const image = useBuiltImage("arm64");
  let root: string;
  let config: ImageConfig;

  before(async () => {
    root = join(image().folder, "root");
    config = await unpackImage(image().archive, root);
    copyFileSync(image().qemu, join(root, "qemu"));
  });

  function start(...words: readonly string[]): Promise<string> {
    const environment = [`PATH=${process.env["PATH"] ?? ""}`, ...config.config.Env];
    return runCommand(["env", "-i", ...environment, "chroot", root, "/qemu", ...words]);
  }

  it("says so", () => {
    expect(config.architecture).to.equal("arm64");
  });

  for (const name of NAMES) {
    it(`has ${name} for that processor`, async () => {
      const header = await runCommand(["readelf", "-hW", join(root, FILES[name])]);
      expect(/Machine: +(.*)/.exec(header)?.[1]).to.equal("AArch64");
    });
  }

  it("starts the speaker with arguments alone", async () => {
    const { Entrypoint: entrypoint, Cmd: words } = config.config;
    expect(words ?? []).to.deep.equal([]);
    const said = await start(...entrypoint, "--version");
    expect(said.startsWith(`arpeggio speaker ${VERSION}, node `), said).to.equal(true);
  });

  it("loads the addon", async () => {
    const script = 'console.log(process.arch, typeof require("/app/addon.node").PacketSocket)';
    expect(await start("/usr/bin/node", "-e", script)).to.equal("arm64 function\n");
  });
});
