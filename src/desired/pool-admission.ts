/** Which Services a pool is for: `spec.serviceAllocation`, as MetalLB's allocator reads it. Pure. */
import { NAMESPACE_LABELS } from "../../api/annotations.ts";
import { anySelectorMatches, type Labels, selectorMatches } from "./selectors.ts";
import type { ClusterSnapshot, PoolFacts, ServiceFacts } from "./snapshot.ts";

/** The namespace test holds where the pool names or selects namespaces, the Service test where it selects Services; both, where both. */
export function admits(
  { allocation }: PoolFacts,
  { namespace, labels }: Pick<ServiceFacts, "namespace" | "labels">,
  namespaces: ClusterSnapshot["namespaces"],
): boolean {
  if (allocation === undefined) return true;
  const { namespaceSelectors, serviceSelectors } = allocation;
  const isForAnyNamespace = allocation.namespaces.length === 0 && namespaceSelectors.length === 0;
  return (
    (isForAnyNamespace ||
      allocation.namespaces.includes(namespace) ||
      namespaceSelectors.some((selector) => selectorMatches(selector, labelsOf(namespace, namespaces)))) &&
    anySelectorMatches(serviceSelectors, labels)
  );
}

/** Whether labels of namespaces can matter to anything. */
export function selectsNamespaces(pools: ClusterSnapshot["pools"]): boolean {
  for (const { allocation } of pools.values()) if ((allocation?.namespaceSelectors.length ?? 0) > 0) return true;
  return false;
}

/** A namespace that no document describes, as with the files source, has the label that every namespace has. */
function labelsOf(namespace: string, namespaces: ClusterSnapshot["namespaces"]): Labels {
  return namespaces.get(namespace)?.labels ?? { [NAMESPACE_LABELS.name]: namespace };
}
