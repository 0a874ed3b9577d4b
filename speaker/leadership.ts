/** Who led each address, since when, and who before: history kept beside the pure decisions. Pure. */
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

/** The history after these decisions, and what changed against `before`. The same decisions again change nothing. */
export function followLeadership(
  before: LeadershipByIp,
  decisions: readonly Decision[],
  nowMs: number,
): { readonly leadership: LeadershipByIp; readonly changes: readonly LeaderChange[] } {
  const leadership = new Map<Ip, Leadership>();
  const changes: LeaderChange[] = [];
  for (const { group, leader, reason } of decisions) {
    for (const ip of group.addresses) {
      const known = before.get(ip);
      if (known !== undefined && known.leader === leader) {
        leadership.set(ip, known.reason === reason ? known : { ...known, reason });
        continue;
      }
      const previousLeader = known?.leader ?? known?.previousLeader;
      leadership.set(ip, {
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
  }
  return { leadership, changes };
}
