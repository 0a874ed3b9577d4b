/** Who holds the sticky addresses, as this node knows it: from its own decisions, and from what others say (DESIGN D4). */
import { policyOf } from "../src/desired/policy.ts";
import type { Decision } from "../src/election/decision.ts";
import { type Holder, HolderBook, type HolderRecord, type HoldersByIp } from "../src/election/holders.ts";
import type { Ip } from "../src/net/ip.ts";

export class Holding {
  readonly #self: string;
  readonly #decisionOf: (ip: Ip) => Decision | undefined;
  readonly #changed: (addresses: readonly Ip[]) => void;
  readonly #book = new HolderBook();

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
   * has named the term already.
   */
  hold(decisions: readonly Decision[], nowMs: number): readonly Ip[] {
    return decisions.flatMap(({ leader, sticky, group }) => {
      if (leader !== this.#self || sticky === undefined) return [];
      const { term } = sticky;
      const addresses = group.addresses.filter((ip) => {
        const holder = this.#book.holderOf(ip);
        return holder?.node !== this.#self || holder.term !== term;
      });
      return this.#book.take([{ addresses, node: this.#self, term }], this.isSticky, nowMs);
    });
  }

  forgetUnknown(nowMs: number): void {
    this.#book.forgetUnknown(this.isSticky, nowMs);
  }
}
