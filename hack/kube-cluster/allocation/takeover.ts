/** The drill `takeover`: ours comes to a cluster in which MetalLB's controller has given addresses, and MetalLB's goes. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ApiServer } from "../../../src/kube/api-server.ts";
import { openApiServer } from "../../../src/kube/node-api-server.ts";
import { controllerProcesses, readController, scaleControllers, waitForHolder } from "../drills/controllers.ts";
import { forEach } from "../drills/patient-requests.ts";
import { apply } from "../drills/scene.ts";
import { commandOf } from "../inside.ts";
import { applyOverlay } from "../install.ts";
import { kubectl, machineKubeconfig } from "../kubectl.ts";
import type { Cluster } from "../topology.ts";
import { until } from "../until.ts";
import {
  assign,
  makeNamespace,
  makePool,
  makeService,
  readServices,
  removeNamespace,
  removePool,
  removeService,
} from "./services.ts";
import { buildTheirs, buildTheirWebhooks, THEIR_DEPLOYMENT, THEIR_WEBHOOKS } from "./stand-ins.ts";

const POOL = "arpeggio-takeover";
const ADDRESSES = ["198.18.9.0/24", "2001:db8:8:9::/120"];
const ANOTHER_POOL = "arpeggio-takeover-2";
const LATE = "late";
const NAMESPACE = ["-n", "metallb-system"];
const AT_ONCE = 8;
const WAIT = { timeoutMs: 60_000, pollMs: 100 };
/** Longer than ours waits when no other allocator is there. */
const BESIDE_MS = 8_000;
/** The garbage collector takes a second. */
const COLLECTED_MS = 4_000;

export interface TakeoverFigures {
  readonly services: number;
  /** Of those, whose addresses are others than before. */
  readonly addressesChanged: number;
  /** 1: pools could not be applied while the webhook stood, so that it was worth deleting. */
  readonly applyRefusedBefore: number;
  /** Services that got an address while MetalLB's controller ran; events that say why none does. */
  readonly allocatedBeside: number;
  readonly eventsBeside: number;
  /** From the deletion of MetalLB's Deployment to the first address, and to the end of its webhook configuration. */
  readonly firstAddressMs: number;
  readonly webhookGoneMs: number;
  /** 1: it is there after the Deployment that had owned it was deleted. */
  readonly secretSurvives: number;
  /** 1: kubectl apply of a pool works. */
  readonly applyWorks: number;
}

/** Leaves the cluster as `hack/kube up` made it, with both controllers. */
export async function runTakeover(cluster: Cluster, count: number): Promise<TakeoverFigures> {
  const api = await openApiServer({ kubeconfig: machineKubeconfig(cluster), userAgent: "drill" });
  const names = Array.from({ length: count }, (_, number) => `s${number}`);
  try {
    await scaleControllers(cluster, 0);
    const before = await putTheirs(cluster, api, names);
    const applyRefusedBefore = await mayApply(cluster).then((may) => (may ? 0 : 1));
    await applyOverlay(cluster, "controller-only");
    await until("the Secret belongs to nobody", WAIT, async () => (await secretOwners(cluster)) === "");
    const beside = await lookBeside(cluster, api);
    const deedMs = Date.now();
    await kubectl(cluster, ["delete", "deployment", THEIR_DEPLOYMENT, ...NAMESPACE]);
    const since = async (what: string, check: () => Promise<boolean>): Promise<number> => {
      await until(what, WAIT, check);
      return Date.now() - deedMs;
    };
    const [firstAddressMs, webhookGoneMs] = await Promise.all([
      since("the late Service has an address", () => hasAddress(api, LATE)),
      since("the webhook configuration is gone", async () => !(await exists(cluster, webhooks()))),
    ]);
    await sleep(Math.max(0, deedMs + COLLECTED_MS - Date.now()));
    const after = await readServices(api);
    return {
      services: count,
      addressesChanged: names.filter((name) => String(after.get(name)) !== String(before.get(name))).length,
      applyRefusedBefore,
      ...beside,
      firstAddressMs,
      webhookGoneMs,
      secretSurvives: Number(await exists(cluster, ["secret", "memberlist", ...NAMESPACE])),
      applyWorks: Number(await mayApply(cluster)),
    };
  } finally {
    await kubectl(cluster, ["delete", ...webhooks(), "--ignore-not-found"]);
    await forEach([...names, LATE], AT_ONCE, (name) => removeService(api, name));
    for (const pool of [POOL, ANOTHER_POOL]) await removePool(api, pool);
    await removeNamespace(api);
    api.close();
    await removeTheirs(cluster);
    await endTakeover(cluster);
  }
}

