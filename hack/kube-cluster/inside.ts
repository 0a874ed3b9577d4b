/** Commands inside a node: in its namespaces and its root folder. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../netlab/run-command.ts";
import type { Host } from "../netlab/topology.ts";
import { processesIn } from "./cgroups.ts";
import { clusterGroups } from "./cluster.ts";
import { imageArchives } from "./images.ts";
import type { Cluster } from "./topology.ts";

const NODE_PATH = "PATH=/opt/tools/usr/bin:/opt/tools/usr/sbin:/usr/sbin:/usr/bin:/sbin:/bin";

/** The command line that runs `argv` inside the node, with its PATH. */
export function insideNode(cluster: Cluster, node: Host, argv: readonly string[]): readonly string[] {
  return ["nsenter", "--target", String(initPid(cluster, node)), "--all", "env", NODE_PATH, ...argv];
}

/** Every archive of the image folder, on every node at once. */
export async function importImages(cluster: Cluster): Promise<void> {
  const archives = imageArchives().map((name) => `/opt/images/${name}`);
  const script = 'for archive; do ctr --namespace k8s.io images import "$archive"; done';
  await Promise.all(
    cluster.topology.nodes.map((node) =>
      runCommand(insideNode(cluster, node, ["bash", "-ec", script, "import", ...archives])),
    ),
  );
}

/** Whether the node has power. */
export function isRunning(cluster: Cluster, node: Host): boolean {
  return processesOf(cluster, node).length > 0;
}

/** Ids on the machine of every process of the node, those of its pods too. */
export function processesOf(cluster: Cluster, node: Host): readonly number[] {
  const [group = ""] = clusterGroups(cluster);
  return processesIn(join(group, node.name));
}

/** The process's command line; empty when it is gone. */
export function commandOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}

/** The node's PID 1 as the machine counts: the process of its control groups that is number 1 in its innermost pid namespace. */
function initPid(cluster: Cluster, node: Host): number {
  const pid = processesOf(cluster, node).find((one) => numbersOf(one).at(-1) === 1 && numbersOf(one).length > 2);
  if (pid === undefined) throw new Error(`${node.name} does not run`);
  return pid;
}

/** The process's id in each pid namespace from ours inwards. */
function numbersOf(pid: number): readonly number[] {
  try {
    const line = /^NSpid:\s*(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "";
    return line.split(/\s+/).map(Number);
  } catch {
    return []; // it went meanwhile
  }
}
