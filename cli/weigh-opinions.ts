/** Several speakers name a leader for one address: whose answer is told, and who disagrees with it. Pure. */
import { compareTexts } from "./readings.ts";

/** What one speaker says of one address. */
export interface Opinion {
  readonly node: string;
  /** A speaker that is not ready has not heard of everything yet: it counts only when nobody is ready. */
  readonly isReady: boolean;
  /** false: it has no Service with this address. */
  readonly knows: boolean;
  /** Absent: nobody. */
  readonly leader?: string;
  /** It answers for the address itself. */
  readonly isLeading: boolean;
}

export interface Judgement {
  /** Absent: no speaker knows the address. */
  readonly told?: Opinion;
  readonly dissents: readonly Opinion[];
}

/**
 * Told is the answer of the speaker that leads. Of several, or of none, the leader that most name counts, then the lowest name;
 * if that leader gives no answer itself, the first that names it stands in.
 */
export function weighOpinions(opinions: readonly Opinion[]): Judgement {
  const ready = opinions.filter(({ isReady }) => isReady);
  const counted = (ready.length === 0 ? opinions : ready).toSorted((a, b) => compareTexts(a.node, b.node));
  const parties = Map.groupBy(
    counted.filter(({ knows }) => knows),
    ({ leader }) => leader,
  );
  const [best] = [...parties].toSorted(
    ([a, partyOfA], [b, partyOfB]) =>
      Number(hasLeader(partyOfB)) - Number(hasLeader(partyOfA)) ||
      partyOfB.length - partyOfA.length ||
      compareTexts(a ?? "", b ?? ""),
  );
  if (best === undefined) return { dissents: [] };
  const [leader, party] = best;
  const told = party.find(({ node }) => node === leader) ?? party[0];
  return {
    ...(told === undefined ? {} : { told }),
    dissents: counted.filter((opinion) => !opinion.knows || opinion.leader !== leader),
  };
}

function hasLeader(party: readonly Opinion[]): boolean {
  return party.some(({ node, leader, isLeading }) => isLeading && node === leader);
}
