/** The image under podman with the DaemonSet's restrictions: it starts with arguments alone, and NET_RAW is enough to answer ARP. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect } from "chai";
import { runCommand } from "../../../hack/netlab/run-command.ts";
import { unpackImage, useBuiltImage } from "../../support/image.ts";
import { Netns } from "../../support/netns.ts";

const ADDRESS = "192.0.2.100";
const MAC = "02:00:00:00:00:0b";
const MANIFESTS = `
apiVersion: metallb.io/v1beta1
kind: IPAddressPool
metadata: { name: lan }
spec: { addresses: [${ADDRESS}/32] }
---
apiVersion: metallb.io/v1beta1
kind: L2Advertisement
metadata: { name: lan }
---
apiVersion: v1
kind: Service
metadata: { name: web, annotations: { metallb.io/loadBalancerIPs: ${ADDRESS} } }
spec: { type: LoadBalancer, ports: [{ port: 80 }] }
`;

/** Runs beside the speaker, restricted as it is, once the speaker leads the address; its process is the first one in there. */
const LOOK_AROUND = `
const fs = require("node:fs");
async function leads() {
  const headers = { accept: "application/json" };
  const response = await fetch("http://127.0.0.1:17472/status/addresses/${ADDRESS}", { headers }).catch(() => undefined);
  return response?.ok === true && (await response.json()).leader === "n1";
}
(async () => {
  for (let left = 300; left > 0 && !(await leads()); left--) await new Promise((resolve) => setTimeout(resolve, 100));
  const process = fs.readFileSync("/proc/1/status", "utf8");
  const fields = Object.fromEntries(process.split("\\n").map((line) => line.split(/:\\s*/)));
  const { CapEff, CapBnd, NoNewPrivs, Seccomp, Uid } = fields;
  let written = "written";
  try { fs.writeFileSync("/file", ""); } catch (error) { written = error.code; }
  console.log(JSON.stringify({ CapEff, CapBnd, NoNewPrivs, Seccomp, Uid, written }));
})();`;

/** Arguments: archive, image, folder of manifests, script. Waits for a line before it ends the speaker. */
const RUN = `set -e
podman load --quiet --input "$1" >&2
podman run --detach --name speaker --cgroup-parent "$CGROUP_PARENT" --network host --read-only \\
  --cap-drop all --cap-add NET_RAW --security-opt no-new-privileges --volume "$3:/manifests:ro" \\
  "$2" --source=files:/manifests --node-name=n1 >&2
podman exec speaker /usr/bin/node -e "$4"
podman logs speaker >&2
read -r _
podman stop --time 20 speaker >&2
podman inspect --format '{{.State.ExitCode}}' speaker
podman rm speaker >&2`;

describe("the image under podman", function () {
  this.timeout(300_000);
  // Before the folder goes that podman keeps its things in.
  after(async () => {
    child?.stdin?.end();
    if (child?.exitCode === null) await once(child, "exit");
    await lab.close();
  });
  const image = useBuiltImage();
  const lab = new Netns();
  let tag: string;
  let child: ChildProcess | undefined;

  before(async () => {
    const { config } = await unpackImage(image().archive, join(image().folder, "root"));
    tag = `arpeggio-speaker:${config.Labels["org.opencontainers.image.version"]}`;
  });

  it("starts with arguments alone, may nothing but NET_RAW, and answers ARP", async () => {
    const [node, asker] = [lab.create("node"), lab.create("asker")];
    lab.veth(
      { namespace: node, link: "eth0", mac: MAC, addresses: ["192.0.2.11/24"] },
      { namespace: asker, link: "eth0", addresses: ["192.0.2.2/24"] },
    );
    const manifests = join(image().folder, "manifests");
    mkdirSync(manifests);
    writeFileSync(join(manifests, "lan.yaml"), MANIFESTS);

    const words = ["bash", "-c", RUN, "run", image().archive, tag, manifests, LOOK_AROUND];
    const args = [`--net=/run/netns/${node}`, "--", ...image().withTools(words)];
    child = spawn("nsenter", args, { stdio: ["pipe", "pipe", "pipe"] });
    const { stdin, stdout, stderr } = child;
    if (stdin === null || stdout === null || stderr === null) throw new Error("all three are pipes");
    let complaints = "";
    stderr.setEncoding("utf8").on("data", (text: string) => {
      complaints += text;
    });
    const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();

    const first = await lines.next();
    if (first.done === true) throw new Error(complaints);
    expect(JSON.parse(first.value)).to.deep.equal({
      CapEff: "0000000000002000",
      CapBnd: "0000000000002000",
      NoNewPrivs: "1",
      Seccomp: "2",
      Uid: "0\t0\t0\t0",
      written: "EROFS",
    });
    const answers = await runCommand(["ip", "netns", "exec", asker, "arping", "-c1", "-w20", "-I", "eth0", ADDRESS]);
    expect(answers.toLowerCase()).to.include(`[${MAC}]`);
    stdin.write("\n");
    expect(await lines.next()).to.deep.include({ value: "0" });
    if (child.exitCode === null) await once(child, "exit");
    expect(child.exitCode).to.equal(0);
  });
});
