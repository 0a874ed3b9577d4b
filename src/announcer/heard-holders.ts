/**
 * Members that were heard as holders of what is led here, by a frame or by their word (DESIGN D9): each gets our claim, and both compare.
 * Mostly the news that the other leads is on its way to us, and is waited for. Where both have just taken it from a third, each by its own news,
 * neither may know of the other, and both answer meanwhile: then no more is waited for than its claim, and how new the views are decides.
 * Of sticky addresses the records of who took them, which go to everybody, decide as soon.
 */
import { DueMap } from "../base/due-map.ts";
import type { Address } from "./address.ts";

/** From hearing to our claim: news of an election takes less. */
const DELAY_MS = 200;
/** The same where both have just taken it: the claim that goes out with an announcement, and its first repeat after 20 ms, take less. */
const RACE_DELAY_MS = 25;
/** At most so often for one address. */
const INTERVAL_MS = 1_000;

export interface HeardHolder {
  readonly address: Address;
  readonly node: string;
}

export class HeardHolders {
  readonly #heard = new DueMap<Address, { readonly node: string; readonly dueMs: number }>(({ dueMs }) => dueMs);

  /** Whether a claim is due because of it. `freshness`: of our view; 0 where it does not tell which of two views is the newer one. */
  hear(address: Address, node: string, freshness: number, nowMs: number): boolean {
    if (!address.isArmed || this.#heard.has(address)) return false;
    if (nowMs - (address.contestedMs ?? Number.NEGATIVE_INFINITY) < INTERVAL_MS) return false;
    const isRace = freshness !== 0 && address.duty.basis.term === 0 && hasJustTaken(address, node, nowMs);
    const dueMs = nowMs + (isRace ? RACE_DELAY_MS : DELAY_MS);
    address.contestedMs = dueMs;
    this.#heard.set(address, { node, dueMs });
    return true;
  }

  /** What is still led, and from whom it is to be claimed now. */
  takeDue(nowMs: number): readonly HeardHolder[] {
    const due: HeardHolder[] = [];
    this.#heard.advance(nowMs, ({ node }, address) => {
      if (address.isArmed) due.push({ address, node });
      return undefined;
    });
    return due;
  }

  nextDeadlineMs(): number | undefined {
    return this.#heard.nextDeadlineMs();
  }
}

function hasJustTaken({ claimedFrom, armedMs = 0 }: Address, node: string, nowMs: number): boolean {
  return claimedFrom !== node && nowMs - armedMs < DELAY_MS;
}
