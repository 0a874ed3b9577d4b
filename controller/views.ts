/** What the allocator knows, as the documents that HTTP shows. Pure. */
import type {
  AllocationDocument,
  ControllerStatusDocument,
  ImpactDocument,
  PendingDocument,
  PoolAddressesDocument,
  PoolsDocument,
} from "../api/allocator.ts";
import type { Allocator } from "../src/allocator/allocator.ts";
import { poolImpact } from "../src/allocator/impact.ts";
import { readPool } from "../src/allocator/pool.ts";
import { numbersOf } from "../src/allocator/pool-reports.ts";
import { statusAddresses } from "../src/allocator/reconcile.ts";
import { refusalCode } from "../src/allocator/refusal-text.ts";
import type { ServiceKey } from "../src/allocator/service.ts";
import { type AddressEntry, type Explanation, explain, poolAddresses } from "../src/allocator/views.ts";
import { fieldOf } from "../src/desired/resource-readers.ts";
import { parseChunk } from "../src/files/parse-documents.ts";
import type { AllocatorFaces } from "../src/http/allocator-server.ts";
import type { Ip } from "../src/net/ip.ts";

/** What HTTP shows of the allocator, whatever its Services come from. */
export function viewsOf(
  allocator: Allocator,
  wallMs: () => number,
): Pick<AllocatorFaces, "readPools" | "readAddresses" | "readService" | "readPending" | "readImpact"> {
  return {
    readPools: () => poolsView(allocator),
    readAddresses: (pool, limit, after) => addressesView(allocator, pool, limit, after),
    readService: (namespace, name) => serviceView(allocator, `${namespace}/${name}`, wallMs()),
    readPending: () => pendingView(allocator, wallMs()),
    readImpact: (text) => impactView(allocator, text),
  };
}

export function serviceCounts({ table, waiting }: Allocator): ControllerStatusDocument["services"] {
  const services = [...table.entries.values()].map(({ service }) => service);
  const allocated = services.filter(({ isLoadBalancer, ingress }) => isLoadBalancer && ingress.length > 0).length;
  return { known: services.length, allocated, pending: waiting.length };
}

export function poolsView({ surroundings, table }: Allocator): PoolsDocument {
  const { world } = surroundings;
  const counts = new Map<string, number>();
  for (const { service } of table.entries.values()) {
    const pool = world?.pools.poolOf(statusAddresses(service))?.name;
    if (pool !== undefined) counts.set(pool, (counts.get(pool) ?? 0) + 1);
  }
  const items = (world?.pools.all ?? []).map((pool) => {
    const problem = world?.pools.faultOf(pool);
    return {
      name: pool.name,
      autoAssign: pool.autoAssign,
      ...numbersOf(pool, surroundings, table.book.used),
      services: counts.get(pool.name) ?? 0,
      ...(problem === undefined ? {} : { problem }),
    };
  });
  return { items };
}

/** Undefined when there is no such pool. */
function addressesView(
  allocator: Allocator,
  pool: string,
  limit: number,
  after: Ip | undefined,
): PoolAddressesDocument | undefined {
  // One more, to know whether there is more.
  const found = poolAddresses(allocator, pool, limit + 1, after);
  if (found === undefined) return undefined;
  const items = found.slice(0, limit).map(addressItem);
  const last = items.at(-1);
  return { items, ...(found.length > limit && last !== undefined ? { continue: last.address } : {}) };
}

/** Undefined when no such Service is known, or nothing is decided yet. */
function serviceView(allocator: Allocator, key: ServiceKey, wallMs: number): AllocationDocument | undefined {
  const explanation = explain(allocator, key, wallMs);
  if (explanation === undefined) return undefined;
  const { outcome, isPending, pools } = explanation;
  const { reason, message } = said(explanation);
  return {
    ...nameOf(key),
    allocated: outcome.concern === "ours" && outcome.refusal === undefined,
    addresses: outcome.addresses,
    ...(outcome.pool === undefined ? {} : { pool: outcome.pool }),
    reason,
    message,
    isPending,
    pools: pools.map(({ name, answer }) => ({
      name,
      admitted: answer === "automatic" || answer === "by-name",
      reason: answer,
    })),
  };
}

function pendingView(allocator: Allocator, wallMs: number): PendingDocument {
  const items = allocator.waiting.flatMap((key) => {
    const explanation = explain(allocator, key, wallMs);
    return explanation === undefined ? [] : [{ ...nameOf(key), ...said(explanation) }];
  });
  return { items };
}

/** `text`: a manifest of a pool; a sentence when it is none. */
function impactView(allocator: Allocator, text: string): ImpactDocument | string {
  const parsed = parseChunk(text);
  if (!parsed.ok) return `line ${parsed.line}: ${parsed.message}`;
  const value = parsed.documents[0]?.value;
  const pool = fieldOf(value, "kind") === "IPAddressPool" ? readPool(value) : undefined;
  if (parsed.documents.length !== 1 || pool === undefined) return "the body must be one IPAddressPool with a name";
  const { world } = allocator.surroundings;
  if (world === undefined || !allocator.isComplete) return "nothing is decided yet: the folder was not read completely";
  const services = [...allocator.table.entries.values()].map(({ service }) => service);
  const { fault, moves } = poolImpact(pool, services, world, allocator.settings);
  return {
    ...(fault === undefined ? {} : { problem: fault }),
    moves: moves.map(({ service, from, to, why }) => ({
      ...nameOf(service),
      from,
      to,
      ...(why === undefined ? {} : { message: why }),
    })),
  };
}

function said({ outcome, sentence }: Explanation): { readonly reason: string; readonly message: string } {
  const { concern, refusal, addresses, pool } = outcome;
  switch (concern) {
    case "not-load-balancer":
      return { reason: "NotLoadBalancer", message: "spec.type is not LoadBalancer: it gets no address" };
    case "other-class":
      return { reason: "OtherClass", message: "spec.loadBalancerClass is another one: it is left alone" };
    case "being-deleted":
      return { reason: "BeingDeleted", message: "it is being deleted: what it has is kept until it is gone" };
    case "ours":
      if (refusal !== undefined) return { reason: refusalCode(refusal), message: sentence ?? "" };
      return { reason: "Allocated", message: `${addresses.join(", ")} from IPAddressPool ${pool ?? ""}` };
    default:
      return concern satisfies never;
  }
}

function addressItem({ address, services, sharingKey, keptFor }: AddressEntry): PoolAddressesDocument["items"][number] {
  return {
    address,
    services: services.map(({ key, ports }) => ({ ...nameOf(key), ports })),
    ...(sharingKey === undefined ? {} : { key: sharingKey }),
    ...(keptFor === undefined
      ? {}
      : {
          keptFor: {
            ...nameOf(keptFor.key),
            ...(keptFor.untilMs === undefined ? {} : { until: new Date(keptFor.untilMs).toISOString() }),
          },
        }),
  };
}

function nameOf(key: ServiceKey): { readonly namespace: string; readonly name: string } {
  const [namespace = "", name = ""] = key.split("/");
  return { namespace, name };
}
