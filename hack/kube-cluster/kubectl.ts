/** kubectl on a cluster, from the machine's own network: what it forwards listens where a user's tools look for it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { runCommand } from "../netlab/run-command.ts";
import type { Cluster } from "./topology.ts";

/** The administrator's, for tools on the machine: it leads through the door. */
export function machineKubeconfig({ folder }: Cluster): string {
  return join(folder, "kubeconfig");
}

/** kubectl keeps what it discovers in the cluster's folder, not in the user's. */
function kubectlArgv(cluster: Cluster, args: readonly string[]): readonly string[] {
  const environment = [`HOME=${cluster.folder}`, `KUBECONFIG=${machineKubeconfig(cluster)}`];
  return ["env", ...environment, join(cluster.folder, "opt/kubernetes"), "kubectl", ...args];
}

/** Runs it to its end, with `input` on its standard input; throws with what it said when it fails. */
export function kubectl(cluster: Cluster, args: readonly string[], input = ""): Promise<string> {
  return runCommand(kubectlArgv(cluster, args), input);
}

/** With the terminal's input and output; gives its exit code. */
export async function runKubectl(cluster: Cluster, args: readonly string[]): Promise<number> {
  const [command = "", ...argv] = kubectlArgv(cluster, args);
  const child = spawn(command, argv, { stdio: "inherit" });
  const [code] = (await once(child, "exit")) as [number | null];
  return code ?? 1;
}
