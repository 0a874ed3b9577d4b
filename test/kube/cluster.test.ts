import { existsSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { processesIn } from "../../hack/kube-cluster/cgroups.ts";
import { createCluster, destroyCluster } from "../../hack/kube-cluster/cluster.ts";
import { POD_PROGRAM } from "../../hack/kube-cluster/images.ts";
import { findNodeTools } from "../../hack/kube-cluster/node-tools.ts";
import { findPlane } from "../../hack/kube-cluster/plane.ts";
import { clusterFolder } from "../../hack/kube-cluster/topology.ts";
import { inNamespace, runCommand } from "../../hack/netlab/run-command.ts";
import { useCluster } from "../support/kube.ts";

const BACKEND = `{"apiVersion":"v1","kind":"List","items":[
  {"apiVersion":"v1","kind":"Pod","metadata":{"name":"backend","labels":{"app":"backend"}},"spec":{
    "containers":[{"name":"backend","image":"localhost/backend:1","imagePullPolicy":"Never",
      "env":[{"name":"POD_NAME","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}},
             {"name":"NODE_NAME","valueFrom":{"fieldRef":{"fieldPath":"spec.nodeName"}}}],
      "readinessProbe":{"httpGet":{"path":"/","port":8080},"periodSeconds":1}}]}},
  {"apiVersion":"v1","kind":"Service","metadata":{"name":"backend"},"spec":{"type":"NodePort",
    "ipFamilyPolicy":"RequireDualStack","selector":{"app":"backend"},
    "ports":[{"port":80,"targetPort":8080,"nodePort":30080}]}}]}`;

/** Of the whole machine; a kubelet would write the first three. */
const MACHINE_SYSCTLS = ["vm/overcommit_memory", "kernel/panic", "kernel/panic_on_oops", "net/ipv4/ip_forward"];

describe("the cluster for tests", () => {
  const kube = useCluster();

  it("has three Ready nodes, each with a link on both segments", async () => {
    const nodes = await kube().kubectl(["get", "nodes", "-o", "jsonpath={.items[*].metadata.name}"]);
    expect(nodes.split(" ")).to.have.members(["n1", "n2", "n3"]);
    for (const name of nodes.split(" ")) {
      const links = await kube().onNode(name, ["ip", "-brief", "-4", "addr", "show", "up"]);
      const number = name.slice(1);
      expect(links).to.match(new RegExp(`eth0@\\S+ +UP +192\\.0\\.2\\.1${number}/24`));
      expect(links).to.match(new RegExp(`eth1@\\S+ +UP +203\\.0\\.113\\.1${number}/24`));
    }
  });

  it("answers on every node and both families from a pod on one of them", async function () {
    this.timeout(60_000);
    await kube().apply(BACKEND);
    const hosts = ["192.0.2.11", "192.0.2.13", "[2001:db8::c]"];
    for (const host of hosts) {
      const answer = await kube().until(`${host} answers`, () => kube().request(`http://${host}:30080/`));
      expect(answer.pod).to.equal("backend");
    }
    await kube().kubectl(["delete", "service/backend", "pod/backend"]);
  });

  it("lets a kubelet touch its own node only", async () => {
    const config = ["--as=system:node:n1", "--as-group=system:nodes"];
    const refused = await kube()
      .kubectl([...config, "label", "node", "n2", "a=b"])
      .catch((error: Error) => error.message);
    expect(refused).to.include("node 'n1' cannot read 'n2', only its own Node object");
  });

  it("leaves nothing behind, and the machine as it was", async function () {
    this.timeout(180_000);
    const [binary, nodeTools] = await Promise.all([findPlane(), findNodeTools()]);
    if (binary === undefined || nodeTools === undefined) throw new Error("the cluster above needed both");
    const name = `test-${process.pid}-b`;
    const before = MACHINE_SYSCTLS.map(readSysctl);
    const cluster = await createCluster(name, 1, { binary, nodeTools });
    const groups = readFileSync(`${cluster.folder}/control/cgroups`, "utf8").trim().split("\n");
    const pids = groups.flatMap(processesIn);
    expect(pids).to.not.have.length(0);
    await destroyCluster(cluster);
    // The first of them is our own child, and gone when the event loop has heard of its end.
    await kube().until("every process is gone", () => Promise.resolve(!pids.some((pid) => existsSync(`/proc/${pid}`))));
    expect(groups.filter((group) => existsSync(group))).to.deep.equal([]);
    expect(existsSync(clusterFolder(name))).to.equal(false);
    expect(readFileSync("/proc/self/mountinfo", "utf8")).to.not.include(name);
    expect(await runCommand(["ip", "netns", "list"])).to.not.include(`kube-${name}-`);
    expect(MACHINE_SYSCTLS.map(readSysctl)).to.deep.equal(before);
  });

  it("reaches what is behind the router", async () => {
    const { remote } = kube().cluster.topology;
    // kube-proxy's own health.
    const argv = [POD_PROGRAM, "get", "http://192.0.2.11:10256/livez", "2s"];
    await runCommand(inNamespace(remote.namespace, argv));
  });
});

function readSysctl(name: string): string {
  return readFileSync(`/proc/sys/${name}`, "utf8").trim();
}
