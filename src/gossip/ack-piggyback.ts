/**
 * Which acks carry queued broadcasts: to one asker at most one each half second. memberlist's own probes come seldom enough; a member
 * that is watched, or held dead, is pinged ten times a second, and would spend on its askers what is meant for everybody.
 */

const INTERVAL_MS = 500;
const MAX_ASKERS = 4_096;

export class AckPiggyback {
  readonly #lastMs = new Map<string, number>();

  /** Whether an ack to `asker` may carry something now; asking takes the turn. */
  takes(asker: string, nowMs: number): boolean {
    const lastMs = this.#lastMs.get(asker);
    if (lastMs !== undefined && nowMs - lastMs < INTERVAL_MS) return false;
    if (this.#lastMs.size >= MAX_ASKERS) this.#lastMs.clear();
    this.#lastMs.set(asker, nowMs);
    return true;
  }
}
