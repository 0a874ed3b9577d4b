/** What is said of pools: numbers for their status, and a Warning where one contains a Node's own address. */
import { compareIps } from "../net/ip.ts";
import type { AddressSet } from "./address-set.ts";
import { nodeAddressText } from "./event-texts.ts";
import type { AllocatorPool, PoolNumbers } from "./pool.ts";
import { poolNumbers } from "./pool-numbers.ts";
import type { Effect } from "./ports.ts";
import { SaidEvents } from "./said-events.ts";
import type { Surroundings } from "./surroundings.ts";

export class PoolReports {
  /** What each pool was asked to show, and what it showed then: a later edit by hand is corrected. */
  readonly #asked = new Map<string, string>();
  readonly #said = new SaidEvents();

  effects(surroundings: Surroundings, used: AddressSet): readonly Effect[] {
    const { world } = surroundings;
    if (world === undefined) return [];
    const names = new Set(world.pools.all.map(({ name }) => name));
    for (const name of this.#asked.keys()) if (!names.has(name)) this.#asked.delete(name);
    return world.pools.all.flatMap((pool) => [
      ...this.#statusOf(pool, numbersOf(pool, surroundings, used)),
      ...this.#warningsOf(pool, surroundings),
    ]);
  }

  /** Asks for everything again that does not stand there. */
  forget(): void {
    this.#asked.clear();
  }

  #statusOf(pool: AllocatorPool, numbers: PoolNumbers): readonly Effect[] {
    const [wanted, shown] = [textOf(numbers), pool.shown === undefined ? "" : textOf(pool.shown)];
    const asked = `${wanted}|${shown}`;
    if (wanted === shown) this.#asked.delete(pool.name);
    if (wanted === shown || this.#asked.get(pool.name) === asked) return [];
    this.#asked.set(pool.name, asked);
    return [{ kind: "pool-status", pool: pool.name, uid: pool.uid, numbers }];
  }

  #warningsOf({ name, uid }: AllocatorPool, { world, nodesIn }: Surroundings): readonly Effect[] {
    const [lowest] = (nodesIn.get(name) ?? []).toSorted(compareIps);
    const texts = lowest === undefined ? [] : [nodeAddressText(name, lowest, world?.nodes.nodeOf(lowest) ?? "")];
    return this.#said
      .news(uid === "" ? name : uid, texts)
      .map((text) => ({ kind: "event", about: "IPAddressPool", key: name, uid, text }));
  }
}

export function numbersOf(
  pool: AllocatorPool,
  { world, nodesIn }: Pick<Surroundings, "world" | "nodesIn">,
  used: AddressSet,
): PoolNumbers {
  return poolNumbers(pool, used, nodesIn.get(pool.name) ?? [], world?.pools.gives(pool) ?? false);
}

function textOf({ assignedIPv4, assignedIPv6, availableIPv4, availableIPv6 }: PoolNumbers): string {
  return [assignedIPv4, assignedIPv6, availableIPv4, availableIPv6].join();
}
