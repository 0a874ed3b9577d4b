/**
 * What nodes remember together, beside the snapshot and the members (DESIGN D4): who holds sticky addresses, and what members said last
 * of their troubles. It is told by messages and in the user state of a push/pull, and heard from there, some of it in each turn.
 */
import { earliest, isDue } from "../src/base/deadlines.ts";
import type { HolderRecord } from "../src/election/holders.ts";
import { HOLDER_SECTION, HolderSectionReader, HolderSectionWriter } from "../src/gossip/holder-section.ts";
import { decodePastWords, encodePastWords, PAST_WORDS_SECTION, type PastWord } from "../src/gossip/past-words.ts";
import type { StickyMessage, UserMessage } from "../src/gossip/user-message.ts";
import { decodeUserState, encodeUserState } from "../src/gossip/user-state.ts";
import type { Ip } from "../src/net/ip.ts";
import { HolderSpread } from "./holder-spread.ts";
import type { Holding } from "./holding.ts";
import type { KnownMember } from "./member-views.ts";
import { RememberedWords } from "./remembered-words.ts";

export interface CommonMemoryPorts {
  readonly holding: Holding;
  /** Members that read our messages. */
  readonly ours: () => Iterable<string>;
  readonly send: (to: readonly string[], messages: readonly UserMessage[]) => void;
  /** What our side of a push/pull carries from now on. */
  readonly setUserState: (bytes: Uint8Array) => void;
  /** What a peer remembers of a process of this node's name. */
  readonly remember: (past: PastWord, nowMs: number) => void;
}

/** Addresses that are written or read in one turn: about a millisecond. */
const ADDRESSES_AT_ONCE = 400;
/** The user state is as old as that at most when something of it has changed. */
const WRITTEN_EVERY_MS = 1_000;
/** Ages in it are wrong by that at most. */
const REWRITTEN_EVERY_MS = 10_000;
const FORGOTTEN_EVERY_MS = 60_000;
/** User states that wait to be read: a peer that sends more of them says the same in the last. */
const STATES_KEPT = 8;

export class CommonMemory {
  readonly #self: string;
  readonly #ports: CommonMemoryPorts;
  readonly #spread = new HolderSpread();
  readonly #words = new RememberedWords();
  readonly #toRead: HolderSectionReader[] = [];
  #hasChanged = true;
  #writer: HolderSectionWriter | undefined;
  #writtenMs = Number.NEGATIVE_INFINITY;
  #forgottenMs = Number.NEGATIVE_INFINITY;

  constructor(self: string, ports: CommonMemoryPorts) {
    this.#self = self;
    this.#ports = ports;
  }

  /** Some of what peers remember was not read yet: before that this node must not lead. */
  get isReading(): boolean {
    return this.#toRead.length > 0;
  }

  /** Whether it changes what is known. Who knows less than this node is told. */
  hear(from: string, messages: readonly UserMessage[], nowMs: number): boolean {
    const records = messages.filter((message) => message.kind === "sticky");
    const isNew = records.length > 0 && this.#ports.holding.hear(records, nowMs);
    this.#hasChanged ||= isNew;
    const late = messages.flatMap((message) => this.#unknownTo(message));
    if (late.length > 0) this.#tell([from], late);
    return isNew;
  }

  hearState(bytes: Uint8Array, nowMs: number): void {
    const sections = decodeUserState(bytes);
    if (!sections.ok) return;
    for (const { kind, bytes: section } of sections.value) {
      if (kind === HOLDER_SECTION && this.#toRead.length < STATES_KEPT)
        this.#toRead.push(new HolderSectionReader(section));
      const past = kind === PAST_WORDS_SECTION ? decodePastWords(section) : [];
      for (const word of past) if (word.node === this.#self) this.#ports.remember(word, nowMs);
    }
  }

  /** Reads on; whether something was new. */
  goOn(nowMs: number): boolean {
    const [first] = this.#toRead;
    if (first === undefined) return false;
    const isNew = this.#ports.holding.hear(first.read(ADDRESSES_AT_ONCE), nowMs);
    if (first.isDone) this.#toRead.shift();
    this.#hasChanged ||= isNew;
    return isNew;
  }

  /** `held`: what this node has written itself down for. */
  follow(held: readonly Ip[], members: readonly KnownMember[], nowMs: number): void {
    this.#spread.tell(held, nowMs);
    this.#hasChanged ||= held.length > 0;
    this.#words.follow(members, nowMs);
  }

  deadlineMs(): number | undefined {
    return earliest([this.#spread.deadlineMs, this.#nextWriteMs]);
  }

  tick(nowMs: number): void {
    for (const { to, addresses } of this.#spread.due(nowMs, this.#ports.ours())) this.#tell(to, addresses);
    if (isDue(this.#nextWriteMs, nowMs)) this.#write(nowMs);
  }

  get #nextWriteMs(): number {
    if (this.#writer !== undefined) return Number.NEGATIVE_INFINITY;
    return this.#writtenMs + (this.#hasChanged ? WRITTEN_EVERY_MS : REWRITTEN_EVERY_MS);
  }

  #write(nowMs: number): void {
    const { holding, setUserState } = this.#ports;
    if (this.#writer === undefined) {
      this.#hasChanged = false;
      this.#forget(nowMs);
      this.#writer = new HolderSectionWriter(holding.byIp, holding.isSticky);
    }
    const holders = this.#writer.go(ADDRESSES_AT_ONCE);
    if (holders === undefined) return;
    this.#writer = undefined;
    this.#writtenMs = nowMs;
    const sections = [
      { kind: HOLDER_SECTION, bytes: holders },
      { kind: PAST_WORDS_SECTION, bytes: encodePastWords(this.#words.entries(nowMs)) },
    ].filter(({ bytes }) => bytes.length > 0);
    setUserState(sections.length === 0 ? new Uint8Array(0) : encodeUserState(sections));
  }

  #forget(nowMs: number): void {
    if (nowMs < this.#forgottenMs + FORGOTTEN_EVERY_MS) return;
    this.#forgottenMs = nowMs;
    this.#ports.holding.forgetUnknown(nowMs);
  }

  /** Addresses of the message of which its sender knows an older term. */
  #unknownTo(message: UserMessage): readonly Ip[] {
    const term = message.kind === "sticky" ? message.term : message.kind === "claim" ? message.basis.term : undefined;
    if (term === undefined) return [];
    const { holding } = this.#ports;
    return message.addresses.filter((ip) => (holding.holderOf(ip)?.term ?? 0) > term && holding.isSticky(ip));
  }

  #tell(to: readonly string[], addresses: readonly Ip[]): void {
    const records = new Map<string, HolderRecord & { readonly addresses: Ip[] }>();
    for (const ip of addresses) {
      for (const holder of this.#ports.holding.holdersInTermOf(ip)) {
        const key = `${holder.term} ${holder.node}`;
        const record = records.get(key);
        if (record === undefined) records.set(key, { ...holder, addresses: [ip] });
        else record.addresses.push(ip);
      }
    }
    const messages = [...records.values()].map((record): StickyMessage => ({ kind: "sticky", ...record }));
    if (messages.length > 0 && to.length > 0) this.#ports.send(to, messages);
  }
}
