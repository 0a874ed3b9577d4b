/**
 * The machine's links, by subscription to the kernel: never by polling. A list is asked for at the start and whenever
 * notifications were lost; what is known stays in force until the new list is complete.
 */
import type { Clock, Timer } from "../base/clock.ts";
import { errnoOf, LinkError } from "../base/errors.ts";
import type { Link } from "../net/link.ts";
import { LinkTable } from "../netlink/link-table.ts";
import {
  DUMPS,
  decodeRtnetlink,
  encodeDumpRequest,
  LINK_ADDRESS_ROUTE_GROUPS,
  type RtnetlinkEvent,
} from "../netlink/rtnetlink.ts";
import { addon } from "./addon.ts";

/** Asked of the kernel, which grants at most net.core.rmem_max: some 200 notifications at its default. */
const RECEIVE_BUFFER_BYTES = 1 << 20;
/** A dump that failed, or was interrupted by changes, is asked for again after a pause. */
const RETRY_DELAY_MS = 50;
/** In a storm of changes the links are derived and reported this often; the first change is reported at once. */
const MIN_REPORT_INTERVAL_MS = 20;
/** On a machine where something always changes, the list of the last attempt and its notifications are good enough. */
const MAX_INTERRUPTED_LISTS = 10;

export interface LinkWatcherOptions {
  readonly clock: Clock;
  /** All links, after every change and once at the start, when they are known completely. */
  onChange(links: readonly Link[]): void;
  readonly receiveBufferBytes?: number;
}

/** A list being received: the table it fills, which of DUMPS is awaited under which sequence number. */
interface Listing {
  readonly table: LinkTable;
  readonly step: number;
  readonly sequence: number;
}

export class LinkWatcher {
  readonly #options: LinkWatcherOptions;
  #socket: InstanceType<typeof addon.NetlinkSocket> | undefined;
  #table: LinkTable | undefined;
  #listing: Listing | undefined;
  #links: readonly Link[] | undefined;
  #sequence = 0;
  #retry: Timer | undefined;
  #overruns = 0;
  #interruptedLists = 0;
  #reportedMs = Number.NEGATIVE_INFINITY;
  #report: Timer | undefined;

  constructor(options: LinkWatcherOptions) {
    this.#options = options;
  }

  /** Throws LinkError when the socket cannot be opened. */
  start(): void {
    try {
      this.#socket = new addon.NetlinkSocket(
        LINK_ADDRESS_ROUTE_GROUPS,
        this.#options.receiveBufferBytes ?? RECEIVE_BUFFER_BYTES,
        (bytes) => this.#onBatch(bytes),
        (code) => this.#onError(code),
      );
    } catch (error) {
      throw new LinkError("opening a netlink socket", "all links", errnoOf(error), { cause: error });
    }
    this.#list();
  }

  /** The links as last reported; undefined until the first list is complete. */
  links(): readonly Link[] | undefined {
    return this.#links;
  }

  /** How often notifications were lost and everything was listed again. */
  overruns(): number {
    return this.#overruns;
  }

  /** Reads, before it returns, every notification that waits, and reports what follows from them. */
  drain(): void {
    this.#socket?.drain();
    if (this.#report === undefined) return;
    this.#report.cancel();
    this.#publish();
  }

  close(): void {
    this.#retry?.cancel();
    this.#report?.cancel();
    this.#socket?.close();
    this.#socket = undefined;
  }

  #list(): void {
    this.#retry?.cancel();
    this.#retry = undefined;
    this.#request(new LinkTable(), 0);
  }

  #request(table: LinkTable, step: number): void {
    const dump = DUMPS[step];
    if (dump === undefined) return;
    this.#sequence++;
    this.#listing = { table, step, sequence: this.#sequence };
    try {
      this.#socket?.send(encodeDumpRequest(dump, this.#sequence));
    } catch {
      // EBUSY while the dump of an abandoned listing still runs, ENOBUFS when memory is short.
      this.#listLater();
    }
  }

  #listLater(): void {
    this.#listing = undefined;
    this.#retry ??= this.#options.clock.schedule(RETRY_DELAY_MS, () => this.#list());
  }

  #onBatch(bytes: number): void {
    if (this.#socket === undefined) return;
    for (const event of decodeRtnetlink(this.#socket.rx.subarray(0, bytes))) this.#onEvent(event);
    if (this.#table === undefined || this.#report !== undefined) return;
    const delayMs = this.#reportedMs + MIN_REPORT_INTERVAL_MS - this.#options.clock.nowMs();
    if (delayMs <= 0) this.#publish();
    else this.#report = this.#options.clock.schedule(delayMs, () => this.#publish());
  }

  #onError(code: string): void {
    if (code === "ENOBUFS") this.#overruns++;
    this.#listLater();
  }

  #onEvent(event: RtnetlinkEvent): void {
    if (event.kind === "done") this.#onDone(event.sequence);
    else if (event.kind === "interrupted") this.#onInterrupted(event.sequence);
    else if (event.kind === "error") this.#onRequestFailed(event.sequence, event.errno);
    else {
      // A notification is news for both: the table in force, and the one that a list is filling.
      this.#table?.apply(event);
      this.#listing?.table.apply(event);
    }
  }

  #onInterrupted(sequence: number): void {
    if (this.#listing?.sequence !== sequence || this.#interruptedLists >= MAX_INTERRUPTED_LISTS) return;
    this.#interruptedLists++;
    this.#listLater();
  }

  #onDone(sequence: number): void {
    const listing = this.#listing;
    if (listing?.sequence !== sequence) return;
    if (listing.step + 1 < DUMPS.length) this.#request(listing.table, listing.step + 1);
    else {
      this.#table = listing.table;
      this.#interruptedLists = 0;
      this.#listing = undefined;
    }
  }

  #onRequestFailed(sequence: number, errno: number): void {
    if (errno !== 0 && this.#listing?.sequence === sequence) this.#listLater();
  }

  #publish(): void {
    this.#report = undefined;
    const links = this.#table?.links();
    if (links === undefined || isSame(links, this.#links)) return;
    this.#reportedMs = this.#options.clock.nowMs();
    this.#links = links;
    this.#options.onChange(links);
  }
}

/** Links are plain values in a fixed order, so equal text is equal content. */
function isSame(a: readonly Link[], b: readonly Link[] | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
