/**
 * Under policy Local an endpoint that has just turned ready cannot be reached yet through its node: kube-proxy writes its rules
 * at most once a second (`minSyncPeriod`). Until it has, the node comes after all that serve already (docs/decisions). Pure.
 */
import type { AddressGroup, Derived, GroupService } from "./group.ts";

/** One `minSyncPeriod` of kube-proxy (1 s unless configured) and as much again for a busy node. */
const FRESH_MS = 2_000;
const NONE: ReadonlyMap<string, number> = new Map();

/** A Service as it was derived last, and until when its nodes are fresh. */
interface Seen {
  readonly derived: GroupService;
  readonly marked: GroupService;
  readonly untilMs: ReadonlyMap<string, number>;
}

/** Objects that nothing comes of are passed through: readers tell by identity what changed. */
export class FreshEndpoints {
  #seen: ReadonlyMap<string, Seen> = new Map();
  #groups: ReadonlyMap<string, AddressGroup> = new Map();
  #deadlineMs: number | undefined;

  /** When the first fresh endpoint stops being fresh; undefined when there is none. */
  get deadlineMs(): number | undefined {
    return this.#deadlineMs;
  }

  /** What a Service begins with is not fresh: nobody served it before. */
  mark(derived: Derived, nowMs: number): Derived {
    const seen = new Map<string, Seen>();
    const groups = new Map<string, AddressGroup>();
    const marked = derived.groups.map((group) => {
      const services = group.services.map((service) => this.#markService(service, seen, nowMs));
      if (services.every((service, index) => service === group.services[index])) return group;
      const known = this.#groups.get(group.key);
      const isKnown = known?.services.every((service, index) => service === services[index]) === true;
      const found = isKnown && known.services.length === services.length ? known : { ...group, services };
      groups.set(group.key, found);
      return found;
    });
    this.#seen = seen;
    this.#groups = groups;
    const deadlines = [...seen.values()].flatMap(({ untilMs }) => (untilMs === NONE ? [] : [...untilMs.values()]));
    this.#deadlineMs = deadlines.length === 0 ? undefined : Math.min(...deadlines);
    return groups.size === 0 ? derived : { ...derived, groups: marked };
  }

  #markService(service: GroupService, seen: Map<string, Seen>, nowMs: number): GroupService {
    if (service.externalTrafficPolicy !== "Local" || service.isServedEverywhere) return service;
    const name = `${service.namespace}/${service.name}`;
    const known = this.#seen.get(name);
    const untilMs = known === undefined ? NONE : freshUntil(known, service, nowMs);
    let marked = service;
    if (untilMs !== NONE) {
      const isAsBefore = known?.derived === service && known.untilMs.size === untilMs.size;
      marked = isAsBefore ? known.marked : { ...service, freshNodes: new Set(untilMs.keys()) };
    }
    seen.set(name, { derived: service, marked, untilMs });
    return marked;
  }
}

/** A node that served until now has its rule, whether its endpoint was ready or only terminating. */
function freshUntil(known: Seen, service: GroupService, nowMs: number): ReadonlyMap<string, number> {
  if (known.derived === service && known.untilMs === NONE) return NONE;
  const { readyNodes, terminatingNodes } = known.derived;
  const found = new Map<string, number>();
  for (const node of service.readyNodes) {
    const servedBefore = readyNodes.has(node) || terminatingNodes.has(node);
    const untilMs = servedBefore ? known.untilMs.get(node) : nowMs + FRESH_MS;
    if (untilMs !== undefined && untilMs > nowMs) found.set(node, untilMs);
  }
  return found.size === 0 ? NONE : found;
}
