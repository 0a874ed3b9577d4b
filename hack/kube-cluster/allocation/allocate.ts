/** The drill `allocate`: many Services at once, of both families and from several pools, and what the controller says of them beside what kubectl does. */
import { ArpeggioError } from "../../../src/base/errors.ts";
import { formatTable } from "../../../src/http/table.ts";
import type { ApiServer } from "../../../src/kube/api-server.ts";
import { openApiServer } from "../../../src/kube/node-api-server.ts";
import { controlFolder } from "../cluster.ts";
import { CONTROLLER_USER, type ControllerProcess, readController, waitForLeader } from "../drills/controllers.ts";
import { forEach } from "../drills/patient-requests.ts";
import { kubectl, machineKubeconfig } from "../kubectl.ts";
import { auditLogPath } from "../plane.ts";
import type { Cluster } from "../topology.ts";
import { until } from "../until.ts";
import { judgeAllocation } from "./judge.ts";
import { readServiceWrites, type ServiceWrite } from "./service-writes.ts";
import {
  ALLOCATION_NAMESPACE,
  type Families,
  makeNamespace,
  makePool,
  makeService,
  readServices,
  removeNamespace,
  removePool,
  removeService,
} from "./services.ts";

/** Of RFC 2544's range and the documentation's: no host of the cluster has any of them. */
const POOLS: Readonly<Record<string, readonly string[]>> = {
  "arpeggio-allocate-1": ["198.18.1.0/24", "2001:db8:8:1::/120"],
  "arpeggio-allocate-2": ["198.18.2.1-198.18.2.200", "2001:db8:8:2::1-2001:db8:8:2::c8"],
  "arpeggio-allocate-3": ["198.18.3.0/25", "2001:db8:8:3::/64"],
};
const FAMILIES: readonly Families[] = ["both", "IPv4", "IPv6"];
const AT_ONCE = 16;
const ALL = { timeoutMs: 60_000, pollMs: 250 };

/** As a person reads a Service's addresses. */
interface Row {
  readonly namespace: string;
  readonly name: string;
  /** In the order of the status, with commas. */
  readonly addresses: string;
}

export interface AllocateFigures {
  readonly services: number;
  /** From the first creation to the last one, and to the last address. */
  readonly lastServiceMs: number;
  readonly lastAddressMs: number;
  /** From the creation of each Service to its address. */
  readonly slowestMs: number;
  readonly medianMs: number;
  readonly doubleAllocations: number;
  readonly lostAddresses: number;
  /** Lines of the controller's table and of `kubectl get svc -A` that the other has not. */
  readonly differences: number;
}

export interface Allocated {
  readonly figures: AllocateFigures;
  /** What the controller says, as text. */
  readonly table: string;
}

/** Makes the Services, waits until each has what it asks for, looks, and removes them. */
export async function runAllocate(cluster: Cluster, count: number): Promise<Allocated> {
  const api = await openApiServer({ kubeconfig: machineKubeconfig(cluster), userAgent: "drill" });
  const numbers = Array.from({ length: count }, (_, number) => number);
  const names = numbers.map((number) => `s${number}`);
  try {
    const leader = await waitForLeader(cluster);
    await makeNamespace(api);
    for (const [name, addresses] of Object.entries(POOLS)) await makePool(api, name, addresses);
    const fromMs = Date.now();
    await forEach(numbers, AT_ONCE, (number) => makeService(api, `s${number}`, familiesOf(number)));
    await until(`${count} Services have their addresses`, ALL, async () => haveAll(await readServices(api), numbers));
    const rows = await controllerRows(leader);
    const differences = differencesOf(rows, kubectlRows(await kubectl(cluster, ["get", "svc", "-A"])));
    return { figures: { ...(await measure(cluster, fromMs)), services: count, differences }, table: formatRows(rows) };
  } finally {
    await forEach(names, AT_ONCE, (name) => removeService(api, name));
    await tidy(api);
    api.close();
  }
}

/** Prints the table and the figures, or one line of JSON. */
export async function allocateDrill(cluster: Cluster, isJson: boolean): Promise<void> {
  const { figures, table } = await runAllocate(cluster, 500);
  const nodes = cluster.topology.nodes.length;
  if (isJson) {
    process.stdout.write(`${JSON.stringify({ drill: "allocate", run: 1, nodes, ...figures })}\n`);
    return;
  }
  const { services, lastServiceMs, lastAddressMs, slowestMs, medianMs, doubleAllocations, lostAddresses, differences } =
    figures;
  process.stdout.write(`\ndrill allocate, ${nodes} nodes: ${services} Services, 3 pools, both families
${table}the last Service ${lastServiceMs} ms after the first one, the last address ${lastAddressMs} ms; from a Service to its address ${medianMs} ms (median), ${slowestMs} ms (slowest)
${doubleAllocations} double allocations, ${lostAddresses} lost addresses, ${differences} differences from kubectl get svc -A
`);
}

