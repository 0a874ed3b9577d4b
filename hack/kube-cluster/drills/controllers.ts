/** The controllers as a drill sees them: their Lease, their processes, what they show on their loopback, and what can be done to them. */
import { readFileSync } from "node:fs";
import { runCommand } from "../../netlab/run-command.ts";
import type { Host } from "../../netlab/topology.ts";
import { POD_PROGRAM } from "../images.ts";
import { commandOf, processesOf } from "../inside.ts";
import { kubectl } from "../kubectl.ts";
import type { Cluster } from "../topology.ts";
import { until } from "../until.ts";
import { SPEAKER_NAMESPACE } from "./objects.ts";

export const CONTROLLERS = "deployment/arpeggio-controller";
export const CONTROLLER_USER = `system:serviceaccount:${SPEAKER_NAMESPACE}:arpeggio-controller`;
/** As in the image's ENTRYPOINT. */
const CONTROLLER_SCRIPT = "/app/controller.js";
const HTTP = "http://127.0.0.1:17473";
const REQUEST_TIMEOUT = "5s";
const LEADER = { timeoutMs: 60_000, pollMs: 200 };
const CUT_TABLE = "arpeggio-cut";

export interface ControllerProcess {
  readonly node: Host;
  readonly pod: string;
  /** On the machine. */
  readonly pid: number;
}

/** Those that run now, standing ones too. */
export function controllerProcesses(cluster: Cluster): readonly ControllerProcess[] {
  return cluster.topology.nodes.flatMap((node) =>
    processesOf(cluster, node)
      .filter((pid) => commandOf(pid).includes(CONTROLLER_SCRIPT))
      .flatMap((pid) => {
        const pod = podOf(pid);
        return pod === undefined ? [] : [{ node, pod, pid }];
      }),
  );
}

/** Name of the Pod that holds the Lease; empty when nobody does. */
async function leasePod(cluster: Cluster): Promise<string> {
  const path = "jsonpath={.spec.holderIdentity}";
  const target = ["get", "lease", "arpeggio-controller", "-n", SPEAKER_NAMESPACE, "--ignore-not-found", "-o", path];
  // pod_12345678
  return (await kubectl(cluster, target)).trim().replace(/_[^_]*$/, "");
}

/** The one that holds the Lease, whether it allocates or not. */
export function waitForHolder(cluster: Cluster): Promise<ControllerProcess> {
  return until("a controller holds the Lease", LEADER, async () => {
    const pod = await leasePod(cluster);
    return controllerProcesses(cluster).find((one) => one.pod === pod);
  });
}

/** The one that holds the Lease and says that it allocates. */
export function waitForLeader(cluster: Cluster, timeoutMs = LEADER.timeoutMs): Promise<ControllerProcess> {
  return until("a controller allocates", { ...LEADER, timeoutMs }, async () => {
    const pod = await leasePod(cluster);
    const found = controllerProcesses(cluster).find((one) => one.pod === pod);
    if (found === undefined) return undefined;
    const status = await readController(found, "/status").catch(() => undefined);
    return (status as { readonly state?: string } | undefined)?.state === "allocating" ? found : undefined;
  });
}

/** A document that it shows; throws when it does not answer. */
export async function readController({ pid }: ControllerProcess, path: string): Promise<unknown> {
  const argv = [...inNetworkOf(pid), POD_PROGRAM, "get", HTTP + path, REQUEST_TIMEOUT];
  return JSON.parse(await runCommand(argv)) as unknown;
}

/** Ends when that many are ready, and no other is there. */
export async function scaleControllers(cluster: Cluster, replicas: number): Promise<void> {
  await kubectl(cluster, ["scale", CONTROLLERS, "-n", SPEAKER_NAMESPACE, `--replicas=${replicas}`]);
  await waitForControllers(cluster);
  if (replicas > 0) return;
  await until("no controller runs", LEADER, async () => controllerProcesses(cluster).length === 0);
}

export async function waitForControllers(cluster: Cluster): Promise<void> {
  await kubectl(cluster, ["rollout", "status", CONTROLLERS, "-n", SPEAKER_NAMESPACE, "--timeout=120s"]);
}

/** The Pod's network reaches the API server no more, silently; connections that stand hang. */
export async function cutFromApi({ pid }: ControllerProcess): Promise<void> {
  const rules = `table inet ${CUT_TABLE} { chain out { type filter hook output priority 0; tcp dport 443 drop; }; }`;
  await runCommand([...inNetworkOf(pid), "nft", rules]);
}

/** Does nothing where nothing was cut. */
export async function healCut({ pid }: ControllerProcess): Promise<void> {
  const list = await runCommand([...inNetworkOf(pid), "nft", "list", "tables"]);
  if (list.includes(CUT_TABLE)) await runCommand([...inNetworkOf(pid), "nft", "delete", "table", "inet", CUT_TABLE]);
}

function inNetworkOf(pid: number): readonly string[] {
  return ["nsenter", "--target", String(pid), "--net"];
}

/** Undefined when the process is gone. */
function podOf(pid: number): string | undefined {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    return environment.find((entry) => entry.startsWith("METALLB_POD_NAME="))?.replace(/^[^=]*=/, "");
  } catch {
    return undefined;
  }
}
