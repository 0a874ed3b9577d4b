/**
 * `decide` for one view after the other, a few groups at a time: until a group has its turn, its last decision stands. The same
 * decision is the same object, so that readers tell by identity what changed. Pure, but for its own state.
 */
import { isDeepStrictEqual } from "node:util";
import { type ListDifference, listDifference } from "../base/list-difference.ts";
import { isSameList } from "../base/same-list.ts";
import type { AddressGroup } from "../desired/group.ts";
import { hasSameValues } from "../desired/keyed-difference.ts";
import type { Ip } from "../net/ip.ts";
import type { Decision, ElectionView, MemberView } from "./decision.ts";
import { Electorate } from "./electorate.ts";
import type { RankHeads } from "./rank-hash.ts";
import { RankMemory } from "./rank-memory.ts";

/** What work costs, in about microseconds of a slow machine. A decision that changes is followed by duties, claims and reports. */
const VISIT_COST = 1;
const HASH_COST = 1;
const PASSED_COST = 0.05;
const CHANGE_COST = 25;
/** As many profiles are judged to learn whether a view changes anything; with more the groups are gone through, in their turn. */
const PROFILES_AT_ONCE = 64;
const PROFILES_KEPT = 1_000;

interface Entry {
  readonly group: AddressGroup;
  decisions: readonly Decision[];
  /** Of the view that they were decided by; undefined before the first. */
  generation: number | undefined;
  /** No group of this election any more. */
  isGone: boolean;
}

const NO_ENTRIES: IterableIterator<Entry> = [].values();

export class Election {
  readonly #memory: RankMemory;
  #electorate: Electorate | undefined;
  #members: ReadonlySet<string> = new Set();
  #generation = 0;
  #groups: readonly AddressGroup[] = [];
  readonly #entryOf = new Map<AddressGroup, Entry>();
  readonly #entryOfIp = new Map<Ip, Entry>();
  /** Entries that were not decided under the last view. */
  #pending = 0;
  /** Those of them that were never decided, or not since something changed that is theirs alone. */
  readonly #new = new Set<Entry>();
  /** What was there when the view changed: what nobody led then, and all of it; both as far as they were not gone through yet. */
  #leaderless: IterableIterator<Entry> = NO_ENTRIES;
  #rest: IterableIterator<Entry> = NO_ENTRIES;
  /** As long as nothing has changed since it was asked for. */
  #decisions: readonly Decision[] | undefined = [];
  readonly #gone = new Set<Decision>();
  readonly #come = new Set<Decision>();

  /** @param heads works out the hashes that nodes are ranked by: always the same ones, but some ways are faster */
  constructor(heads?: RankHeads) {
    this.#memory = new RankMemory(heads);
  }

  /** In the order of the groups. Groups that are new and had no turn yet are missing. */
  get decisions(): readonly Decision[] {
    this.#decisions ??= this.#groups.flatMap((group) => this.#entryOf.get(group)?.decisions ?? []);
    return this.#decisions;
  }

  /** Every group was decided under the last view. */
  get isDone(): boolean {
    return this.#pending === 0;
  }

