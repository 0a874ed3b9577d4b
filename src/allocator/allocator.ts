/**
 * The whole allocator as a machine without I/O: news in by `note`, effects out by `settle`. `note` only marks; several may come before
 * one `settle`. What has an address in the book, because a Service says so or because it was asked for, is given to nobody else.
 */
import { PoolReports } from "./pool-reports.ts";
import type { AllocatorEvent, Effect, Leadership, WriteAnswer } from "./ports.ts";
import { concernOf, type Outcome, reconcile, type Settings, statusAddresses } from "./reconcile.ts";
import { isNotNewer } from "./resource-version.ts";
import { SaidEvents } from "./said-events.ts";
import { type AllocatorService, compareAge, keyOf, type ServiceKey } from "./service.ts";
import { type Consequence, type PendingWrite, type ServiceEntry, ServiceTable } from "./service-table.ts";
import { Surroundings } from "./surroundings.ts";
import { secondsText } from "./time-text.ts";
import type { World } from "./world.ts";

/** Who waits is tried again at least so often, whatever happens. */
const RETRY_MS = 600_000;
/** After a write that failed, doubled each time. */
const FIRST_HOLD_OFF_MS = 1_000;
const LAST_HOLD_OFF_MS = RETRY_MS;
/** How long a newer version is waited for after a 409. */
const READ_AGAIN_MS = 5_000;
/** A write that got no answer may still arrive, but not after so long: each has a time limit of 4 s. Until then a fence holds, too. */
const STRAY_MS = 10_000;

