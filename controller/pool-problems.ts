/** What is wrong with the pools, as the ConfigurationState says it. Pure. */
import type { Allocator } from "../src/allocator/allocator.ts";
import type { ResourceProblem } from "../src/kube/watched.ts";

/** Undefined: they were not read yet. */
export function poolProblems({ surroundings }: Allocator, namespace: string): readonly ResourceProblem[] | undefined {
  const { world } = surroundings;
  if (world === undefined) return undefined;
  const { pools } = world;
  return pools.all.flatMap((pool) => {
    const sentence = pools.faultOf(pool);
    if (sentence === undefined) return [];
    const { name, uid } = pool;
    const title = `IPAddressPool ${namespace}/${name}: ${sentence}`;
    return [{ kind: "IPAddressPool", namespace, name, uid, sentence: title, problem: "refused" as const }];
  });
}
