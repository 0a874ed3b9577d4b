/** What must be led: the snapshot reduced to address groups, or to one reason per Service that has none (DESIGN D3). */
import { type Ip, parseIp } from "../net/ip.ts";
import { createdMsOf } from "./creation.ts";
import { servingOf, slicesByService } from "./endpoints.ts";
import type { AddressGroup, Derived, GroupService, RefusedService } from "./group.ts";
import { joinByAddress } from "./join-by-address.ts";
import { selectsNamespaces } from "./pool-admission.ts";
import { type JudgeRules, ServiceJudge } from "./service-judge.ts";
import type { ClusterSnapshot, EndpointSliceFacts, ServiceFacts } from "./snapshot.ts";
import { compareText } from "./text-order.ts";

/** Refusals and groups come in order of age, so that equal snapshots give equal values whatever order they arrived in. */
export function derive(snapshot: ClusterSnapshot, rules: JudgeRules): Derived {
  return new Deriver().derive(snapshot, rules);
}

/** A Service of the last snapshot: what it was judged by, and what came of it. */
interface Row {
  readonly facts: ServiceFacts;
  readonly name: string;
  readonly createdMs: number;
  readonly slices: readonly EndpointSliceFacts[];
  readonly judge: ServiceJudge;
  readonly member?: GroupService;
  readonly refused?: RefusedService;
}

const NO_SLICES: readonly EndpointSliceFacts[] = [];

/**
 * `derive` for one snapshot after the other: what follows from facts that are the same objects as before is not worked out again,
 * and what is equal to last time is the same object, so that readers tell by identity what changed.
 */
export class Deriver {
  #rules: JudgeRules | undefined;
  #snapshot: ClusterSnapshot | undefined;
  #judge: ServiceJudge | undefined;
  #slices: ReadonlyMap<string, readonly EndpointSliceFacts[]> = new Map();
  #rows: ReadonlyMap<string, Row> = new Map();
  /** Keys of the rows, oldest first. */
  #order: readonly string[] = [];
  #groups: ReadonlyMap<Ip, AddressGroup> = new Map();
  #derived: Derived = { groups: [], refused: [] };

  derive(snapshot: ClusterSnapshot, rules: JudgeRules): Derived {
    const last = this.#snapshot?.source === snapshot.source ? this.#snapshot : undefined;
    this.#snapshot = snapshot;
    if (this.#judge === undefined || last === undefined || !this.#isJudgedAlike(last, snapshot, rules)) {
      this.#judge = new ServiceJudge(snapshot, rules);
    }
    this.#rules = rules;
    if (last === undefined || !hasSameValues(last.endpointSlices, snapshot.endpointSlices)) {
      this.#slices = slicesByService(snapshot.endpointSlices.values());
    }
    if (this.#takeServices(snapshot, this.#judge)) this.#join();
    return this.#derived;
  }

  #isJudgedAlike(last: ClusterSnapshot, next: ClusterSnapshot, rules: JudgeRules): boolean {
    return (
      this.#rules?.loadBalancerClass === rules.loadBalancerClass &&
      this.#rules.checksAdmission === rules.checksAdmission &&
      hasSameValues(last.pools, next.pools) &&
      hasSameValues(last.advertisements, next.advertisements) &&
      (!rules.checksAdmission || !selectsNamespaces(next.pools) || hasSameValues(last.namespaces, next.namespaces))
    );
  }