  /**
   * Takes groups and view as they are now and decides what the budget allows; what is left of the budget. Groups of the `asked`
   * addresses are decided whatever the budget: another node speaks of them, and an answer of before would be wrong.
   */
  advance(groups: readonly AddressGroup[], view: ElectionView, budget: number, asked: Iterable<Ip> = []): number {
    const before = this.#generation;
    const electorate = this.#takeView(view);
    const walkCost = this.#generation === before ? 0 : PASSED_COST * this.#entryOf.size;
    this.#takeGroups(groups, electorate);
    for (const ip of asked) {
      const entry = this.#entryOfIp.get(ip);
      if (entry !== undefined && entry.generation !== this.#generation) this.#decide(entry, electorate);
    }
    return this.#pending === 0 ? budget : this.#work(electorate, budget - walkCost);
  }

  /** Other holders of these addresses are known than when their groups were decided: they are decided anew, in their turn. */
  holdersChanged(addresses: Iterable<Ip>): void {
    for (const ip of addresses) {
      const entry = this.#entryOfIp.get(ip);
      if (entry === undefined || entry.generation !== this.#generation) continue;
      entry.generation = undefined;
      this.#new.add(entry);
      this.#pending++;
    }
  }

  /** What has changed since this was asked for last. */
  takeChanges(): ListDifference<Decision> {
    const changes = { gone: [...this.#gone], come: [...this.#come] };
    this.#gone.clear();
    this.#come.clear();
    return changes;
  }

  #takeView(view: ElectionView): Electorate {
    const last = this.#electorate;
    if (last !== undefined && isSameView(last.view, view)) return last;
    const electorate = new Electorate(view, this.#memory);
    this.#electorate = electorate;
    this.#members = new Set(view.members.map(({ name }) => name));
    if (last !== undefined && last.profiles <= PROFILES_AT_ONCE && electorate.agreesWith(last)) return electorate;
    this.#generation++;
    this.#pending = this.#entryOf.size;
    this.#leaderless = [...this.#entryOf.values()].filter(this.#isLeaderless).values();
    this.#rest = this.#entryOf.values();
    this.#memory.prune(() => this.#keys(), this.#groups.length);
    return electorate;
  }

  #keys(): ReadonlySet<AddressGroup["key"]> {
    return new Set(this.#groups.flatMap(({ services }) => services.flatMap(({ addresses: [key] }) => key ?? [])));
  }

  #takeGroups(groups: readonly AddressGroup[], electorate: Electorate): void {
    if (this.#groups === groups) return;
    const { gone, come } = listDifference(this.#groups, groups);
    this.#groups = groups;
    this.#decisions = undefined;
    const left = new Map<string, Entry>();
    const freed = new Set<string>();
    for (const group of gone) {
      const entry = this.#remove(group);
      if (entry !== undefined) left.set(group.key, entry);
      for (const ip of group.addresses) freed.add(ip);
    }
    for (const group of come) {
      const before = left.get(group.key);
      const isOfSame = before !== undefined && isSameList(before.group.addresses, group.addresses);
      const entry = this.#add(group, isOfSame ? before.decisions : []);
      // What stood for its addresses is gone with their groups: whoever leads them must not stop for a moment.
      if (!isOfSame && group.addresses.some((ip) => freed.has(ip))) this.#decide(entry, electorate);
    }
    this.#memory.prune(() => this.#keys(), groups.length);
    // Profiles of groups that are gone are forgotten with the electorate that knew them.
    if (electorate.profiles > 2 * groups.length + PROFILES_KEPT) this.#electorate = undefined;
  }

  #add(group: AddressGroup, decisions: readonly Decision[]): Entry {
    const entry: Entry = { group, decisions, generation: undefined, isGone: false };
    this.#entryOf.set(group, entry);
    for (const ip of group.addresses) this.#entryOfIp.set(ip, entry);
    this.#new.add(entry);
    this.#pending++;
    for (const decision of decisions) this.#noteCome(decision);
    return entry;
  }

  #remove(group: AddressGroup): Entry | undefined {
    const entry = this.#entryOf.get(group);
    if (entry === undefined) return undefined;
    this.#entryOf.delete(group);
    entry.isGone = true;
    for (const ip of group.addresses) if (this.#entryOfIp.get(ip) === entry) this.#entryOfIp.delete(ip);
    this.#new.delete(entry);
    if (entry.generation !== this.#generation) this.#pending--;
    for (const decision of entry.decisions) this.#noteGone(decision);
    return entry;
  }

  #noteGone(decision: Decision): void {
    if (!this.#come.delete(decision)) this.#gone.add(decision);
  }

  #noteCome(decision: Decision): void {
    if (!this.#gone.delete(decision)) this.#come.add(decision);
  }

  /** Most urgent first: what nobody leads any more, then what has changed itself, then the rest. */
  #work(electorate: Electorate, budget: number): number {
    let left = this.#workThrough([...this.#new].filter(this.#isLeaderless).values(), electorate, budget);
    left = this.#workThrough(this.#leaderless, electorate, left);
    left = this.#workThrough(this.#new.values(), electorate, left);
    return this.#workThrough(this.#rest, electorate, left);
  }

  /** As far as the budget goes. An iterator of a Map or an array goes on where the last loop left it. */
  #workThrough(entries: IterableIterator<Entry>, electorate: Electorate, budget: number): number {
    let left = budget;
    if (left <= 0) return left;
    for (const entry of entries) {
      const isPending = entry.generation !== this.#generation && !entry.isGone;
      left -= isPending ? this.#decide(entry, electorate) : PASSED_COST;
      if (left <= 0) break;
    }
    return left;
  }

  readonly #isLeaderless = ({ decisions }: Entry): boolean =>
    decisions.length === 0 || decisions.some(({ leader }) => leader === undefined || !this.#members.has(leader));

  /** What it cost. */
  #decide(entry: Entry, electorate: Electorate): number {
    const hashesBefore = this.#memory.hashes;
    const decisions = electorate.decide(entry.group);
    entry.generation = this.#generation;
    this.#new.delete(entry);
    this.#pending--;
    const hashCost = HASH_COST * (this.#memory.hashes - hashesBefore);
    if (isSameList(decisions, entry.decisions)) return VISIT_COST + hashCost;
    for (const decision of entry.decisions) this.#noteGone(decision);
    for (const decision of decisions) this.#noteCome(decision);
    entry.decisions = decisions;
    this.#decisions = undefined;
    return VISIT_COST + hashCost + CHANGE_COST;
  }
}

/** Whether no member can stand otherwise in one than in the other. */
function isSameView(a: ElectionView, b: ElectionView): boolean {
  return (
    a.rule === b.rule &&
    a.source === b.source &&
    a.ignoresExcludeLabel === b.ignoresExcludeLabel &&
    isDeepStrictEqual(a.holders, b.holders) &&
    a.members.length === b.members.length &&
    a.members.every((member, index) => isSameMember(member, b.members[index])) &&
    hasSameValues(a.nodes, b.nodes) &&
    isDeepStrictEqual(a.notYetCounted, b.notYetCounted)
  );
}

/** How long a node is ready, and what it can, orders nobody. */
function isSameMember({ name, word }: MemberView, other: MemberView | undefined): boolean {
  if (other?.name !== name || (word === undefined) !== (other.word === undefined)) return false;
  if (word === other.word || word === undefined || other.word === undefined) return true;
  return (
    word.isTruncated === other.word.isTruncated &&
    isDeepStrictEqual(word.flags, other.word.flags) &&
    isDeepStrictEqual(word.links, other.word.links) &&
    isDeepStrictEqual(word.prefixes, other.word.prefixes)
  );
}
