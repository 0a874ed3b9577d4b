/** What a speaker's pod may do: as it is written in the pod, and as the kernel holds the process to it. */
import { readFileSync } from "node:fs";
import { expect } from "chai";
import { useCluster } from "../support/kube.ts";
import { processStatus, type SpeakerPod, speakerPid, speakerPods } from "../support/speaker-pods.ts";

/** linux/capability.h: number 13. */
const NET_RAW = "0000000000002000";
const NONE = "0000000000000000";

/** There is no shell in the image, but there is Node: a program that runs in the container, and is bound as the speaker is. */
const WRITE_TO_ROOT = `
for (const path of ["/file", "/app/speaker.js", "/tmp/file"]) {
  let said = "written";
  try { require("node:fs").writeFileSync(path, ""); } catch (error) { said = error.code; }
  console.log(path, said);
}`;

describe("a speaker's pod", () => {
  const kube = useCluster();
  let pods: readonly SpeakerPod[];

  before(async function () {
    this.timeout(90_000);
    pods = await speakerPods(kube());
  });

  it("runs on every node", () => {
    expect(pods.map(({ spec }) => spec.nodeName).toSorted()).to.deep.equal(["n1", "n2", "n3"]);
  });

  it("asks for NET_RAW alone, a root file system that cannot be written and the runtime's seccomp profile", () => {
    for (const { spec } of pods) {
      expect(spec.containers).to.have.length(1);
      expect(spec.containers[0]?.securityContext).to.deep.equal({
        allowPrivilegeEscalation: false,
        capabilities: { drop: ["ALL"], add: ["NET_RAW"] },
        readOnlyRootFilesystem: true,
        runAsUser: 0,
      });
      expect(spec.securityContext).to.deep.equal({ seccompProfile: { type: "RuntimeDefault" } });
    }
  });

  it("is started by arguments alone", () => {
    for (const { spec } of pods) {
      expect(spec.containers[0]).to.not.have.property("command");
      expect(spec.containers[0]?.args?.[0]).to.match(/^--/);
    }
  });

  it("has one capability, no way to more, and a filter for its system calls", () => {
    for (const { spec } of pods) {
      const status = processStatus(speakerPid(kube(), spec.nodeName));
      expect(status.get("CapEff")).to.equal(NET_RAW);
      expect(status.get("CapPrm")).to.equal(NET_RAW);
      expect(status.get("CapBnd")).to.equal(NET_RAW);
      expect(status.get("CapAmb")).to.equal(NONE);
      expect(status.get("NoNewPrivs")).to.equal("1");
      expect(status.get("Seccomp")).to.equal("2"); // SECCOMP_MODE_FILTER
    }
  });

  it("writes nowhere in its image", async () => {
    const [pod] = pods;
    const exec = ["exec", "-n", "metallb-system", pod?.metadata.name ?? "", "--"];
    const said = await kube().kubectl([...exec, "/usr/bin/node", "-e", WRITE_TO_ROOT]);
    expect(said.trim().split("\n")).to.deep.equal(["/file EROFS", "/app/speaker.js EROFS", "/tmp/file EROFS"]);
  });

  it("has no shell", async () => {
    const exec = ["exec", "-n", "metallb-system", pods[0]?.metadata.name ?? "", "--"];
    const said = await kube()
      .kubectl([...exec, "/bin/sh", "-c", "true"])
      .catch((error: Error) => error.message);
    expect(said).to.include("no such file or directory");
  });

  it("goes last when the node runs out of memory, and is never stopped for using its share of the processor", () => {
    for (const { spec, status } of pods) {
      expect(spec.priorityClassName).to.equal("system-node-critical");
      expect(spec.priority).to.equal(2_000_001_000);
      expect(status.qosClass).to.equal("Burstable");
      expect(spec.containers[0]?.resources).to.deep.equal({
        requests: { cpu: "100m", memory: "128Mi" },
        limits: { memory: "512Mi" },
      });
      const pid = speakerPid(kube(), spec.nodeName);
      const group = groupOf(pid, "cpu");
      expect(readFileSync(`${group}/cpu.cfs_quota_us`, "utf8").trim()).to.equal("-1");
      expect(readFileSync(`${groupOf(pid, "memory")}/memory.limit_in_bytes`, "utf8").trim()).to.equal(String(2 ** 29));
    }
  });
});

/** The folder of the process's control group (version 1, which the cluster's nodes need). */
function groupOf(pid: number, controller: string): string {
  const lines = readFileSync(`/proc/${pid}/cgroup`, "utf8").split("\n");
  const path = lines.map((line) => line.split(":")).find(([, names]) => names?.split(",").includes(controller))?.[2];
  if (path === undefined) throw new Error(`no control group for ${controller}`);
  return `/sys/fs/cgroup/${controller}${path}`;
}