  /** Whether anything came of it. */
  #takeServices({ services, source }: ClusterSnapshot, judge: ServiceJudge): boolean {
    const before = this.#rows;
    const rows = new Map<string, Row>();
    const moved = new Set<string>();
    let hasChanged = false;
    for (const [key, facts] of services) {
      const known = before.get(key);
      const row = this.#rowOf(facts, known, source, judge);
      rows.set(key, row);
      hasChanged ||= row.member !== known?.member || row.refused !== known?.refused;
      if (row.createdMs !== known?.createdMs) moved.add(key);
    }
    this.#rows = rows;
    if (moved.size === 0 && rows.size === before.size) return hasChanged;
    // Nearly in order already, which is what sorting is quickest at.
    const kept = this.#order.filter((key) => rows.has(key) && !moved.has(key));
    this.#order = oldestFirst([...kept, ...moved], rows);
    return true;
  }

  #rowOf(facts: ServiceFacts, known: Row | undefined, source: ClusterSnapshot["source"], judge: ServiceJudge): Row {
    const name = known?.facts === facts ? known.name : `${facts.namespace}/${facts.name}`;
    const slices = this.#slices.get(name) ?? NO_SLICES;
    if (known?.facts === facts && known.judge === judge && isSameList(known.slices, slices)) return known;
    const addresses = parsedAddresses(facts);
    const identity = { namespace: facts.namespace, name: facts.name, addresses };
    const judged = judge.judge(facts, addresses);
    const row = { facts, name, createdMs: createdMsOf(facts.createdAt), slices, judge };
    if (judged.reason !== undefined) {
      const refused = { ...identity, ...judged };
      return {
        ...row,
        refused: known?.refused !== undefined && isSameRefusal(known.refused, refused) ? known.refused : refused,
      };
    }
    const { externalTrafficPolicy } = facts;
    const serving = servingOf(facts, this.#slices, source);
    const member = { ...identity, externalTrafficPolicy, advertisements: judged.advertisements, ...serving };
    return {
      ...row,
      member: known?.member !== undefined && isSameMember(known.member, member) ? known.member : member,
    };
  }

  #join(): void {
    const members: GroupService[] = [];
    const refused: RefusedService[] = [];
    for (const key of this.#order) {
      const row = this.#rows.get(key);
      if (row?.member !== undefined) members.push(row.member);
      if (row?.refused !== undefined) refused.push(row.refused);
    }
    const groups = joinByAddress(members).map((group) => {
      const known = this.#groups.get(group.key);
      return known !== undefined && isSameList(known.services, group.services) ? known : group;
    });
    this.#groups = new Map(groups.map((group) => [group.key, group]));
    this.#derived = { groups, refused };
  }
}

/** Each once, in the order written. */
function parsedAddresses(service: ServiceFacts): readonly Ip[] {
  const [first, ...others] = service.addresses;
  if (first !== undefined && others.length === 0) {
    const only = parseIp(first);
    return only === undefined ? [] : [only];
  }
  return [...new Set(service.addresses.map(parseIp))].filter((ip) => ip !== undefined);
}

/** By creation, then namespace/name. */
function oldestFirst(keys: readonly string[], rows: ReadonlyMap<string, Row>): string[] {
  const found = keys.map((key) => ({ key, row: rows.get(key) }));
  found.sort(
    (a, b) =>
      (a.row?.createdMs ?? 0) - (b.row?.createdMs ?? 0) ||
      compareText(a.row?.facts.namespace ?? "", b.row?.facts.namespace ?? "") ||
      compareText(a.row?.facts.name ?? "", b.row?.facts.name ?? ""),
  );
  return found.map(({ key }) => key);
}

/** Objects, not equal ones: whoever patches a snapshot keeps what did not change. */
function hasSameValues<Value>(a: ReadonlyMap<string, Value>, b: ReadonlyMap<string, Value>): boolean {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  for (const [key, value] of b) if (a.get(key) !== value) return false;
  return true;
}

function isSameList<Item>(a: readonly Item[], b: readonly Item[]): boolean {
  return a === b || (a.length === b.length && a.every((item, index) => item === b[index]));
}

function isSameRefusal(a: RefusedService, b: RefusedService): boolean {
  return (
    a.reason === b.reason &&
    a.namespace === b.namespace &&
    a.name === b.name &&
    a.pool === b.pool &&
    isSameList(a.addresses, b.addresses) &&
    isSameList(a.advertisements ?? [], b.advertisements ?? [])
  );
}

function isSameMember(a: GroupService, b: GroupService): boolean {
  return (
    a.namespace === b.namespace &&
    a.name === b.name &&
    a.externalTrafficPolicy === b.externalTrafficPolicy &&
    a.hasServingEndpoint === b.hasServingEndpoint &&
    a.isServedEverywhere === b.isServedEverywhere &&
    a.hasUnplacedEndpoint === b.hasUnplacedEndpoint &&
    isSameList(a.addresses, b.addresses) &&
    isSameList(a.advertisements, b.advertisements) &&
    isSameSet(a.readyNodes, b.readyNodes) &&
    isSameSet(a.terminatingNodes, b.terminatingNodes)
  );
}

function isSameSet(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  if (a.size !== b.size) return false;
  for (const value of a) if (!b.has(value)) return false;
  return true;
}
