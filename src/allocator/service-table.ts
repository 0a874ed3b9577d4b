/** The Services as they were last seen, what is being written for them, and the book that follows from both. */
import type { Ip } from "../net/ip.ts";
import { Book, type Holder } from "./book.ts";
import type { EventText } from "./event-texts.ts";
import { concernOf, isWritten, type Settings, type StatusChange, statusAddresses } from "./reconcile.ts";
import { isNotNewer } from "./resource-version.ts";
import { type Age, type AllocatorService, ageOf, type ServiceKey } from "./service.ts";
import { isSameSharing, sharingOf } from "./sharing.ts";

/** A change that was asked for. It was decided on the version that is known, and can be written to no other. */
export interface PendingWrite {
  readonly id: number;
  readonly change: StatusChange;
  /** What the Service has when it is written; until then it has that and what its status says. */
  readonly addresses: readonly Ip[];
  /** Said when it is written. */
  readonly events: readonly EventText[];
  readonly state: "sent" | "unknown" | "conflict";
  /** When it is asked for again, unless it was sent. */
  readonly dueMs: number;
  readonly isFence: boolean;
  /** Until then one that got no answer may still arrive, and a fence is not given up: that it was refused later proves nothing. */
  readonly strayUntilMs: number;
}

export interface ServiceEntry {
  readonly service: AllocatorService;
  readonly age: Age;
  pending?: PendingWrite | undefined;
  /** Writes that failed in a row. */
  failures: number;
  /** Nothing is asked for before this. */
  heldOffMs: number;
  /** Message of the condition before it was fenced: what a former process said. */
  fencedMessage: string | undefined;
}

/** What follows from news about a Service. */
export interface Consequence {
  /** An address got free, or somebody's key, policy or ports changed: who waits may be served now. */
  readonly isFreeing: boolean;
  /** An address that others have got one more holder: who waits for it is told of another one. */
  readonly isJoining: boolean;
  /** Who has an address in common with the Service, now or before. */
  readonly neighbours: readonly ServiceKey[];
  /** The change that the news show to be written. */
  readonly written?: PendingWrite;
}

export class ServiceTable {
  readonly #settings: Settings;
  readonly #entries = new Map<ServiceKey, ServiceEntry>();
  #book = new Book();

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  get book(): Book {
    return this.#book;
  }

  get entries(): ReadonlyMap<ServiceKey, ServiceEntry> {
    return this.#entries;
  }

  /** Undefined for what is no news. The caller has forgotten a Service of the same name with another uid. */
  learn(service: AllocatorService): Consequence | undefined {
    const age = ageOf(service);
    const known = this.#entries.get(age.key);
    if (known !== undefined && isNotNewer(service.resourceVersion, known.service.resourceVersion)) return undefined;
    // A write can only be made to the version it was decided on: it is in this one, or will never be made.
    const pending = known?.pending;
    const written = pending !== undefined && isWritten(service, pending.change) ? pending : undefined;
    const entry: ServiceEntry = {
      service,
      age,
      failures: written === undefined ? (known?.failures ?? 0) : 0,
      heldOffMs: 0,
      fencedMessage: known?.fencedMessage,
    };
    this.#entries.set(age.key, entry);
    const before = this.#book.holder(age.key);
    this.book.put(this.#holderOf(entry));
    return { ...this.#consequence(before, this.#book.holder(age.key)), ...(written === undefined ? {} : { written }) };
  }

  forget(key: ServiceKey): Consequence {
    this.#entries.delete(key);
    const before = this.#book.holder(key);
    this.#book.remove(key);
    return this.#consequence(before, undefined);
  }

  /** What counts from now on of what is asked for; undefined: nothing. */
  setPending(entry: ServiceEntry, pending: PendingWrite | undefined): Consequence {
    const before = this.#book.holder(entry.age.key);
    entry.pending = pending;
    this.#book.put(this.#holderOf(entry));
    return this.#consequence(before, this.#book.holder(entry.age.key));
  }

  /** The book, made anew from the Services. */
  rebuild(): void {
    this.#book = new Book([...this.#entries.values()].map((entry) => this.#holderOf(entry)));
  }

  /** The book without this Service, for as long as the work takes. */
  without<Result>(entry: ServiceEntry, work: () => Result): Result {
    this.#book.remove(entry.age.key);
    const result = work();
    this.#book.put(this.#holderOf(entry));
    return result;
  }

  /** With nobody may share who is not ours: it would not know. */
  #holderOf({ service, age, pending }: ServiceEntry): Holder {
    const sharing = sharingOf(service);
    const isForeign = concernOf(service, this.#settings) === "other-class";
    const addresses = new Set([...statusAddresses(service), ...(pending?.addresses ?? [])]);
    return { ...age, addresses: [...addresses], sharing: isForeign ? { ...sharing, key: "" } : sharing };
  }

  #consequence(before: Holder | undefined, now: Holder | undefined): Omit<Consequence, "written"> {
    const [had, has] = [before?.addresses ?? [], now?.addresses ?? []];
    const isShrunk = had.some((ip) => !has.includes(ip));
    const grown = has.filter((ip) => !had.includes(ip));
    const isResharing = before !== undefined && now !== undefined && !isSameSharing(before.sharing, now.sharing);
    if (!isShrunk && grown.length === 0 && !isResharing) return { isFreeing: false, isJoining: false, neighbours: [] };
    const neighbours = [...had, ...has].flatMap((ip) => this.#book.holdersOf(ip).map(({ key }) => key));
    const isJoining = grown.some((ip) => this.#book.holdersOf(ip).length > 1);
    return { isFreeing: isShrunk || isResharing, isJoining, neighbours };
  }
}