/** Prints the figures, or one line of JSON. */
export async function takeoverDrill(cluster: Cluster, isJson: boolean): Promise<void> {
  const figures = await runTakeover(cluster, 20);
  const nodes = cluster.topology.nodes.length;
  if (isJson) {
    process.stdout.write(`${JSON.stringify({ drill: "takeover", run: 1, nodes, ...figures })}\n`);
    return;
  }
  const { services, addressesChanged, allocatedBeside, firstAddressMs, webhookGoneMs, secretSurvives } = figures;
  process.stdout.write(`\ndrill takeover, ${nodes} nodes: ${services} Services with addresses of MetalLB's
beside MetalLB's controller: ${allocatedBeside} addresses given, ${figures.eventsBeside} event on its Pod
after its Deployment was deleted: first address ${firstAddressMs} ms, webhook configuration gone ${webhookGoneMs} ms
Secret memberlist ${secretSurvives === 1 ? "survives" : "is gone"}; kubectl apply of a pool was ${figures.applyRefusedBefore === 1 ? "refused" : "possible"} before and ${figures.applyWorks === 1 ? "works" : "is refused"} now
${addressesChanged} addresses changed
`);
}

/** MetalLB's objects, and Services with addresses as its controller gives them. */
async function putTheirs(
  cluster: Cluster,
  api: ApiServer,
  names: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  await apply(cluster, buildTheirs());
  await kubectl(cluster, ["rollout", "status", `deployment/${THEIR_DEPLOYMENT}`, ...NAMESPACE, "--timeout=60s"]);
  const target = ["deployment", THEIR_DEPLOYMENT, ...NAMESPACE, "-o", "jsonpath={.metadata.uid}"];
  const uid = (await kubectl(cluster, ["get", ...target])).trim();
  const owner = { apiVersion: "apps/v1", kind: "Deployment", name: THEIR_DEPLOYMENT, uid };
  const patch = JSON.stringify({ metadata: { ownerReferences: [owner] } });
  await kubectl(cluster, ["patch", "secret", "memberlist", ...NAMESPACE, "--type=merge", "-p", patch]);
  await makeNamespace(api);
  await makePool(api, POOL, ADDRESSES);
  await forEach([...names.entries()], AT_ONCE, async ([number, name]) => {
    await makeService(api, name, "both");
    // Not in the order in which ours would give them.
    const last = 200 - number;
    await assign(api, name, [`198.18.9.${last}`, `2001:db8:8:9::${last.toString(16)}`], POOL);
  });
  await apply(cluster, [buildTheirWebhooks()]);
  return readServices(api);
}

/** What ours does while MetalLB's runs. */
async function lookBeside(
  cluster: Cluster,
  api: ApiServer,
): Promise<Pick<TakeoverFigures, "allocatedBeside" | "eventsBeside">> {
  await makeService(api, LATE, "IPv4");
  const holder = await waitForHolder(cluster);
  await until("it says that another allocator runs", WAIT, async () => {
    const { neighbours } = (await readController(holder, "/status")) as Status;
    return neighbours?.otherAllocators.some((pod) => pod.startsWith(`${THEIR_DEPLOYMENT}-`)) === true;
  });
  await sleep(BESIDE_MS);
  const reason = "--field-selector=reason=otherAllocatorRunning";
  const events = await kubectl(cluster, ["get", "events", ...NAMESPACE, reason, "-o", "name"]);
  return {
    allocatedBeside: Number(await hasAddress(api, LATE)),
    eventsBeside: events.split("\n").filter(Boolean).length,
  };
}

interface Status {
  readonly neighbours?: { readonly otherAllocators: readonly string[] };
}

async function removeTheirs(cluster: Cluster): Promise<void> {
  const text = JSON.stringify({ apiVersion: "v1", kind: "List", items: buildTheirs() });
  await kubectl(cluster, ["delete", "--ignore-not-found", "-f", "-"], text);
}

/** Takes away what controller-only has and standalone has not, when nobody uses it any more. */
async function endTakeover(cluster: Cluster): Promise<void> {
  await applyOverlay(cluster, "standalone");
  await until("nobody takes over any more", WAIT, async () => {
    return !controllerProcesses(cluster).some(({ pid }) => commandOf(pid).includes("--takeover"));
  });
  const name = "arpeggio-controller-takeover";
  for (const kind of ["clusterrole", "clusterrolebinding"]) await kubectl(cluster, ["delete", kind, name]);
  for (const kind of ["role", "rolebinding"]) await kubectl(cluster, ["delete", kind, name, ...NAMESPACE]);
}

function webhooks(): readonly string[] {
  return ["validatingwebhookconfiguration", THEIR_WEBHOOKS];
}

/** Whether kubectl can apply a pool. */
async function mayApply(cluster: Cluster): Promise<boolean> {
  const pool = {
    apiVersion: "metallb.io/v1beta1",
    kind: "IPAddressPool",
    metadata: { name: ANOTHER_POOL, namespace: "metallb-system" },
    spec: { addresses: ["198.18.10.0/24"], autoAssign: false },
  };
  return apply(cluster, [pool]).then(
    () => true,
    () => false,
  );
}

async function hasAddress(api: ApiServer, name: string): Promise<boolean> {
  return ((await readServices(api)).get(name)?.length ?? 0) > 0;
}

async function exists(cluster: Cluster, target: readonly string[]): Promise<boolean> {
  return (await kubectl(cluster, ["get", ...target, "--ignore-not-found", "-o", "name"])).trim() !== "";
}

async function secretOwners(cluster: Cluster): Promise<string> {
  const path = "jsonpath={.metadata.ownerReferences[*].name}";
  return (await kubectl(cluster, ["get", "secret", "memberlist", ...NAMESPACE, "-o", path])).trim();
}
