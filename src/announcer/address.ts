/** An address with a duty, and what the announcer does about it. */
import { isSameList } from "../base/same-list.ts";
import { type Family, familyOf, type Ip, ipBytes } from "../net/ip.ts";
import { solicitedNodeGroupOf } from "../packet/solicited-node.ts";
import type { AddressPhase, AddressState, ClaimBasis, Contest, Duty, DutyBasis } from "./ports.ts";
import type { Refusal } from "./refusal.ts";

/** For so long after it was said, freshness stands in what is said and compared: both sides of a contest judge the same two claims. */
export const STATEMENT_MS = 1_000;
const NO_LINKS: readonly number[] = [];

export class Address {
  readonly ip: Ip;
  readonly family: Family;
  readonly bytes: Uint8Array;
  /** Where IPv6 solicitations for the address are sent. */
  readonly group: Ip | undefined;
  duty: Duty;
  phase: AddressPhase = "stopped";
  /** Where its packets wake us, as the wire was told. */
  heardOn: readonly number[] = NO_LINKS;
  /** Where its group is joined, as the wire was told. */
  joinedOn: readonly number[] = NO_LINKS;
  /** Where it is to be answered as long as the phase says so. */
  plannedLinks: readonly number[] | undefined;
  answeredOn: readonly number[] = NO_LINKS;
  /** A lease for it is held; counts only where the duty needs one. */
  isLeased = false;
  /** As whoever keeps the leases was told. */
  wantsLease = false;
  /** Leading, and answered on some link since then. */
  isArmed = false;
  /** When that was last. */
  armedMs: number | undefined;
  /** A frame went out since it was armed. */
  hasAnnounced = false;
  requestsAnswered = 0;
  announcementsSent = 0;
  lastAnnouncementMs: number | undefined;
  /** How fresh our claim was said to be. */
  stated: { readonly freshness: number; readonly atMs: number } | undefined;
  /** Whose claim was last found worse than ours: it waits for a word when we stop leading. */
  refused: Refusal | undefined;
  /** The winner of a lost contest that has given way: we take it from there, not from the previous leader of the duty. */
  resumedFrom: string | undefined;
  /** When it is, or was last, claimed from one that was heard as a holder. */
  contestedMs: number | undefined;
  /** Whom it was claimed from since it was won. */
  claimedFrom: string | undefined;
  /** Whom the segment was asked for since it is handed over. */
  sought: string | undefined;

  constructor(duty: Duty) {
    this.ip = duty.ip;
    this.duty = duty;
    this.family = familyOf(duty.ip);
    this.bytes = ipBytes(duty.ip);
    this.group = this.family === 6 ? solicitedNodeGroupOf(duty.ip) : undefined;
  }

  isAnswering(): boolean {
    return this.phase === "leading" || this.phase === "handing-over";
  }

  /** Where it should be answered now. */
  wantedLinks(): readonly number[] {
    const mayAnswer = this.isAnswering() && (this.duty.needsLease !== true || this.isLeased);
    return mayAnswer ? (this.plannedLinks ?? NO_LINKS) : NO_LINKS;
  }

  /** To whom it is handed over, if that one claims nothing (a Go member): only the segment knows whether it answers. */
  silentSuccessor(): string | undefined {
    const { nextLeader } = this.duty;
    return this.phase === "handing-over" && nextLeader?.sendsClaims === false ? nextLeader.node : undefined;
  }

  /** It would be answered here with a lease. */
  needsLeaseNow(): boolean {
    return this.duty.needsLease === true && this.isAnswering() && (this.plannedLinks ?? NO_LINKS).length > 0;
  }

  /** Where its packets should wake us. */
  heardLinks(): readonly number[] {
    return this.phase === "stopped" ? NO_LINKS : (this.plannedLinks ?? NO_LINKS);
  }

  /** Our claim as it is said, and compared with those of others. */
  basisAt(freshness: number, nowMs: number): ClaimBasis {
    if (this.stated === undefined || nowMs - this.stated.atMs > STATEMENT_MS) this.stated = { freshness, atMs: nowMs };
    return { ...this.duty.basis, freshness: this.stated.freshness };
  }

  stopAnswering(): void {
    this.answeredOn = NO_LINKS;
    this.isArmed = false;
  }

  state(contest: Contest | undefined): AddressState {
    const { ip, duty, phase, answeredOn, requestsAnswered, announcementsSent, lastAnnouncementMs } = this;
    return {
      ip,
      role: duty.role,
      phase,
      answeredOn,
      requestsAnswered,
      announcementsSent,
      ...(lastAnnouncementMs === undefined ? {} : { lastAnnouncementMs }),
      ...(this.wantsLease ? { lease: this.isLeased ? ("held" as const) : ("missing" as const) } : {}),
      ...(contest === undefined ? {} : { contest }),
    };
  }
}

/** "moved" never begins to answer: there is nothing to hand over for who did not answer. */
export function phaseFor(role: Duty["role"], before: AddressPhase, isSilenced: boolean): AddressPhase {
  if (role === "second") return "watching";
  if (role === "lead") return isSilenced ? "stopped" : "leading";
  return before === "leading" || before === "handing-over" ? "handing-over" : "stopped";
}

/** Whom a claim goes to: the previous leader first, then the second; nobody when nobody led. */
export function claimTargets(address: Address, self: string): readonly [string, ...string[]] | undefined {
  const { previousLeader, second, others = [] } = address.duty;
  const awaited = address.resumedFrom ?? previousLeader;
  if (awaited === undefined || awaited === self) return undefined;
  const told = new Set([previousLeader, second, ...others].filter((node) => node !== undefined));
  return [awaited, ...[...told].filter((node) => node !== awaited && node !== self)];
}

export function isSameDuty(a: Duty, b: Duty): boolean {
  if (a === b) return true;
  return (
    a.role === b.role &&
    a.group === b.group &&
    a.previousLeader === b.previousLeader &&
    a.second === b.second &&
    a.needsLease === b.needsLease &&
    isSameList(a.others ?? [], b.others ?? []) &&
    a.nextLeader?.node === b.nextLeader?.node &&
    a.nextLeader?.sendsClaims === b.nextLeader?.sendsClaims &&
    isSameList(a.interfaces, b.interfaces) &&
    isSameBasis(a.basis, b.basis)
  );
}

function isSameBasis(a: DutyBasis, b: DutyBasis): boolean {
  return (
    a.incarnation === b.incarnation &&
    a.rule === b.rule &&
    a.term === b.term &&
    a.tier === b.tier &&
    a.score === b.score &&
    a.endpointClass === b.endpointClass &&
    a.hash === b.hash
  );
}