export class Allocator {
  readonly #settings: Settings;
  readonly #table: ServiceTable;
  readonly #surroundings = new Surroundings();
  readonly #reports = new PoolReports();
  readonly #said = new SaidEvents();
  /** To be decided. */
  readonly #dirty = new Set<ServiceKey>();
  /** Something they want is missing. */
  readonly #waiting = new Set<ServiceKey>();
  /** Held off until a time, or asked for in vain. */
  readonly #delayed = new Set<ServiceKey>();
  /** Decided at least once by this process. */
  readonly #decided = new Set<ServiceKey>();
  #isListed = false;
  #leadership: Leadership = { kind: "stand-by" };
  /** Name of a leadership that has yet to fence. */
  #fenceName: string | undefined;
  #fenceUntilMs = 0;
  #retryMs = 0;
  #isBookNews = true;
  #lastId = 0;
  /** Of `note`, told by the next `settle`. */
  readonly #effects: Effect[] = [];
  /** Written since the last `settle`: their events are due. */
  readonly #written: (readonly [entry: ServiceEntry, write: PendingWrite])[] = [];
  #nowMs = 0;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#table = new ServiceTable(settings);
  }

  get settings(): Settings {
    return this.#settings;
  }

  get table(): Omit<ServiceTable, "learn" | "forget" | "setPending" | "rebuild"> {
    return this.#table;
  }

  get surroundings(): Pick<Surroundings, "world" | "nodesIn" | "lines"> {
    return this.#surroundings;
  }

  get leads(): boolean {
    return this.#leadership.kind === "lead";
  }

  /** Everything was read once: until then nothing is decided. */
  get isComplete(): boolean {
    return this.#isListed && this.#surroundings.world !== undefined;
  }

  /** Services that something is missing for, oldest first. */
  get waiting(): readonly ServiceKey[] {
    return this.#inOrder(this.#waiting);
  }

  /** When `settle` has something to do though nothing happens; undefined: when something does. */
  get dueMs(): number | undefined {
    if (!this.isComplete || !this.leads) return undefined;
    const delayed = [...this.#delayed].flatMap((key) => {
      const entry = this.#table.entries.get(key);
      return entry === undefined ? [] : [entry.pending?.dueMs ?? entry.heldOffMs];
    });
    const fence = this.#isFencing() ? [this.#fenceUntilMs] : [];
    return Math.min(this.#retryMs, this.#surroundings.lines.dueMs ?? this.#retryMs, ...fence, ...delayed);
  }

  /** `nowMs`: wall time. */
  note(event: AllocatorEvent, nowMs: number): void {
    this.#nowMs = nowMs;
    switch (event.kind) {
      case "services":
        this.#list(event.services, event.place);
        break;
      case "service":
        this.#learn(event.service);
        break;
      case "service-gone":
        if (!this.#isAfter(event.key, event.place)) this.#forget(event.key);
        break;
      case "pools":
        this.#isBookNews = true;
        if (this.#surroundings.readPools(event.pools)) this.#decideAll();
        break;
      case "namespaces":
        if (this.#surroundings.readNamespaces(event.namespaces)) this.#decideAll();
        break;
      case "nodes":
        if (this.#surroundings.readNodes(event.nodes)) this.#decideWaiting();
        this.#isBookNews = true;
        break;
      case "reservations":
        if (this.#surroundings.lines.read(event.reserved, event.pinned)) this.#decideWaiting();
        break;
      case "written":
        this.#answer(event);
        break;
      case "lead":
      case "stand-by":
        this.#lead(event);
        break;
      default:
        event satisfies never;
    }
  }

  /** Decides what is to be decided, in order of creation. `nowMs`: wall time. */
  settle(nowMs: number): readonly Effect[] {
    this.#nowMs = nowMs;
    const { world } = this.#surroundings;
    if (world === undefined || !this.#isListed || !this.leads) return [];
    this.#passTime(nowMs);
    for (const [entry, write] of this.#written.splice(0)) this.#say(entry, write);
    if (this.#fenceName !== undefined) this.#fence(this.#fenceName);
    if (!this.#isFencing()) for (const key of this.#inOrder(this.#dirty)) this.#decide(key);
    const reserved = this.#surroundings.lines.toWrite();
    if (reserved !== undefined) this.#effects.push({ kind: "reserve", reserved });
    if (this.#isBookNews) this.#effects.push(...this.#reports.effects(this.#surroundings, this.#table.book.used));
    this.#isBookNews = false;
    return this.#effects.splice(0);
  }

  #list(services: readonly AllocatorService[], place: string | undefined): void {
    const listed = new Set(services.map(keyOf));
    for (const key of this.#table.entries.keys()) if (!listed.has(key) && !this.#isAfter(key, place)) this.#forget(key);
    for (const service of services) this.#learn(service);
    this.#table.rebuild();
    if (!this.#isListed) this.#decideAll();
    this.#isListed = true;
  }

  /** An answer to a request may be younger than what a watch tells later. */
  #isAfter(key: ServiceKey, place: string | undefined): boolean {
    const entry = this.#table.entries.get(key);
    return entry !== undefined && place !== undefined && !isNotNewer(entry.service.resourceVersion, place);
  }

  #learn(service: AllocatorService): void {
    const key = keyOf(service);
    const known = this.#table.entries.get(key);
    if (known !== undefined && isNotNewer(service.resourceVersion, known.service.resourceVersion)) return;
    // Deleted and made anew between two looks.
    if (known !== undefined && known.service.uid !== service.uid) this.#forget(key);
    const consequence = this.#table.learn(service);
    if (consequence === undefined) return;
    for (const ip of statusAddresses(service)) this.#surroundings.lines.taken(ip);
    this.#dirty.add(key);
    this.#delayed.delete(key);
    const entry = this.#table.entries.get(key);
    if (entry !== undefined && consequence.written !== undefined) this.#written.push([entry, consequence.written]);
    this.#follow(consequence);
  }

  #forget(key: ServiceKey): void {
    const entry = this.#table.entries.get(key);
    if (entry === undefined) return;
    this.#reserveFor(entry);
    const consequence = this.#table.forget(key);
    for (const keys of [this.#dirty, this.#waiting, this.#delayed, this.#decided]) keys.delete(key);
    this.#said.forget(entry.service.uid);
    this.#follow(consequence);
  }

  /** A pool may ask that what a deleted Service had is kept for its name. */
  #reserveFor({ service, age }: ServiceEntry): void {
    const { world } = this.#surroundings;
    const addresses = statusAddresses(service);
    const isOurs = service.isLoadBalancer && concernOf(service, this.#settings) !== "other-class";
    if (world === undefined || !isOurs || addresses.length === 0) return;
    const reserveForMs = world.pools.poolOf(addresses)?.reserveForMs;
    if (reserveForMs !== undefined)
      this.#surroundings.lines.keep(age.key, addresses.slice(0, 2), this.#nowMs + reserveForMs);
  }

  #follow({ isFreeing, isJoining, neighbours }: Consequence): void {
    this.#isBookNews = true;
    for (const key of neighbours) this.#dirty.add(key);
    if (isFreeing || isJoining) this.#decideWaiting();
  }

  #answer(event: WriteAnswer): void {
    const { key, id } = event;
    // The answer may come after the news that the Service is gone.
    if (event.answer === "done" && this.#table.entries.has(key)) this.#learn(event.service);
    const entry = this.#table.entries.get(key);
    const pending = entry?.pending;
    if (entry === undefined || pending?.id !== id) return;
    switch (event.answer) {
      case "gone":
        this.#forget(key);
        break;
      case "conflict":
        this.#readAgain(entry, pending);
        break;
      case "unknown":
        this.#askLater(entry, { ...pending, strayUntilMs: this.#nowMs + STRAY_MS });
        break;
      case "refused":
        if (this.#nowMs < pending.strayUntilMs) this.#askLater(entry, pending);
        else this.#giveUp(entry);
        break;
      // A write that changed nothing left the version as it was: to decide at once would be to ask for it for ever.
      case "done":
        this.#giveUp(entry);
        break;
      default:
        event satisfies never;
    }
  }

  #askLater(entry: ServiceEntry, pending: PendingWrite): void {
    this.#delay(entry, { ...pending, state: "unknown", dueMs: this.#holdOffMs(entry) });
  }

  /** What was asked for does not count any more; decided again after a while. */
  #giveUp(entry: ServiceEntry): void {
    entry.heldOffMs = this.#holdOffMs(entry);
    this.#dirty.add(entry.age.key);
    this.#delay(entry, undefined);
  }

  /** What was asked for may count no longer: it is known only when a newer version was seen. */
  #readAgain(entry: ServiceEntry, pending: PendingWrite): void {
    this.#delay(entry, { ...pending, state: "conflict", dueMs: this.#nowMs + READ_AGAIN_MS });
    this.#effects.push({ kind: "read-again", key: entry.age.key });
  }

  #delay(entry: ServiceEntry, pending: PendingWrite | undefined): void {
    this.#delayed.add(entry.age.key);
    this.#follow(this.#table.setPending(entry, pending));
  }

  #holdOffMs(entry: ServiceEntry): number {
    const delayMs = Math.min(FIRST_HOLD_OFF_MS * 2 ** entry.failures, LAST_HOLD_OFF_MS);
    entry.failures++;
    return this.#nowMs + delayMs;
  }

  #lead(event: Leadership): void {
    this.#leadership = event;
    this.#fenceName = event.kind === "lead" && this.#settings.writesConditions ? event.fence : undefined;
    this.#effects.length = 0;
    this.#written.length = 0;
    this.#delayed.clear();
    this.#reports.forget();
    for (const entry of this.#table.entries.values()) {
      entry.heldOffMs = 0;
      entry.failures = 0;
      if (entry.pending !== undefined) this.#table.setPending(entry, undefined);
    }
    this.#isBookNews = true;
    this.#decideAll();
  }

  #passTime(nowMs: number): void {
    if (this.#surroundings.lines.expire(nowMs)) this.#decideWaiting();
    // A clock that was set back must not make anybody wait longer.
    if (nowMs >= this.#retryMs || this.#retryMs > nowMs + RETRY_MS) {
      this.#retryMs = nowMs + RETRY_MS;
      this.#decideWaiting();
    }
    for (const key of this.#inOrder(this.#delayed)) {
      const entry = this.#table.entries.get(key);
      if (entry === undefined || (entry.pending?.dueMs ?? entry.heldOffMs) > nowMs) continue;
      this.#delayed.delete(key);
      if (entry.pending === undefined) this.#dirty.add(key);
      else if (entry.pending.state === "conflict") this.#readAgain(entry, entry.pending);
      else this.#ask(entry, { ...entry.pending, state: "sent" });
    }
  }

  /** Every Service that has no address gets a condition that says so, before anybody gets one. */
  #fence(name: string): void {
    this.#fenceName = undefined;
    this.#fenceUntilMs = this.#nowMs + STRAY_MS;
    for (const key of this.#inOrder(this.#table.entries.keys())) {
      const entry = this.#table.entries.get(key);
      if (entry === undefined || entry.service.ingress.length > 0) continue;
      if (concernOf(entry.service, this.#settings) !== "ours") continue;
      entry.fencedMessage = entry.service.condition?.message;
      const lastTransitionTime = secondsText(this.#nowMs);
      const message = `controller ${name} took over and decides again`;
      const condition = { status: "Unknown", reason: "ControllerChanged", message, lastTransitionTime } as const;
      this.#askFor(entry, { change: { condition }, addresses: [], events: [], isFence: true });
    }
  }

  #isFencing(): boolean {
    // A clock that was set back must not hold everybody up.
    if (this.#nowMs >= this.#fenceUntilMs || this.#nowMs < this.#fenceUntilMs - STRAY_MS) return false;
    for (const { pending } of this.#table.entries.values()) if (pending?.isFence === true) return true;
    return false;
  }

  #decide(key: ServiceKey): void {
    const entry = this.#table.entries.get(key);
    const { world } = this.#surroundings;
    if (entry === undefined || world === undefined) return;
    this.#dirty.delete(key);
    // Decided when the answer is there, or when the time has come.
    if (entry.pending !== undefined || this.#delayed.has(key)) return;
    const outcome = this.#reconcile(entry, world);
    if (outcome.isWaiting) this.#waiting.add(key);
    else this.#waiting.delete(key);
    const isFirst = !this.#decided.has(key);
    this.#decided.add(key);
    const { change, addresses, events } = outcome;
    if (change !== undefined) this.#askFor(entry, { change, addresses, events, isFence: false });
    else this.#sayNews(entry, events, isFirst && this.#settings.writesConditions);
  }

  #reconcile(entry: ServiceEntry, world: World): Outcome {
    return this.#table.without(entry, () =>
      reconcile(entry.service, world, this.#table.book, this.#settings, this.#nowMs),
    );
  }

  #askFor(entry: ServiceEntry, write: Pick<PendingWrite, "change" | "addresses" | "events" | "isFence">): void {
    const strayUntilMs = write.isFence ? this.#fenceUntilMs : 0;
    this.#ask(entry, { ...write, id: ++this.#lastId, state: "sent", dueMs: 0, strayUntilMs });
    this.#isBookNews = true;
  }

  #ask(entry: ServiceEntry, pending: PendingWrite): void {
    const { service, age } = entry;
    if (this.#table.setPending(entry, pending).isJoining) this.#decideWaiting();
    const { uid, resourceVersion } = service;
    this.#effects.push({ kind: "write", id: pending.id, key: age.key, uid, resourceVersion, change: pending.change });
  }

  #say(entry: ServiceEntry, { events, change, isFence }: PendingWrite): void {
    if (isFence) return;
    const isKnown = entry.fencedMessage !== undefined && change.condition?.message === entry.fencedMessage;
    entry.fencedMessage = undefined;
    this.#sayNews(entry, events, isKnown);
  }

  #sayNews({ service, age }: ServiceEntry, events: Outcome["events"], isKnown: boolean): void {
    for (const text of this.#said.news(service.uid, events, isKnown))
      this.#effects.push({ kind: "event", about: "Service", key: age.key, uid: service.uid, text });
  }

  #decideAll(): void {
    for (const key of this.#table.entries.keys()) this.#dirty.add(key);
  }

  #decideWaiting(): void {
    for (const key of this.#waiting) this.#dirty.add(key);
  }

  #inOrder(keys: Iterable<ServiceKey>): readonly ServiceKey[] {
    const entries = [...keys].flatMap((key) => this.#table.entries.get(key) ?? []);
    return entries.toSorted((a, b) => compareAge(a.age, b.age)).map(({ age }) => age.key);
  }
}
