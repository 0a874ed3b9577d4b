/** Everything around a Service, for tests of decisions. */
import { Book, type Holder } from "../../src/allocator/book.ts";
import { NodeAddresses } from "../../src/allocator/node-addresses.ts";
import type { AllocatorPool } from "../../src/allocator/pool.ts";
import { PoolSet } from "../../src/allocator/pool-set.ts";
import { type Outcome, reconcile, type Settings, statusAddresses } from "../../src/allocator/reconcile.ts";
import { Reservations } from "../../src/allocator/reservations.ts";
import { type AllocatorService, ageOf } from "../../src/allocator/service.ts";
import { sharingOf } from "../../src/allocator/sharing.ts";
import type { World } from "../../src/allocator/world.ts";
import { ips } from "./objects.ts";

export const NOW_MS = Date.parse("2026-03-01T00:00:00Z");
export const SETTINGS: Settings = { loadBalancerClass: "", writesConditions: true };

export interface Surroundings {
  readonly pools: readonly AllocatorPool[];
  readonly others?: readonly AllocatorService[];
  /** Labels by namespace. */
  readonly namespaces?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly nodes?: Readonly<Record<string, readonly string[]>>;
  readonly reservations?: Reservations;
}

export function world({ pools, namespaces = {}, nodes = {}, reservations = new Reservations() }: Surroundings): World {
  return {
    pools: new PoolSet(pools),
    namespaces: new Map(Object.entries(namespaces).map(([name, labels]) => [name, { name, labels }])),
    nodes: new NodeAddresses(new Map(Object.entries(nodes).map(([name, texts]) => [name, ips(...texts)]))),
    reservations,
  };
}

export function bookOf(services: readonly AllocatorService[]): Book {
  return new Book(services.map(holderOf));
}

function holderOf(service: AllocatorService): Holder {
  return { ...ageOf(service), addresses: statusAddresses(service), sharing: sharingOf(service) };
}

export function outcomeOf(service: AllocatorService, surroundings: Surroundings, settings = SETTINGS): Outcome {
  return reconcile(service, world(surroundings), bookOf(surroundings.others ?? []), settings, NOW_MS);
}

/** Reasons of the events, and the reason of the refusal. */
export function saidOf({ events }: Outcome): readonly string[] {
  return events.map(({ reason }) => reason);
}
