/**
 * Members that were heard as holders of what is led here, by a frame or by their word (DESIGN D9): each gets our claim, and both compare.
 * Not at once, because mostly the news that the other leads is on its way to us.
 */
import type { Address } from "./address.ts";

/** From hearing to our claim: news of an election takes less. */
const DELAY_MS = 200;
/** At most so often for one address. */
const INTERVAL_MS = 1_000;

export interface HeardHolder {
  readonly address: Address;
  readonly node: string;
}

export class HeardHolders {
  readonly #heard = new Map<Address, { readonly node: string; readonly dueMs: number }>();

  /** Whether a claim is due later because of it. */
  hear(address: Address, node: string, nowMs: number): boolean {
    if (!address.isArmed || this.#heard.has(address)) return false;
    if (nowMs - (address.contestedMs ?? Number.NEGATIVE_INFINITY) < INTERVAL_MS) return false;
    address.contestedMs = nowMs + DELAY_MS;
    this.#heard.set(address, { node, dueMs: nowMs + DELAY_MS });
    return true;
  }

  /** What is still led, and from whom it is to be claimed now. */
  takeDue(nowMs: number): readonly HeardHolder[] {
    const due: HeardHolder[] = [];
    for (const [address, { node, dueMs }] of this.#heard) {
      if (dueMs > nowMs) continue;
      this.#heard.delete(address);
      if (address.isArmed) due.push({ address, node });
    }
    return due;
  }

  nextDeadlineMs(): number | undefined {
    let nextMs: number | undefined;
    for (const { dueMs } of this.#heard.values()) if (nextMs === undefined || dueMs < nextMs) nextMs = dueMs;
    return nextMs;
  }
}
