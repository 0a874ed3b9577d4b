import { setTimeout as sleep } from "node:timers/promises";

export interface Patience {
  readonly timeoutMs: number;
  /** Between one look and the next. */
  readonly pollMs: number;
}

/** Asks again and again until the check gives something else than undefined or false, or throws with what was waited for. */
export async function until<Wanted>(
  what: string,
  { timeoutMs, pollMs }: Patience,
  check: () => Promise<Wanted | undefined | false>,
): Promise<Wanted> {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    const found = await check();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadlineMs) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await sleep(pollMs);
  }
}
