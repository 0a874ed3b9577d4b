/** Pools, namespaces, Nodes and reservations as they were last read, and what follows from them alone. */
import { isDeepStrictEqual } from "node:util";
import { lastGood } from "../desired/last-good.ts";
import type { NamespaceFacts } from "../desired/snapshot.ts";
import type { Ip } from "../net/ip.ts";
import { NodeAddresses } from "./node-addresses.ts";
import type { AllocatorPool } from "./pool.ts";
import { PoolSet } from "./pool-set.ts";
import { ReservedLines } from "./reserved-lines.ts";
import type { World } from "./world.ts";

export class Surroundings {
  readonly lines = new ReservedLines();
  #pools: PoolSet | undefined;
  #namespaces: ReadonlyMap<string, NamespaceFacts> | undefined;
  #nodes: NodeAddresses | undefined;
  #world: World | undefined;
  #nodesIn: ReadonlyMap<string, readonly Ip[]> | undefined;

  /** Undefined until everything was read once: then nothing may be decided. */
  get world(): World | undefined {
    const { reservations } = this.lines;
    if (this.#pools === undefined || this.#namespaces === undefined) return undefined;
    if (this.#nodes === undefined || reservations === undefined) return undefined;
    if (this.#world?.reservations !== reservations) this.#world = undefined;
    this.#world ??= { pools: this.#pools, namespaces: this.#namespaces, nodes: this.#nodes, reservations };
    return this.#world;
  }

  /** Nodes' own addresses by the name of the pool that contains them. */
  get nodesIn(): ReadonlyMap<string, readonly Ip[]> {
    this.#nodesIn ??= nodesIn(this.#pools, this.#nodes);
    return this.#nodesIn;
  }

  /** False when nothing in them counts that did not before; what their status shows does not count. */
  readPools(read: readonly AllocatorPool[]): boolean {
    const before = this.#pools;
    const pools = new PoolSet(read.map((pool) => standing(before?.named(pool.name), pool)));
    const isSame = before !== undefined && isDeepStrictEqual(before.all.map(withoutShown), pools.all.map(withoutShown));
    this.#pools = pools;
    this.#forget();
    return !isSame;
  }

  readNamespaces(namespaces: ReadonlyMap<string, NamespaceFacts>): boolean {
    const isSame = isDeepStrictEqual(this.#namespaces, namespaces);
    this.#namespaces = namespaces;
    this.#forget();
    return !isSame;
  }

  readNodes(nodes: ReadonlyMap<string, readonly Ip[]>): boolean {
    const next = new NodeAddresses(nodes);
    const isSame = this.#nodes !== undefined && isDeepStrictEqual(this.#nodes.all.toSorted(), next.all.toSorted());
    this.#nodes = next;
    this.#forget();
    return !isSame;
  }

  #forget(): void {
    this.#world = undefined;
    this.#nodesIn = undefined;
  }
}

/** A pool that is refused now goes on as it was, with what it can say now: refusing never takes an address away. */
function standing(before: AllocatorPool | undefined, now: AllocatorPool): AllocatorPool {
  if (now.fault === undefined || before === undefined || before.uid !== now.uid) return now;
  const stands = lastGood(
    { kind: "pools", key: now.name, facts: before },
    { kind: "pools", key: now.name, facts: now },
  );
  const { shown: _shown, ...kept } = before;
  const ranges = stands?.kind === "pools" && stands.facts !== undefined ? stands.facts.ranges : now.ranges;
  return { ...kept, ranges, fault: now.fault, ...(now.shown === undefined ? {} : { shown: now.shown }) };
}

function withoutShown({ shown: _shown, ...pool }: AllocatorPool): Omit<AllocatorPool, "shown"> {
  return pool;
}

function nodesIn(pools: PoolSet | undefined, nodes: NodeAddresses | undefined): ReadonlyMap<string, readonly Ip[]> {
  const found = new Map<string, Ip[]>();
  for (const ip of nodes?.all ?? []) {
    const pool = pools?.poolAround(ip);
    if (pool === undefined) continue;
    const others = found.get(pool.name);
    if (others === undefined) found.set(pool.name, [ip]);
    else others.push(ip);
  }
  return found;
}
