/** The talk that goes with taking an address over (DESIGN D8, D9): claims until yielded, questions of who waits for a claim or its end. */
import { earliest } from "../base/deadlines.ts";
import { DueMap } from "../base/due-map.ts";
import type { Ip } from "../net/ip.ts";
import type { Claimant } from "./contest.ts";
import type { ClaimBasis, Duty, HandoverMessage } from "./ports.ts";

/** When a claim is sent, in ms after the address was armed, until the previous leader says yielded (DESIGN D8). */
export const CLAIM_OFFSETS_MS: readonly number[] = [0, 20, 60, 180];
/** How long a silenced leader waits before it asks the winner again (DESIGN D9: silence for 1 s), and when it has had no answer. */
export const QUESTION_INTERVAL_MS = 1_000;
export const UNANSWERED_INTERVAL_MS = 300;
/**
 * Addresses that are spoken of at one time: some milliseconds of encoding and encryption. The rest follows as soon as sockets were
 * read, for answers may be there that make it needless.
 */
export const SPOKEN_AT_ONCE = 60;
/** When one that hands over asks for the new leader's claim, in ms after the move: often enough for lossy links, and then never. */
export const AWAITED_CLAIM_OFFSETS_MS: readonly number[] = [20, 100, 300, 700, 1_500, 3_000, 5_000];
/** Datagrams that are older than another by more than this do not arrive after it. */
const OVERTAKING_MS = 100;
/** After so many questions without answer, three seconds, the winner is taken for gone: with 10 % loss either way three were not rare. */
export const UNANSWERED_QUESTIONS = 10;

export interface Outgoing {
  readonly to: readonly string[];
  readonly message: HandoverMessage;
}

interface ClaimSeries {
  readonly duty: Duty;
  /** The previous leader, whose "yielded" ends the series; then whoever else is to know. */
  readonly to: readonly [string, ...string[]];
  readonly startMs: number;
  readonly sent: number;
}

interface Silence {
  readonly duty: Duty;
  readonly winner: Claimant;
  readonly unanswered: number;
  readonly nextMs: number;
}

interface Awaited {
  readonly duty: Duty;
  readonly nextLeader: string;
  /** Undefined until there was time to speak. */
  readonly startMs: number | undefined;
  readonly asked: number;
}

export class Handover {
  readonly #nodeName: string;
  readonly #basisOf: (duty: Duty, nowMs: number) => ClaimBasis;
  readonly #awaited = new DueMap<Ip, Awaited>(nextQuestionMs);
  readonly #claims = new DueMap<Ip, ClaimSeries>(nextClaimMs);
  /** Whose "yielded" is still missing for an address, the claims being all sent: they are not walked at every tick. */
  readonly #unheard = new Map<Ip, string>();
  readonly #silences = new DueMap<Ip, Silence>(({ nextMs }) => nextMs);
  /** Members that came back, and what they are to be told is led here, the last first. */
  readonly #returned = new Map<string, Duty[]>();
  /** Time that was spoken at last, and what may still be said in the same turn. */
  #spokenAtMs = Number.NEGATIVE_INFINITY;
  #left = SPOKEN_AT_ONCE;

  /** `basisOf`: of the claim as it is said now. */
  constructor(nodeName: string, basisOf: (duty: Duty, nowMs: number) => ClaimBasis) {
    this.#nodeName = nodeName;
    this.#basisOf = basisOf;
  }

  /** Claims the address from `to[0]`; the others are told. */
  claim(duty: Duty, to: readonly [string, ...string[]], nowMs: number): void {
    this.endClaims(duty.ip);
    this.#claims.set(duty.ip, { duty, to, startMs: nowMs, sent: 0 });
  }

  endClaims(ip: Ip): void {
    this.#claims.delete(ip);
    this.#unheard.delete(ip);
  }

