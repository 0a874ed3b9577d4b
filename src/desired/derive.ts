/** What must be led: the snapshot reduced to address groups, or to one reason per Service that has none (DESIGN D3). */
import { isSameList } from "../base/same-list.ts";
import { type Ip, parseIp } from "../net/ip.ts";
import { createdMsOf } from "./creation.ts";
import { SharedServing, SliceTable, servingOf } from "./endpoints.ts";
import type { Derived, GroupService, RefusedService } from "./group.ts";
import { GroupTable, type TableRow } from "./group-table.ts";
import { changedKeys, hasSameValues } from "./keyed-difference.ts";
import { selectsNamespaces } from "./pool-admission.ts";
import { type JudgeRules, ServiceJudge } from "./service-judge.ts";
import type { ChangedKeys, ClusterSnapshot, EndpointSliceFacts, ServiceFacts } from "./snapshot.ts";

/** Refusals and groups come in order of age, so that equal snapshots give equal values whatever order they arrived in. */
export function derive(snapshot: ClusterSnapshot, rules: JudgeRules): Derived {
  return new Deriver().derive(snapshot, rules);
}

/** A Service of the last snapshot: what it was judged by, and what came of it. */
interface Row {
  readonly facts: ServiceFacts;
  readonly slices: readonly EndpointSliceFacts[];
  readonly judge: ServiceJudge;
  /** The same object while nothing of it has changed. */
  readonly result: TableRow;
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
  readonly #slices = new SliceTable();
  readonly #rows = new Map<string, Row>();
  readonly #serving = new SharedServing();
  readonly #table = new GroupTable();
  /** Slices and Services of a first reading that were not gone through yet. */
  #slicesToRead: string[] = [];
  #servicesToRead: string[] = [];

  /** False: the Services of a first reading are still being gone through, and groups are missing. */
  get isDone(): boolean {
    return this.#slicesToRead.length === 0 && this.#servicesToRead.length === 0;
  }

  /** Takes the first snapshot; `goOn` derives it. */
  begin(snapshot: ClusterSnapshot, rules: JudgeRules): void {
    this.#snapshot = snapshot;
    this.#rules = rules;
    this.#judge = new ServiceJudge(snapshot, rules);
    // From the end on.
    this.#slicesToRead = [...snapshot.endpointSlices.keys()].toReversed();
    this.#servicesToRead = [...snapshot.services.keys()].toReversed();
  }

