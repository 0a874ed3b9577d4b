/** The speakers of a test cluster as pods, and each as the process that the machine sees. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { speakerProcesses } from "../../hack/kube-cluster/drills/speakers.ts";
import type { TestCluster } from "./kube.ts";

const SELECTOR = "arpeggio.dev/component=speaker";

export interface SpeakerPod {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly nodeName: string;
    readonly hostNetwork?: boolean;
    readonly priorityClassName?: string;
    readonly priority?: number;
    readonly securityContext?: unknown;
    readonly containers: readonly {
      readonly args?: readonly string[];
      readonly command?: readonly string[];
      readonly resources?: unknown;
      readonly securityContext?: unknown;
    }[];
  };
  readonly status: { readonly qosClass?: string };
}

/** When the last change to them has been rolled out. */
export async function speakerPods(kube: TestCluster): Promise<readonly SpeakerPod[]> {
  await kube.kubectl(["rollout", "status", "daemonset/arpeggio-speaker", "-n", "metallb-system", "--timeout=60s"]);
  const list = await kube.get<{ items: readonly SpeakerPod[] }>("pods", "-n", "metallb-system", "-l", SELECTOR);
  return list.items;
}

/** Its process id on the machine. @throws when the node runs none or more than one */
export function speakerPid(kube: TestCluster, nodeName: string): number {
  const pids = speakerProcesses(kube.cluster, kube.node(nodeName));
  const [pid] = pids;
  if (pid === undefined || pids.length > 1) throw new Error(`${nodeName} runs ${pids.length} speakers`);
  return pid;
}

/** Fields of /proc/PID/status, as proc(5) names them. */
export function processStatus(pid: number): ReadonlyMap<string, string> {
  const lines = readFileSync(`/proc/${pid}/status`, "utf8").trimEnd().split("\n");
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]));
}

const TCP_LISTEN = "0A";

/**
 * Where the process can be reached by others, such as `tcp 192.0.2.1:9120`: TCP sockets that listen and all UDP sockets, of its
 * network namespace and held by it. IPv6 addresses as the kernel prints them, in hexadecimal. Sorted.
 */
export function listeners(pid: number): readonly string[] {
  const own = new Set(socketInodes(pid));
  const found = ["tcp", "tcp6", "udp", "udp6"].flatMap((protocol) => {
    const [, ...lines] = readFileSync(`/proc/${pid}/net/${protocol}`, "utf8").trimEnd().split("\n");
    return lines.flatMap((line) => {
      const fields = line.trim().split(/\s+/);
      const [, local = "", , state] = fields;
      if (!own.has(fields[9] ?? "") || (protocol.startsWith("tcp") && state !== TCP_LISTEN)) return [];
      return [`${protocol} ${endpointOf(local)}`];
    });
  });
  return found.toSorted();
}

function socketInodes(pid: number): readonly string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).flatMap((name) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`${folder}/${name}`))?.[1] ?? [];
    } catch {
      return []; // it was closed meanwhile
    }
  });
}

/** `0B0200C0:23A0` is 192.0.2.11:9120: words of the address in the machine's order of bytes. */
function endpointOf(local: string): string {
  const [address = "", port = ""] = local.split(":");
  const ip = address.length === 8 ? Buffer.from(address, "hex").toReversed().join(".") : address;
  return `${ip}:${Number.parseInt(port, 16)}`;
}
