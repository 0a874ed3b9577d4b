/** Where a Service is served, from its EndpointSlices (both families pooled). Pure. */
import { shared } from "../base/shared.ts";
import { changedKeys } from "./keyed-difference.ts";
import type { EndpointFacts, EndpointSliceFacts, ServiceFacts, SourceKind } from "./snapshot.ts";

export interface Serving {
  readonly readyNodes: ReadonlySet<string>;
  readonly terminatingNodes: ReadonlySet<string>;
  readonly hasServingEndpoint: boolean;
  readonly isServedEverywhere: boolean;
  readonly hasUnplacedEndpoint: boolean;
}

/** More different ways than that are hardly shared. */
const SERVINGS_KEPT = 1_000;
const NONE: ReadonlySet<string> = new Set();
const UNSERVED: Serving = {
  readyNodes: NONE,
  terminatingNodes: NONE,
  hasServingEndpoint: false,
  isServedEverywhere: false,
  hasUnplacedEndpoint: false,
};
const EVERYWHERE: Serving = { ...UNSERVED, hasServingEndpoint: true, isServedEverywhere: true };

/** Slices by `namespace/name` of their Service, kept from one snapshot to the next. */
export class SliceTable {
  readonly #known = new Map<string, EndpointSliceFacts>();
  readonly #byService = new Map<string, readonly EndpointSliceFacts[]>();

  get byService(): ReadonlyMap<string, readonly EndpointSliceFacts[]> {
    return this.#byService;
  }

  /** The Services, by `namespace/name`, of which a slice has changed. `keys`: of the slices that may be others than before. */
  take(slices: ReadonlyMap<string, EndpointSliceFacts>, keys?: Iterable<string>): ReadonlySet<string> {
    const touched = new Set<string>();
    for (const key of keys ?? changedKeys(this.#known, slices)) {
      const [gone, come] = [this.#known.get(key), slices.get(key)];
      if (gone !== undefined) touched.add(this.#remove(gone));
      if (come !== undefined) touched.add(this.#add(come));
      if (come === undefined) this.#known.delete(key);
      else this.#known.set(key, come);
    }
    return touched;
  }

  #remove(slice: EndpointSliceFacts): string {
    const service = serviceOf(slice);
    const left = (this.#byService.get(service) ?? []).filter((other) => other !== slice);
    if (left.length === 0) this.#byService.delete(service);
    else this.#byService.set(service, left);
    return service;
  }

  #add(slice: EndpointSliceFacts): string {
    const service = serviceOf(slice);
    const others = this.#byService.get(service);
    this.#byService.set(service, others === undefined ? [slice] : [...others, slice]);
    return service;
  }
}

function serviceOf({ namespace, serviceName }: EndpointSliceFacts): string {
  return `${namespace}/${serviceName}`;
}

/** Thousands of Services are served in the same few ways: equal ones are one object. It never changes an answer. */
export class SharedServing {
  readonly #known = new Map<string, Serving>();

  of(serving: Serving): Serving {
    return shared(this.#known, keyOf(serving), serving, SERVINGS_KEPT);
  }
}

/** Sets that are equal but for the order of the nodes are two. */
function keyOf({ readyNodes, terminatingNodes, ...rest }: Serving): string {
  const { hasServingEndpoint, isServedEverywhere, hasUnplacedEndpoint } = rest;
  const flags = [hasServingEndpoint, isServedEverywhere, hasUnplacedEndpoint];
  return JSON.stringify([[...readyNodes], [...terminatingNodes], flags]);
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