  /** So many objects of the first snapshot. */
  goOn(objects: number): Derived {
    const snapshot = this.#snapshot;
    const judge = this.#judge;
    if (snapshot === undefined || judge === undefined) return this.#table.derived;
    const slices = this.#slicesToRead.splice(-objects);
    const touched = this.#slices.take(snapshot.endpointSlices, slices);
    // Services that came meanwhile were derived without these slices.
    const derivedAlready = [...touched].filter((key) => this.#rows.has(key));
    const left = objects - slices.length;
    const services = left > 0 ? this.#servicesToRead.splice(-left) : [];
    this.#takeServices(new Set([...derivedAlready, ...services]), snapshot, judge);
    return this.#table.derived;
  }

  /** `changed`: since the last snapshot, the same or another one; without it the two are compared. */
  derive(snapshot: ClusterSnapshot, rules: JudgeRules, changed?: ChangedKeys): Derived {
    const last = this.#snapshot?.source === snapshot.source ? this.#snapshot : undefined;
    this.#snapshot = snapshot;
    const isJudgedAlike = last !== undefined && this.#isJudgedAlike(last, snapshot, rules);
    const judge = isJudgedAlike && this.#judge !== undefined ? this.#judge : new ServiceJudge(snapshot, rules);
    this.#judge = judge;
    this.#rules = rules;
    const isSameMap = last?.endpointSlices === snapshot.endpointSlices;
    const touched = this.#slices.take(snapshot.endpointSlices, changed?.endpointSlices ?? (isSameMap ? [] : undefined));
    const keys = isJudgedAlike
      ? new Set([...(changed?.services ?? changedKeys(last.services, snapshot.services)), ...touched])
      : undefined;
    this.#takeServices(keys ?? allKeys(this.#rows, snapshot.services), snapshot, judge);
    return this.#table.derived;
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

  #takeServices(keys: ReadonlySet<string>, { services, source }: ClusterSnapshot, judge: ServiceJudge): void {
    const gone: TableRow[] = [];
    const come: TableRow[] = [];
    for (const key of keys) {
      const known = this.#rows.get(key);
      const facts = services.get(key);
      const row = facts === undefined ? undefined : this.#rowOf(facts, known, source, judge);
      if (row === undefined) this.#rows.delete(key);
      else this.#rows.set(key, row);
      if (row?.result === known?.result) continue;
      if (known !== undefined) gone.push(known.result);
      if (row !== undefined) come.push(row.result);
    }
    if (gone.length > 0 || come.length > 0) this.#table.replace(gone, come);
  }

  #rowOf(facts: ServiceFacts, known: Row | undefined, source: ClusterSnapshot["source"], judge: ServiceJudge): Row {
    const { namespace, name } = facts;
    const slices = this.#slices.byService.get(`${namespace}/${name}`) ?? NO_SLICES;
    if (known?.facts === facts && known.judge === judge && isSameList(known.slices, slices)) return known;
    const found = this.#resultOf(facts, known?.result, source, judge);
    const { result } = known ?? {};
    const isSame =
      result?.member === found.member && result?.refused === found.refused && result?.createdMs === found.createdMs;
    return { facts, slices, judge, result: isSame && result !== undefined ? result : found };
  }

  #resultOf(
    facts: ServiceFacts,
    known: TableRow | undefined,
    source: ClusterSnapshot["source"],
    judge: ServiceJudge,
  ): TableRow {
    const { namespace, name, externalTrafficPolicy } = facts;
    const addresses = parsedAddresses(facts);
    const createdMs = createdMsOf(facts.createdAt);
    const judged = judge.judge(facts, addresses);
    if (judged.reason !== undefined) {
      const refused = { namespace, name, addresses, ...judged };
      const isSame = known?.refused !== undefined && isSameRefusal(known.refused, refused);
      return { namespace, name, createdMs, refused: isSame ? known.refused : refused };
    }
    const serving = this.#serving.of(servingOf(facts, this.#slices.byService, source));
    // Field by field: there are thousands, and an object that is put together of others takes half as much again.
    const member = {
      namespace,
      name,
      addresses,
      externalTrafficPolicy,
      advertisements: judged.advertisements,
      readyNodes: serving.readyNodes,
      terminatingNodes: serving.terminatingNodes,
      hasServingEndpoint: serving.hasServingEndpoint,
      isServedEverywhere: serving.isServedEverywhere,
      hasUnplacedEndpoint: serving.hasUnplacedEndpoint,
    };
    const isSame = known?.member !== undefined && isSameMember(known.member, member);
    return { namespace, name, createdMs, member: isSame ? known.member : member };
  }
}

/** Each once, in the order written. */
function parsedAddresses(service: ServiceFacts): readonly Ip[] {
  const [first, ...others] = service.addresses;
  if (first !== undefined && others.length === 0) {
    const only = parseIp(first);
    if (only === undefined) return [];
    return only === first ? (service.addresses as readonly Ip[]) : [only];
  }
  return [...new Set(service.addresses.map(parseIp))].filter((ip) => ip !== undefined);
}

function allKeys(rows: ReadonlyMap<string, Row>, services: ClusterSnapshot["services"]): ReadonlySet<string> {
  return new Set([...rows.keys(), ...services.keys()]);
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
  if (a === b) return true;
  if (a.size !== b.size) return false;
  for (const value of a) if (!b.has(value)) return false;
  return true;
}
