/** Who holds the sticky addresses, as this node knows it: from its own decisions, and from what others say (DESIGN D4). */
import { policyOf } from "../src/desired/policy.ts";
import type { Decision } from "../src/election/decision.ts";
import {
  type Holder,
  HolderBook,
  type HolderRecord,
  type Holders,
  type HoldersByIp,
  NO_HOLDERS,
} from "../src/election/holders.ts";
import type { Ip } from "../src/net/ip.ts";

export class Holding {
  readonly #self: string;
  readonly #decisionOf: (ip: Ip) => Decision | undefined;
  readonly #changed: (addresses: readonly Ip[]) => void;
  readonly #book = new HolderBook();
  /** What this node leads as it decides, and of that what it has not written itself down for, because another's claim keeps it silent. */
  readonly #led = new Set<Ip>();
  readonly #unwritten = new Set<Ip>();
  #isLate = false;

  /** `changed`: addresses of which others were heard to hold them than were known. */
  constructor(self: string, decisionOf: (ip: Ip) => Decision | undefined, changed: (addresses: readonly Ip[]) => void) {
    this.#self = self;
    this.#decisionOf = decisionOf;
    this.#changed = changed;
  }

  get byIp(): HoldersByIp {
    return this.#book.byIp;
  }

  holderOf(ip: Ip): Holder | undefined {
    return this.#book.holderOf(ip);
  }

  /** All that took it in the highest term, each before it heard of the other: whoever leads it takes a new term when it knows. */
  holdersInTermOf(ip: Ip): Holders {
    const holders = this.#book.byIp.get(ip) ?? NO_HOLDERS;
    return holders.filter(({ term }) => term === holders[0]?.term);
  }

  /** Whatever rule is in force. */
  readonly isSticky = (ip: Ip): boolean => {
    const group = this.#decisionOf(ip)?.group;
    return group !== undefined && policyOf(group).isSticky;
  };

  /** Whether something of it is new. */
  hear(records: readonly HolderRecord[], nowMs: number): boolean {
    const changed = this.#book.take(records, this.isSticky, nowMs);
    if (changed.length > 0) this.#changed(changed);
    return changed.length > 0;
  }

  /**
   * Who leads what another held, or nobody, is its holder from now on: such addresses. No decision becomes another by that, for it
   * has named the term already. Who led it before and does not answer is silent because the other claims it: two whose views differ
   * would write term after term. It does so when it answers.
   */
  hold(decisions: readonly Decision[], answering: ReadonlySet<Ip>, nowMs: number): readonly Ip[] {
    this.#isLate = false;
    const late = [...this.#unwritten].flatMap((ip) => (answering.has(ip) ? (this.#decisionOf(ip) ?? []) : []));
    return [...late, ...decisions].flatMap(({ leader, sticky, group }) => {
      const isLed = leader === this.#self && sticky !== undefined;
      const addresses = isLed ? group.addresses.filter((ip) => this.#mayWrite(ip, sticky.term, answering)) : [];
      for (const ip of group.addresses) {
        if (isLed) this.#led.add(ip);
        else this.#led.delete(ip);
        if (!isLed || answering.has(ip)) this.#unwritten.delete(ip);
      }
      if (addresses.length === 0 || sticky === undefined) return [];
      return this.#book.take([{ addresses, node: this.#self, term: sticky.term }], this.isSticky, nowMs);
    });
  }

  /** This node answers for the address from now on, which its record may have waited for. */
  answers(ip: Ip): void {
    this.#isLate ||= this.#unwritten.has(ip);
  }

  /** When `hold` is to be called again, whatever has changed. */
  get deadlineMs(): number | undefined {
    return this.#isLate ? Number.NEGATIVE_INFINITY : undefined;
  }

  #mayWrite(ip: Ip, term: number, answering: ReadonlySet<Ip>): boolean {
    const holder = this.#book.holderOf(ip);
    if (holder?.node === this.#self && holder.term === term) return false;
    if (!this.#led.has(ip) || answering.has(ip)) return true;
    this.#unwritten.add(ip);
    return false;
  }

  forgetUnknown(nowMs: number): void {
    this.#book.forgetUnknown(this.isSticky, nowMs);
  }
}
