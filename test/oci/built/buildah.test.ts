/** speaker/Dockerfile, built by buildah from the folder that hack/image prepares: the same image as hack/image writes by itself. */
import { join } from "node:path";
import { expect } from "chai";
import { runCommand } from "../../../hack/netlab/run-command.ts";
import { listFiles, unpackImage, useBuiltImage } from "../../support/image.ts";

const BUILD_TIMEOUT_MS = 300_000;

describe("the image that buildah makes of speaker/Dockerfile", function () {
  this.timeout(BUILD_TIMEOUT_MS);
  const image = useBuiltImage();

  it("has the files, modes, owners and settings of the one that hack/image makes", async () => {
    const { archive, context, dockerfile, folder } = image();
    const ours = await unpackImage(archive, join(folder, "ours"));
    const labels = ours.config.Labels;
    const values = ["version", "revision"].flatMap((name) => {
      return ["--build-arg", `${name.toUpperCase()}=${labels[`org.opencontainers.image.${name}`]}`];
    });
    const built = join(folder, "built.tar");
    const build = ["buildah", "build", "--quiet", "--isolation=chroot", ...values, "--file", dockerfile];
    await runCommand(image().withTools([...build, "--tag=built", context]));
    await runCommand(image().withTools(["buildah", "push", "--quiet", "built", `oci-archive:${built}`]));
    const theirs = await unpackImage(built, join(folder, "theirs"));

    const files = listFiles(join(folder, "ours"));
    expect(files).to.have.length.greaterThan(30);
    expect(listFiles(join(folder, "theirs"))).to.deep.equal(files);
    const { "io.buildah.version": _version, ...theirLabels } = theirs.config.Labels;
    expect(theirLabels).to.deep.equal(labels);
    expect(theirs.config.Entrypoint).to.deep.equal(ours.config.Entrypoint);
    expect(theirs.config.Env).to.include.members([...ours.config.Env]);
    expect(theirs.config.Cmd ?? []).to.deep.equal([]);
    expect(theirs.architecture).to.equal(ours.architecture);
  });
});
