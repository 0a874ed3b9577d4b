/** An IPAddressPool as the allocator needs it. Pure. */
import { POOL_ANNOTATIONS } from "../../api/annotations.ts";
import { fieldOf, RESOURCE_READERS, readResource } from "../desired/resource-readers.ts";
import { fault } from "../desired/sentence.ts";
import type { PoolFacts } from "../desired/snapshot.ts";
import { type Ip, ipToBigInt } from "../net/ip.ts";
import { parseDurationMs } from "./duration.ts";

export interface AllocatorPool extends PoolFacts {
  /** Empty where there is no API server. */
  readonly uid: string;
  /** Services that name no pool may get addresses of it. */
  readonly autoAssign: boolean;
  /** IPv4 addresses that end in .0 or .255 are not its own. */
  readonly avoidsBuggyIps: boolean;
  /** It has a serviceAllocation, if only a priority: it is tried before the pools for everybody. */
  readonly isPinned: boolean;
  /** Lower is tried first; 0 comes last. */
  readonly priority: number;
  /** How long an address is kept for the name of a deleted Service. */
  readonly reserveForMs?: number;
  /** `spec.addresses` as written, one for each range unless the pool is refused. */
  readonly entries: readonly string[];
  /** Why the pool is refused: it gives nothing new, what can be read of it goes on counting. */
  readonly fault?: string;
  /** What is wrong with it though it counts. */
  readonly remark?: string;
  /** `status` as it stands; absent without one, or when it is not whole. */
  readonly shown?: PoolNumbers;
}

/** `IPAddressPool.status`: decimal text, because JSON's numbers lose digits above 2^53. */
export interface PoolNumbers {
  readonly assignedIPv4: string;
  readonly assignedIPv6: string;
  readonly availableIPv4: string;
  readonly availableIPv6: string;
}

const NUMBER_FIELDS = ["assignedIPv4", "assignedIPv6", "availableIPv4", "availableIPv6"] as const;

/** A pool of any form; undefined for what has no name. Numbers of its status may be text. */
export function readPool(value: unknown): AllocatorPool | undefined {
  const metadata = fieldOf(value, "metadata");
  const name = fieldOf(metadata, "name");
  if (typeof name !== "string" || name === "") return undefined;
  const { change, fault: found } = readResource(RESOURCE_READERS.IPAddressPool, value, name);
  if (change?.kind !== "pools" || change.facts === undefined) return undefined;
  const spec = fieldOf(value, "spec");
  const allocation = fieldOf(spec, "serviceAllocation");
  const priority = fieldOf(allocation, "priority");
  const shown = shownOf(fieldOf(value, "status"));
  const uid = fieldOf(metadata, "uid");
  return {
    ...change.facts,
    uid: typeof uid === "string" ? uid : "",
    autoAssign: fieldOf(spec, "autoAssign") !== false,
    avoidsBuggyIps: fieldOf(spec, "avoidBuggyIPs") === true,
    isPinned: typeof allocation === "object" && allocation !== null,
    priority: typeof priority === "number" ? priority : 0,
    entries: textsOf(fieldOf(spec, "addresses")),
    ...reserveFor(fieldOf(fieldOf(metadata, "annotations"), POOL_ANNOTATIONS.reserveFor)),
    ...(found === undefined ? {} : { fault: found.sentence }),
    ...(shown === undefined ? {} : { shown }),
  };
}

/** An IPv4 address that ends in .0 or .255: some old clients take it for a network or broadcast address. */
export function isBuggy(ip: Ip): boolean {
  if (ip.includes(":")) return false;
  const last = ipToBigInt(ip) & 0xffn;
  return last === 0n || last === 0xffn;
}

function reserveFor(text: unknown): Pick<AllocatorPool, "reserveForMs" | "remark"> {
  if (text === undefined) return {};
  const reserveForMs = typeof text === "string" ? parseDurationMs(text) : undefined;
  if (reserveForMs !== undefined) return { reserveForMs };
  const must = "must be a duration such as 90m, 24h or 7d; no address is kept";
  return { remark: fault(["metadata", "annotations", POOL_ANNOTATIONS.reserveFor], text, must).sentence };
}

function shownOf(status: unknown): PoolNumbers | undefined {
  const numbers = NUMBER_FIELDS.map((field) => fieldOf(status, field));
  const [assignedIPv4, assignedIPv6, availableIPv4, availableIPv6] = numbers.map((number) =>
    typeof number === "number" || typeof number === "string" || typeof number === "bigint" ? String(number) : undefined,
  );
  if (assignedIPv4 === undefined || assignedIPv6 === undefined) return undefined;
  if (availableIPv4 === undefined || availableIPv6 === undefined) return undefined;
  return { assignedIPv4, assignedIPv6, availableIPv4, availableIPv6 };
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}
