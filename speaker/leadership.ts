/** Who led each address, since when, and who before: history kept beside the pure decisions. */
import type { ListDifference } from "../src/base/list-difference.ts";
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

/** An address is in one decision only. */
export class LeadershipBook {
  readonly #byIp = new Map<Ip, Leadership>();

  get byIp(): LeadershipByIp {
    return this.#byIp;
  }

  /** Takes the decisions that have changed; what changed about leaders. */
  follow({ gone, come }: ListDifference<Decision>, nowMs: number): readonly LeaderChange[] {
    if (gone.length > 0) {
      const decided = new Set(come.flatMap(({ group }) => group.addresses));
      for (const { group } of gone) for (const ip of group.addresses) if (!decided.has(ip)) this.#byIp.delete(ip);
    }
    return come.flatMap((decision) => this.#take(decision, nowMs));
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