async function tidy(api: ApiServer): Promise<void> {
  for (const name of Object.keys(POOLS)) await removePool(api, name);
  await removeNamespace(api);
}

function familiesOf(number: number): Families {
  return FAMILIES[number % FAMILIES.length] ?? "both";
}

function haveAll(services: ReadonlyMap<string, readonly string[]>, numbers: readonly number[]): boolean {
  return numbers.every((number) => {
    const wanted = familiesOf(number) === "both" ? 2 : 1;
    return services.get(`s${number}`)?.length === wanted;
  });
}

async function measure(cluster: Cluster, fromMs: number): Promise<Omit<AllocateFigures, "services" | "differences">> {
  const log = auditLogPath({ folder: controlFolder(cluster) });
  const all = await readServiceWrites(log, (namespace) => namespace === ALLOCATION_NAMESPACE);
  const writes = all.filter(({ atMs }) => atMs >= fromMs);
  const { doubles, lost, without, waitsMs } = judgeAllocation(writes, CONTROLLER_USER);
  if (without.length > 0) throw new ArpeggioError("ERR_INTERNAL_ARGUMENT", `${without.join(", ")} have no address`);
  const sorted = waitsMs.toSorted((a, b) => a - b);
  const [first] = writes;
  const last = writes.findLast(({ user }) => user === CONTROLLER_USER);
  const lastService = writes.findLast(({ addresses, user }) => addresses.length === 0 && user !== CONTROLLER_USER);
  const sinceFirstMs = (write: ServiceWrite | undefined) =>
    Math.round((write?.atMs ?? fromMs) - (first?.atMs ?? fromMs));
  return {
    lastServiceMs: sinceFirstMs(lastService),
    lastAddressMs: sinceFirstMs(last),
    slowestMs: Math.round(sorted.at(-1) ?? 0),
    medianMs: Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0),
    doubleAllocations: doubles.length,
    lostAddresses: lost.length,
  };
}

interface AddressesDocument {
  readonly items: readonly {
    readonly address: string;
    readonly services: readonly { readonly namespace: string; readonly name: string }[];
  }[];
}

/** Of every pool that the controller knows. */
async function controllerRows(leader: ControllerProcess): Promise<readonly Row[]> {
  const { items: pools } = (await readController(leader, "/pools")) as {
    readonly items: readonly { readonly name: string }[];
  };
  const addresses = new Map<string, string[]>();
  for (const { name } of pools) {
    const document = await readController(leader, `/pools/${name}/addresses?limit=10000`);
    for (const { address, services } of (document as AddressesDocument).items) {
      for (const service of services) {
        const key = `${service.namespace}/${service.name}`;
        addresses.set(key, [...(addresses.get(key) ?? []), address]);
      }
    }
  }
  return [...addresses].map(([key, found]) => {
    const [namespace = "", name = ""] = key.split("/");
    // IPv4 first, as it is given.
    const inOrder = found.toSorted((a, b) => Number(a.includes(":")) - Number(b.includes(":")));
    return { namespace, name, addresses: inOrder.join(",") };
  });
}

/** Lines of `kubectl get svc -A` with an address: NAMESPACE NAME TYPE CLUSTER-IP EXTERNAL-IP PORT(S) AGE. */
function kubectlRows(text: string): readonly Row[] {
  return text.split("\n").flatMap((line) => {
    const [namespace = "", name = "", type, , addresses = ""] = line.trim().split(/\s+/);
    return type === "LoadBalancer" && !addresses.startsWith("<") ? [{ namespace, name, addresses }] : [];
  });
}

function differencesOf(ours: readonly Row[], theirs: readonly Row[]): number {
  const texts = (rows: readonly Row[]) => new Set(rows.map((row) => JSON.stringify(row)));
  const missing = (from: ReadonlySet<string>, rows: readonly Row[]) =>
    [...texts(rows)].filter((text) => !from.has(text));
  return missing(texts(ours), theirs).length + missing(texts(theirs), ours).length;
}

function formatRows(rows: readonly Row[]): string {
  const sorted = rows.toSorted((a, b) => a.namespace.localeCompare(b.namespace) || a.name.localeCompare(b.name));
  const cells = sorted.map(({ namespace, name, addresses }) => [namespace, name, addresses]);
  return formatTable(["NAMESPACE", "NAME", "EXTERNAL-IP"], cells);
}