  /** Whether `node` is the one whose word the claims for the address waited for; then they end. */
  hearYielded(ip: Ip, node: string): boolean {
    if ((this.#claims.get(ip)?.to[0] ?? this.#unheard.get(ip)) !== node) return false;
    this.endClaims(ip);
    return true;
  }

  /**
   * We answer until `nextLeader` claims. It may never have known that we lead (views merged, or it stood still meanwhile), and
   * then it claims nothing unasked: two would answer for ever.
   */
  awaitClaim(duty: Duty, nextLeader: string): void {
    const known = this.#awaited.get(duty.ip);
    const before = known?.nextLeader === nextLeader ? known : { startMs: undefined, asked: 0 };
    this.#awaited.set(duty.ip, { ...before, duty, nextLeader });
  }

  endAwaiting(ip: Ip): void {
    this.#awaited.delete(ip);
  }

  /** A better claim has silenced us for the address. Heard again, it answers our question. */
  silence(duty: Duty, winner: Claimant, nowMs: number): void {
    this.#silences.set(duty.ip, { duty, winner, unanswered: 0, nextMs: nowMs + QUESTION_INTERVAL_MS });
  }

  winnerOf(ip: Ip): Claimant | undefined {
    return this.#silences.get(ip)?.winner;
  }

  /**
   * The winner says that it has yielded: whether that may be believed. Unasked, it may be older than the claim that silenced us
   * (datagrams overtake each other): then it is asked as soon as what was under way has arrived.
   */
  believesYielded(ip: Ip, node: string, nowMs: number): boolean {
    const silence = this.#silences.get(ip);
    if (silence?.winner.node !== node) return false;
    if (silence.unanswered > 0) return true;
    this.askSoon(ip, nowMs + OVERTAKING_MS);
    return false;
  }

  /** The winner is asked again at `atMs`, unless its time comes before. */
  askSoon(ip: Ip, atMs: number): void {
    const silence = this.#silences.get(ip);
    if (silence !== undefined && atMs < silence.nextMs) this.#silences.set(ip, { ...silence, nextMs: atMs });
  }

  endSilence(ip: Ip): void {
    this.#silences.delete(ip);
  }

  /** Addresses whose winner has not answered: their silence is over. */
  takeUnanswered(nowMs: number): Ip[] {
    const over: Ip[] = [];
    this.#silences.advance(nowMs, (silence, ip) => {
      if (silence.unanswered < UNANSWERED_QUESTIONS) return silence;
      over.push(ip);
      return undefined;
    });
    return over;
  }

  /** Says once more to a member that came back what is led here. */
  tellAgain(node: string, duties: readonly Duty[]): void {
    this.#returned.set(node, duties.toReversed());
  }

  /** Sockets were read since it was last spoken. */
  beginTurn(): void {
    this.#left = SPOKEN_AT_ONCE;
  }

