/** What our programs asked of the API server in a stretch of time in which nothing happened. Pure. */
import { formatTable } from "../../../src/http/table.ts";
import type { AuditRequest } from "./audit-log.ts";

export interface Quiet {
  /** Watches that were begun anew: the server ends each after some minutes. */
  readonly watches: number;
  /** Lists of kinds that most clusters do not have, looked for every ten minutes. */
  readonly bgpLists: number;
  readonly writes: number;
  /** Everything else: lists, single reads, paths. */
  readonly others: number;
  /** Alike requests: verb, resource, how many. */
  readonly rows: readonly (readonly [string, string, number])[];
}

const READS = new Set(["get", "list", "watch"]);
const BGP = new Set(["bgpadvertisements", "bgppeers"]);

/** Of the requests that arrived from `fromMs` on: a watch that was there before is none of them. */
export function summarizeQuiet(requests: readonly AuditRequest[], fromMs: number): Quiet {
  const figures = { watches: 0, bgpLists: 0, writes: 0, others: 0 };
  const rows = new Map<string, [string, string, number]>();
  for (const request of requests) {
    if (request.atMs < fromMs) continue;
    figures[kindOf(request)]++;
    const name = request.resource ?? request.path;
    const row = rows.get(`${request.verb} ${name}`) ?? [request.verb, name, 0];
    row[2]++;
    rows.set(`${request.verb} ${name}`, row);
  }
  return { ...figures, rows: [...rows.values()] };
}

export function formatQuiet({ rows }: Quiet): string {
  return formatTable(
    ["VERB", "RESOURCE", "REQUESTS"],
    rows.map(([verb, resource, requests]) => [verb, resource, String(requests)]),
  );
}

function kindOf({ verb, resource = "" }: AuditRequest): "watches" | "bgpLists" | "writes" | "others" {
  if (!READS.has(verb)) return "writes";
  if (verb === "watch") return "watches";
  return verb === "list" && BGP.has(resource) ? "bgpLists" : "others";
}
