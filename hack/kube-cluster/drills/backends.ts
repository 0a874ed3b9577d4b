/** The drills' backends as instruments. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { runCommand } from "../../netlab/run-command.ts";
import { clusterGroups } from "../cluster.ts";
import { commandOf, processesOf } from "../inside.ts";
import type { Cluster } from "../topology.ts";

/**
 * Backends that run now go before everything else on the machine, as the client does: one that waits for a processor would measure
 * the machine instead of the speakers. Where real-time scheduling is not granted, figures are as good as the machine is idle.
 */
export async function favourBackends(cluster: Cluster): Promise<void> {
  const pids = cluster.topology.nodes.flatMap((node) =>
    processesOf(cluster, node).filter((pid) => commandOf(pid)[1] === "backend"),
  );
  // A container's group has no real-time share, the one that we run in has.
  const script =
    'group=$1; shift; for pid; do echo "$pid" >"$group/cgroup.procs" && chrt --rr --all-tasks --pid 1 "$pid"; done 2>/dev/null || true';
  await runCommand(["sh", "-c", script, "favour", ownCpuGroup(cluster), ...pids.map(String)]);
}

/** Every group of the cluster lies in one that `hack/kube up` ran in. */
function ownCpuGroup(cluster: Cluster): string {
  return dirname(clusterGroups(cluster).find((group) => existsSync(join(group, "cpu.shares"))) ?? "/");
}
