/** Who led each address, since when, and who before: history kept beside the pure decisions. */
import type { NodeName } from "../src/desired/snapshot.ts";
import type { Decision, DecisionReason } from "../src/election/decision.ts";
import type { Ip } from "../src/net/ip.ts";

export interface Leadership {
  /** Absent: nobody leads. */
  readonly leader?: NodeName;
  readonly reason: DecisionReason;
  readonly sinceMs: number;
  /** Who led before the present leader; absent until the address has moved. */
  readonly previousLeader?: NodeName;
}

export interface LeaderChange {
  readonly ip: Ip;
  readonly from?: NodeName;
  readonly to?: NodeName;
  readonly reason: DecisionReason;
}

export type LeadershipByIp = ReadonlyMap<Ip, Leadership>;

/** An address is in one decision only. Decisions that were given before, by identity, are passed over. */
export class LeadershipBook {
  readonly #byIp = new Map<Ip, Leadership>();
  #list: readonly Decision[] = [];
  #decisions: ReadonlySet<Decision> = new Set();

  get byIp(): LeadershipByIp {
    return this.#byIp;
  }

  /** Takes all decisions as they are now; what changed. The same decisions again change nothing. */
  follow(decisions: readonly Decision[], nowMs: number): readonly LeaderChange[] {
    if (decisions === this.#list) return [];
    this.#list = decisions;
    const before = this.#decisions;
    this.#decisions = new Set(decisions);
    const news = decisions.filter((decision) => !before.has(decision));
    // As many as before, and none that is new: the same.
    if (news.length === 0 && before.size === decisions.length) return [];
    const decided = new Set(news.flatMap(({ group }) => group.addresses));
    for (const decision of before) {
      if (this.#decisions.has(decision)) continue;
      for (const ip of decision.group.addresses) if (!decided.has(ip)) this.#byIp.delete(ip);
    }
    return news.flatMap((decision) => this.#take(decision, nowMs));
  }

  #take({ group, leader, reason }: Decision, nowMs: number): LeaderChange[] {
    const changes: LeaderChange[] = [];
    for (const ip of group.addresses) {
      const known = this.#byIp.get(ip);
      if (known !== undefined && known.leader === leader) {
        if (known.reason !== reason) this.#byIp.set(ip, { ...known, reason });
        continue;
      }
      const previousLeader = known?.leader ?? known?.previousLeader;
      this.#byIp.set(ip, {
        reason,
        sinceMs: nowMs,
        ...(leader === undefined ? {} : { leader }),
        ...(previousLeader === undefined ? {} : { previousLeader }),
      });
      if (known?.leader === undefined && leader === undefined) continue;
      changes.push({
        ip,
        reason,
        ...(known?.leader === undefined ? {} : { from: known.leader }),
        ...(leader === undefined ? {} : { to: leader }),
      });
    }
    return changes;
  }
}
