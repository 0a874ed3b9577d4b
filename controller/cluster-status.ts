/** What the controller of a cluster says of itself. Reads, and never decides. */
import type { ControllerStatusDocument } from "../api/allocator.ts";
import { VERSION } from "../src/base/version.ts";
import { describePump } from "../src/daemon/pump-status.ts";
import { absentSentence } from "../src/kube/watch/source-status.ts";
import type { Cluster } from "./cluster.ts";
import { LEASE } from "./names.ts";
import type { Neighbours } from "./neighbours.ts";
import { poolProblems } from "./pool-problems.ts";
import { serviceCounts } from "./views.ts";

export function clusterStatus(
  cluster: Cluster,
  neighbours: Pick<Neighbours, "status">,
  {
    identity,
    namespace,
    startedAt,
  }: { readonly identity: string; readonly namespace: string; readonly startedAt: string },
): ControllerStatusDocument {
  const { source, apis } = cluster;
  const { allocator } = cluster.allocation;
  const waitsFor = waiting(cluster);
  return {
    version: VERSION,
    startedAt,
    state: stateOf(cluster),
    ...(waitsFor.length === 0 ? {} : { waitsFor }),
    source: {
      kind: "kubernetes",
      location: apis.reading.url,
      problems: [
        ...(source.absentKinds.length === 0 ? [] : [absentSentence(source.absentKinds)]),
        ...(poolProblems(allocator, namespace) ?? []).map(({ sentence }) => sentence),
        ...allocator.surroundings.lines.problems,
      ],
      updates: cluster.allocation.updates,
      watches: source.watches().map((watch) => ({ ...watch })),
    },
    lease: leaseOf(cluster, identity),
    neighbours: neighboursOf(neighbours),
    pools: allocator.surroundings.world?.pools.all.length ?? 0,
    services: serviceCounts(allocator),
    writes: writesOf(cluster),
  };
}

/** Whole sentences, the first says whether it is ready. */
export function clusterReadiness({ source }: Cluster): { readonly ok: boolean; readonly sentences: readonly string[] } {
  const missing = source
    .unlisted()
    .map(({ kind, lastError }) => `${kind}: not listed yet${lastError === undefined ? "" : ` (${lastError})`}`);
  const ok = source.isComplete;
  return { ok, sentences: [ok ? "ready" : "not ready: not everything was read yet", ...missing] };
}

function stateOf({ source, lease, leadership }: Cluster): ControllerStatusDocument["state"] {
  if (leadership.state === "allocating") return "allocating";
  if (!source.isComplete) return "reading";
  return lease.isHolder ? "waiting" : "standing-by";
}

function waiting({ gates, leadership }: Cluster): readonly string[] {
  const closed = gates.closedBecause();
  if (closed.length > 0 || leadership.state === "allocating") return closed;
  return ["everything is read anew before the first write"];
}

function neighboursOf(neighbours: Pick<Neighbours, "status">): NonNullable<ControllerStatusDocument["neighbours"]> {
  const { otherAllocators, problems, webhook } = neighbours.status();
  return {
    otherAllocators,
    problems,
    ...(webhook === undefined ? {} : { webhook: webhook.kind }),
    ...(webhook === undefined || !("why" in webhook) ? {} : { webhookStaysBecause: webhook.why }),
  };
}

function leaseOf({ lease }: Cluster, identity: string): NonNullable<ControllerStatusDocument["lease"]> {
  const { holder = "", renewedAt, transitions = 0 } = lease.lease?.record ?? {};
  return {
    name: LEASE,
    identity,
    isHeld: lease.isHolder,
    ...(holder === "" ? {} : { holder }),
    ...(renewedAt === undefined ? {} : { renewedAt }),
    transitions,
    ...(lease.failure === undefined ? {} : { problem: lease.failure }),
  };
}

function writesOf({ writer, objects, eventPump, events }: Cluster): NonNullable<ControllerStatusDocument["writes"]> {
  const { pending, written, conflicts, failed, lastError, lastErrorWallMs } = writer.status();
  return {
    services: {
      pending,
      written,
      conflicts,
      failed,
      ...(lastError === undefined ? {} : { lastError }),
      ...(lastErrorWallMs === undefined ? {} : { lastErrorAt: new Date(lastErrorWallMs).toISOString() }),
    },
    objects: describePump(objects.status()),
    events: { ...describePump(eventPump.status()), dropped: events.dropped },
  };
}
