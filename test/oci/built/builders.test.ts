/** The Dockerfiles, built by builders from the folder that hack/image prepares: the same image as hack/image writes by itself. */
import { join } from "node:path";
import { expect } from "chai";
import { runCommand } from "../../../hack/netlab/run-command.ts";
import { type ImageConfig, listFiles, unpackImage, useBuiltImage } from "../../support/image.ts";

const BUILD_TIMEOUT_MS = 300_000;

/** Arguments: the archive to write, then those of `build`. */
const BUILDERS = {
  buildah: `
archive=$1
shift
buildah build --quiet --isolation=chroot --tag=built "$@"
buildah push --quiet built "oci-archive:$archive"`,
  // The daemon ends with the namespace; it has a network of its own, or it would set up the caller's.
  docker: `
archive=$1
shift
unshare --net dockerd --data-root "$HOME/docker" --storage-driver vfs --bridge none --iptables=false --ip6tables=false \\
  --ip-forward=false --ip-masq=false --cgroup-parent "$CGROUP_PARENT" >"$HOME/docker.log" 2>&1 &
for _ in {1..300}; do ! docker version >/dev/null 2>&1 || break; sleep 0.2; done
DOCKER_BUILDKIT=0 docker build --quiet --tag=built "$@" || { cat "$HOME/docker.log" >&2; exit 1; }
docker save built --output "$archive"`,
};

const BUILDS = [
  ["buildah", "speaker"],
  ["docker", "speaker"],
  ["buildah", "controller"],
] as const;

for (const [builder, program] of BUILDS) {
  describe(`the image that ${builder} makes of ${program}/Dockerfile`, function () {
    this.timeout(BUILD_TIMEOUT_MS);
    const image = useBuiltImage(undefined, program);
    let ours: ImageConfig;
    let theirs: ImageConfig;

    before(async () => {
      const { archive, context, dockerfile, folder, withTools } = image();
      ours = await unpackImage(archive, join(folder, "ours"));
      const values = ["version", "revision"].flatMap((name) => {
        return ["--build-arg", `${name.toUpperCase()}=${ours.config.Labels[`org.opencontainers.image.${name}`]}`];
      });
      const built = join(folder, "built.tar");
      const words = [built, ...values, "--file", dockerfile, context];
      await runCommand(withTools(["bash", "-ec", BUILDERS[builder], builder, ...words]));
      theirs = await unpackImage(built, join(folder, "theirs"));
    });

    it("has the files, modes and owners of the one that hack/image makes", () => {
      const files = listFiles(join(image().folder, "ours"));
      expect(files).to.have.length.greaterThan(30);
      expect(listFiles(join(image().folder, "theirs"))).to.deep.equal(files);
    });

    it("is started and labelled as that one", () => {
      const { "io.buildah.version": _version, ...labels } = theirs.config.Labels;
      expect(labels).to.deep.equal(ours.config.Labels);
      expect(theirs.config.Entrypoint).to.deep.equal(ours.config.Entrypoint);
      expect(theirs.config.Env).to.include.members([...ours.config.Env]);
      expect(theirs.config.Cmd ?? []).to.deep.equal([]);
      expect(theirs.architecture).to.equal(ours.architecture);
    });
  });
}
