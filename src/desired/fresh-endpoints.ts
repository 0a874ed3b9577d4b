/**
 * Under policy Local an endpoint that has just turned ready cannot be reached yet through its node: kube-proxy writes its rules
 * at most once a second (`minSyncPeriod`). Until it has, the node comes after all that serve already (docs/decisions). Pure.
 */
import { listDifference } from "../base/list-difference.ts";
import { isSameList } from "../base/same-list.ts";
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

/** Objects that nothing comes of are passed through: readers tell by identity what changed. Groups that are as before are not looked at. */
export class FreshEndpoints {
  #derived: Derived = { groups: [], refused: [] };
  #marked: Derived = this.#derived;
  readonly #seen = new Map<string, Seen>();
  /** Names of the Services that have fresh nodes. */
  readonly #fresh = new Set<string>();
  /** What a derived group is with its marks, for those that have any. */
  readonly #groups = new Map<AddressGroup, AddressGroup>();

  /** When the first fresh endpoint stops being fresh; undefined when there is none. */
  get deadlineMs(): number | undefined {
    let deadlineMs: number | undefined;
    for (const name of this.#fresh) {
      for (const untilMs of this.#seen.get(name)?.untilMs.values() ?? []) {
        if (deadlineMs === undefined || untilMs < deadlineMs) deadlineMs = untilMs;
      }
    }
    return deadlineMs;
  }

  /** What a Service begins with is not fresh: nobody served it before. */
  mark(derived: Derived, nowMs: number): Derived {
    const { gone, come } = listDifference(this.#derived.groups, derived.groups);
    const before = new Map<string, AddressGroup>();
    for (const group of gone) {
      const known = this.#groups.get(group);
      if (known !== undefined) before.set(group.key, known);
      this.#groups.delete(group);
    }
    this.#forget(gone, come);
    const marked = [...this.#groups];
    let hasChanged = false;
    for (const group of come) this.#markGroup(group, before.get(group.key), nowMs);
    for (const [group, known] of marked) hasChanged = this.#markGroup(group, known, nowMs) !== known || hasChanged;
    if (derived === this.#derived && !hasChanged) return this.#marked;
    this.#derived = derived;
    this.#marked =
      this.#groups.size === 0
        ? derived
        : { ...derived, groups: derived.groups.map((group) => this.#groups.get(group) ?? group) };
    return this.#marked;
  }

  #forget(gone: readonly AddressGroup[], come: readonly AddressGroup[]): void {
    const kept = new Set(come.flatMap(({ services }) => services.map(nameOf)));
    for (const { services } of gone) {
      for (const name of services.map(nameOf)) {
        if (kept.has(name)) continue;
        this.#seen.delete(name);
        this.#fresh.delete(name);
      }
    }
  }

  /** The group with its marks, `known` if they are the same. */
  #markGroup(group: AddressGroup, known: AddressGroup | undefined, nowMs: number): AddressGroup {
    const services = group.services.map((service) => this.#markService(service, nowMs));
    if (isSameList(services, group.services)) {
      this.#groups.delete(group);
      return group;
    }
    const found = known !== undefined && isSameList(known.services, services) ? known : { ...group, services };
    this.#groups.set(group, found);
    return found;
  }

  #markService(service: GroupService, nowMs: number): GroupService {
    const name = nameOf(service);
    const known = this.#seen.get(name);
    if (service.externalTrafficPolicy !== "Local" || service.isServedEverywhere) {
      this.#seen.delete(name);
      this.#fresh.delete(name);
      return service;
    }
    const untilMs = known === undefined ? NONE : freshUntil(known, service, nowMs);
    let marked = service;
    if (untilMs !== NONE) {
      const isAsBefore = known?.derived === service && known.untilMs.size === untilMs.size;
      marked = isAsBefore ? known.marked : { ...service, freshNodes: new Set(untilMs.keys()) };
    }
    this.#seen.set(name, { derived: service, marked, untilMs });
    if (untilMs === NONE) this.#fresh.delete(name);
    else this.#fresh.add(name);
    return marked;
  }
}

function nameOf({ namespace, name }: GroupService): string {
  return `${namespace}/${name}`;
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
