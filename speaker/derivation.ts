/**
 * The first step of the council: from snapshots, as they are read, to the address groups that are to be led. Which configuration
 * counts, and what is derived of it, a part in each turn as long as the first snapshot is new.
 */
import { isDue } from "../src/base/deadlines.ts";
import { type Acceptance, acceptConfiguration } from "../src/desired/accept-configuration.ts";
import { Deriver } from "../src/desired/derive.ts";
import { FreshEndpoints } from "../src/desired/fresh-endpoints.ts";
import type { Derived } from "../src/desired/group.ts";
import { hasSameValues } from "../src/desired/keyed-difference.ts";
import type { ChangedKeys, ClusterSnapshot } from "../src/desired/snapshot.ts";
import type { Rule } from "../src/election/word.ts";
import type { Ip } from "../src/net/ip.ts";
import { type Prefix, prefixesOfRange } from "../src/net/prefix.ts";
import type { SpeakerSettings } from "./speaker-ports.ts";

/** Of the first snapshot, in one turn: some milliseconds. */
const OBJECTS_AT_ONCE = 150;
const NOTHING_DERIVED: Derived = { groups: [], refused: [] };

/** What a configuration is judged by: `metallb-1` accepts whole ones only. */
export interface Judgement {
  readonly rule: Rule;
  /** What this node answers for now: under `metallb-1` a configuration must not take the pool from under it. */
  readonly answering: ReadonlySet<Ip>;
}

export class Derivation {
  readonly #settings: Pick<SpeakerSettings, "loadBalancerClass" | "turnBudget">;
  readonly #deriver = new Deriver();
  readonly #fresh = new FreshEndpoints();
  /** As it was read last. */
  #read: ClusterSnapshot | undefined;
  /** As it counts. */
  #snapshot: ClusterSnapshot | undefined;
  /** By which rule it counts so. */
  #rule: Rule | undefined;
  #refusal: string | undefined;
  /** Some address was given up, or taken, since the configuration was last judged. */
  #mayAccept = false;
  /** All of the first snapshot was derived. */
  #isRead = false;
  /** What `#derived` is without the marks of fresh endpoints. */
  #judged: Derived = NOTHING_DERIVED;
  #derived: Derived = NOTHING_DERIVED;
  #poolPrefixes: readonly Prefix[] = [];

  constructor(settings: Pick<SpeakerSettings, "loadBalancerClass" | "turnBudget">) {
    this.#settings = settings;
  }

  /** Undefined before the first was read. */
  get snapshot(): ClusterSnapshot | undefined {
    return this.#snapshot;
  }

  /** Why the configuration as it was read does not count, a sentence; undefined when it does. */
  get refusal(): string | undefined {
    return this.#refusal;
  }

  get derived(): Derived {
    return this.#derived;
  }

  get poolPrefixes(): readonly Prefix[] {
    return this.#poolPrefixes;
  }

  /** There is a first snapshot, of which not all is derived. */
  get isReading(): boolean {
    return this.#snapshot !== undefined && !this.#isRead;
  }

  /** When an endpoint stops being fresh; undefined when none is. */
  get deadlineMs(): number | undefined {
    return this.#fresh.deadlineMs;
  }

  /** `changed`: what differs from the snapshot before; absent: anything may. */
  applySnapshot(snapshot: ClusterSnapshot, judgement: Judgement, nowMs: number, changed?: ChangedKeys): void {
    this.#read = snapshot;
    this.#accept(snapshot, judgement, nowMs, changed);
  }

  /** Derives the first snapshot, some objects a turn. True when that is done now. */
  goOnReading(nowMs: number): boolean {
    if (!this.isReading) return false;
    if (!this.#deriver.isDone) {
      this.#judged = this.#deriver.goOn(this.#settings.turnBudget ?? OBJECTS_AT_ONCE);
      this.#derived = this.#fresh.mark(this.#judged, nowMs);
    }
    this.#isRead = this.#deriver.isDone;
    return this.#isRead;
  }

  answeringChanged(): void {
    this.#mayAccept = true;
  }

  /**
   * What follows without a new snapshot. Refused once is not refused for good: the address may have been given up. Each rule reads
   * pools in its own way. And endpoints stop being fresh.
   */
  refresh(judgement: Judgement, nowMs: number): void {
    const mayCount = this.#refusal !== undefined && this.#mayAccept;
    if (this.#read !== undefined && (mayCount || judgement.rule !== this.#rule))
      this.#accept(this.#read, judgement, nowMs);
    else if (isDue(this.#fresh.deadlineMs, nowMs)) this.#derived = this.#fresh.mark(this.#judged, nowMs);
  }

  #accept(read: ClusterSnapshot, { rule, answering }: Judgement, nowMs: number, changed?: ChangedKeys): void {
    this.#mayAccept = false;
    this.#rule = rule;
    const isWhole = rule === "metallb-1";
    const before = this.#snapshot;
    const { snapshot, refusal }: Acceptance = isWhole
      ? acceptConfiguration(before, read, answering)
      : { snapshot: read };
    this.#refusal = refusal;
    this.#snapshot = snapshot;
    if (before === undefined || !hasSameValues(before.pools, snapshot.pools)) {
      this.#poolPrefixes = [...snapshot.pools.values()].flatMap(({ ranges }) => ranges.flatMap(prefixesOfRange));
    }
    const rules = { loadBalancerClass: this.#settings.loadBalancerClass, checksAdmission: !isWhole };
    if (before === undefined) return this.#deriver.begin(snapshot, rules);
    this.#judged = this.#deriver.derive(snapshot, rules, changed);
    this.#derived = this.#fresh.mark(this.#judged, nowMs);
  }
}
