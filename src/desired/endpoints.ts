/** Where a Service is served, from its EndpointSlices (both families pooled). Pure. */
import type { EndpointFacts, EndpointSliceFacts, ServiceFacts, SourceKind } from "./snapshot.ts";

export interface Serving {
  readonly readyNodes: ReadonlySet<string>;
  readonly terminatingNodes: ReadonlySet<string>;
  readonly hasServingEndpoint: boolean;
  readonly isServedEverywhere: boolean;
  readonly hasUnplacedEndpoint: boolean;
}

const NONE: ReadonlySet<string> = new Set();
const UNSERVED: Serving = {
  readyNodes: NONE,
  terminatingNodes: NONE,
  hasServingEndpoint: false,
  isServedEverywhere: false,
  hasUnplacedEndpoint: false,
};
const EVERYWHERE: Serving = { ...UNSERVED, hasServingEndpoint: true, isServedEverywhere: true };

/** Slices by `namespace/name` of their Service. */
export function slicesByService(
  slices: Iterable<EndpointSliceFacts>,
): ReadonlyMap<string, readonly EndpointSliceFacts[]> {
  const found = new Map<string, EndpointSliceFacts[]>();
  for (const slice of slices) {
    const key = `${slice.namespace}/${slice.serviceName}`;
    const list = found.get(key);
    if (list === undefined) found.set(key, [slice]);
    else list.push(slice);
  }
  return found;
}

/** With the files source a Service that has no slice at all is served on every node (DESIGN D2); a slice without endpoints says "nowhere". */
export function servingOf(
  service: ServiceFacts,
  slices: ReadonlyMap<string, readonly EndpointSliceFacts[]>,
  source: SourceKind,
): Serving {
  const own = slices.get(`${service.namespace}/${service.name}`);
  if (own === undefined) return source === "files" ? EVERYWHERE : UNSERVED;
  const readyNodes = new Set<string>();
  const terminatingNodes = new Set<string>();
  let hasServingEndpoint = false;
  let hasUnplacedEndpoint = false;
  for (const endpoint of own.flatMap((slice) => slice.endpoints)) {
    if (!isServing(endpoint)) continue;
    hasServingEndpoint = true;
    if (endpoint.nodeName === undefined) {
      hasUnplacedEndpoint = true;
      continue;
    }
    (isLeaving(endpoint) ? terminatingNodes : readyNodes).add(endpoint.nodeName);
  }
  for (const node of readyNodes) terminatingNodes.delete(node);
  return { readyNodes, terminatingNodes, hasServingEndpoint, isServedEverywhere: false, hasUnplacedEndpoint };
}

/** An absent `ready` counts as true; `serving` keeps an endpoint that is terminating or not yet ready. */
function isServing(endpoint: EndpointFacts): boolean {
  return endpoint.ready !== false || endpoint.serving === true;
}

/** `ready` is false for every terminating endpoint, but one with publishNotReadyAddresses may say true: it is leaving all the same. */
function isLeaving(endpoint: EndpointFacts): boolean {
  return endpoint.terminating === true;
}