  /** Claims and questions that are due; `isLed` is asked of what is told again, for that may have waited. */
  due(nowMs: number, isLed: (duty: Duty) => boolean): Outgoing[] {
    if (nowMs !== this.#spokenAtMs) this.beginTurn();
    this.#spokenAtMs = nowMs;
    const claims = [...this.#dueClaims(nowMs), ...this.#dueAgain(isLed)];
    const questions = this.#dueQuestions(nowMs);
    return [
      ...claimsOf(
        this.#nodeName,
        claims.map(({ duty, to }) => ({ duty, to, basis: this.#basisOf(duty, nowMs) })),
      ),
      ...byGroup(questions).map(({ first, duties }) => ({
        to: first.to,
        message: {
          kind: "lead-question" as const,
          ...addressesOf(duties),
          node: this.#nodeName,
          ...(first.basis === undefined ? {} : { basis: first.basis }),
        },
      })),
    ];
  }

  #dueClaims(nowMs: number): Spoken[] {
    const claims: Spoken[] = [];
    this.#claims.advance(nowMs, (series, ip) => {
      if (this.#left <= 0) return series;
      this.#left--;
      claims.push(series);
      const sent = series.sent + 1;
      const lateMs = nowMs - nextClaimMs(series);
      // What a mute has delayed goes on in its own rhythm.
      if (sent < CLAIM_OFFSETS_MS.length) return { ...series, sent, startMs: series.startMs + lateMs };
      this.#unheard.set(ip, series.to[0]);
      return undefined;
    });
    return claims;
  }

  #dueAgain(isLed: (duty: Duty) => boolean): Spoken[] {
    const claims: Spoken[] = [];
    for (const [node, duties] of this.#returned) {
      while (this.#left > 0 && duties.length > 0) {
        const duty = duties.pop();
        if (duty === undefined || !isLed(duty)) continue;
        this.#left--;
        claims.push({ duty, to: [node] });
      }
      if (duties.length === 0) this.#returned.delete(node);
    }
    return claims;
  }

  #dueQuestions(nowMs: number): Question[] {
    const questions: Question[] = [];
    this.#silences.advance(nowMs, (silence) => {
      if (this.#left <= 0) return silence;
      this.#left--;
      const { duty, winner, unanswered } = silence;
      questions.push({ duty, to: [winner.node], basis: this.#basisOf(duty, nowMs) });
      return { ...silence, unanswered: unanswered + 1, nextMs: nowMs + UNANSWERED_INTERVAL_MS };
    });
    this.#awaited.advance(nowMs, (awaited) => {
      if (awaited.startMs === undefined) return { ...awaited, startMs: nowMs };
      if (this.#left <= 0) return awaited;
      this.#left--;
      questions.push({ duty: awaited.duty, to: [awaited.nextLeader] });
      return { ...awaited, asked: awaited.asked + 1 };
    });
    return questions;
  }

  /** It may come too early, and then nothing is due. */
  nextDeadlineMs(): number | undefined {
    if (this.#returned.size > 0) return Number.NEGATIVE_INFINITY;
    return earliest([this.#claims, this.#silences, this.#awaited].map((due) => due.nextDeadlineMs()));
  }
}

interface Spoken {
  readonly duty: Duty;
  readonly to: readonly string[];
}

interface SpokenClaim extends Spoken {
  readonly basis: ClaimBasis;
}

interface Question extends Spoken {
  /** Of who would lead; absent for one that hands over. */
  readonly basis?: ClaimBasis;
}

/** One claim for each group, as far as the same is said of its addresses to the same members. */
export function claimsOf(node: string, claims: readonly SpokenClaim[]): Outgoing[] {
  return byGroup(claims).map(({ first, duties }) => ({
    to: first.to,
    message: { kind: "claim", ...addressesOf(duties), node, basis: first.basis },
  }));
}

type Batch = readonly [Duty, ...Duty[]];

/** Of a basis, freshness and term may differ between the addresses of one group. */
function byGroup<Item extends Question>(wanted: readonly Item[]): { readonly first: Item; readonly duties: Batch }[] {
  const batches = new Map<string, { readonly first: Item; readonly duties: [Duty, ...Duty[]] }>();
  for (const item of wanted) {
    const { duty, to, basis } = item;
    const key = `${duty.group}\n${basis?.freshness} ${basis?.term}\n${to.join("\n")}`;
    const batch = batches.get(key);
    if (batch === undefined) batches.set(key, { first: item, duties: [duty] });
    else batch.duties.push(duty);
  }
  return [...batches.values()];
}

function addressesOf(duties: Batch): { readonly group: string; readonly addresses: readonly Ip[] } {
  return { group: duties[0].group, addresses: duties.map(({ ip }) => ip) };
}

/** Infinity after the last one. */
function nextClaimMs(series: ClaimSeries): number {
  const offsetMs = CLAIM_OFFSETS_MS[series.sent];
  return offsetMs === undefined ? Number.POSITIVE_INFINITY : series.startMs + offsetMs;
}

/** At once until it has begun; infinity after the last one. */
function nextQuestionMs({ startMs, asked }: Awaited): number {
  if (startMs === undefined) return Number.NEGATIVE_INFINITY;
  const offsetMs = AWAITED_CLAIM_OFFSETS_MS[asked];
  return offsetMs === undefined ? Number.POSITIVE_INFINITY : startMs + offsetMs;
}
