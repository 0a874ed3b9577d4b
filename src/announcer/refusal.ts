/** A claim that was found worse than ours has silenced whoever made it, who waits for our word from then on (DESIGN D9). Pure. */
import type { AddressPhase, Duty } from "./ports.ts";

/** Claims of a series end 180 ms after its start: one that comes so long after a refusal belongs to a new series. */
export const REFUSAL_MS = 1_000;
/** A claim of one that had none of ours before may be so old. */
export const CONTEST_REFUSAL_MS = 300;

export interface Refusal {
  readonly node: string;
  readonly untilMs: number;
}

/** Whether a claim may be older than our refusal, which has silenced its sender: then it does not say that the sender answers. */
export function wasSilencedByUs(refused: Refusal | undefined, claimant: string, nowMs: number): boolean {
  return refused?.node === claimant && nowMs < refused.untilMs;
}

/** Whether it is to hear that we yield when the address comes to that phase: whoever hands over keeps it for the next leader. */
export function isOwedWord(
  refused: Refusal | undefined,
  phase: AddressPhase,
  { nextLeader }: Duty,
): refused is Refusal {
  return refused !== undefined && (phase !== "handing-over" || refused.node === nextLeader?.node);
}
