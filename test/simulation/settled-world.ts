/** Where stories begin: plain worlds whose founders have settled. */
import { expect } from "chai";
import type { Ip } from "../../src/net/ip.ts";
import type { Machine } from "./machine.ts";
import { speakerTenant } from "./speaker-tenant.ts";
import type { Answerer } from "./witness.ts";
import { World } from "./world.ts";
import { planOf } from "./world-plan.ts";

/** Three to seven founders that have settled, and who answers for each address. */
export function settledWorld(
  nodes: number,
  services: number,
  kind: { readonly isSticky?: boolean; readonly isStrict?: true } = {},
) {
  const world = new World(planOf({ nodes, services, closeLookMs: 5, ...kind }), speakerTenant());
  const heard = new Map<Ip, readonly string[]>();
  const overlapsMs = new Map<Ip, number>();
  const doubleSinceMs = new Map<Ip, number>();
  world.witnesses.push({
    answered: (atMs, ip, answerers: readonly Answerer[]) => {
      const names = answerers.map(({ node }) => node);
      heard.set(ip, names);
      if (names.length < 2) doubleSinceMs.delete(ip);
      else {
        const sinceMs = doubleSinceMs.get(ip) ?? atMs;
        doubleSinceMs.set(ip, sinceMs);
        overlapsMs.set(ip, Math.max(overlapsMs.get(ip) ?? 0, atMs - sinceMs));
      }
    },
  });
  for (const machine of world.machines) world.start(machine);
  world.run(20_000);
  overlapsMs.clear();
  return { world, heard, overlapsMs };
}

export function leaderOf(world: World, heard: ReadonlyMap<Ip, readonly string[]>, ip: Ip): Machine {
  const [name] = heard.get(ip) ?? [];
  return world.machine(name ?? expect.fail(`nobody answers for ${ip}`));
}

/** One address, those who may lead it, the best first, and who has answered for it since it was asked last. */
export function rankedAddress(nodes: number, kind: { readonly isStrict?: true } = {}) {
  const { world } = settledWorld(nodes, 1, kind);
  let names = new Set<string>();
  world.witnesses.push({ answered: (_atMs, _ip, answerers) => answerers.forEach(({ node }) => void names.add(node)) });
  const answered = (): readonly string[] => {
    const before = names;
    names = new Set();
    return [...before];
  };
  const candidates = world.machines[0]?.view()?.decisions[0]?.candidates ?? [];
  const [first, second, third] = candidates.map((name) => world.machine(name));
  if (first === undefined || second === undefined || third === undefined) throw new Error("too few candidates");
  return { world, first, second, third, answered };
}

/** One address of three nodes: its leader, and another node. */
export function ledAddress(kind: { readonly isSticky?: boolean } = {}) {
  const { world, heard, overlapsMs } = settledWorld(3, 1, kind);
  const [ip] = world.addresses;
  if (ip === undefined) throw new Error("no address");
  const old = leaderOf(world, heard, ip);
  const [other] = world.machines.filter(({ name }) => name !== old.name);
  if (other === undefined) throw new Error("no other");
  return { world, heard, overlapsMs, ip, old, other };
}
