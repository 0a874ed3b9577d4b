/** Tests that begin together, each with its own `it`. */

export interface TogetherOptions {
  /** How long an `it` may wait for its test, and the last hook for all that still run. */
  readonly limitMs: number;
  /** How many run at the same time: when one has ended, the next in order begins. */
  readonly atOnce: number;
}

/** One `it` for each, in this order. They begin when the `describe` does; each `it` waits for its own. */
export function beginTogether(tests: Readonly<Record<string, () => Promise<void>>>, options: TogetherOptions): void {
  const { limitMs, atOnce } = options;
  const running = new Map<string, Promise<void>>();
  before(() => {
    const busy = new Set<Promise<unknown>>();
    for (const [name, body] of Object.entries(tests)) {
      const ended = runInTurn(body, busy, atOnce);
      // Its own `it` tells.
      ended.catch(() => undefined);
      running.set(name, ended);
    }
  });
  for (const name of Object.keys(tests)) {
    it(name, async function () {
      this.timeout(limitMs);
      await running.get(name);
    });
  }
  after(async function () {
    this.timeout(limitMs);
    await Promise.allSettled(running.values());
  });
}

/** Whoever came first goes first: all wait for the same promises, and are woken in the order in which they began to wait. */
async function runInTurn(body: () => Promise<void>, busy: Set<Promise<unknown>>, atOnce: number): Promise<void> {
  while (busy.size >= atOnce) await Promise.race(busy);
  const own = body();
  const ended: Promise<unknown> = own.catch(() => undefined).then(() => busy.delete(ended));
  busy.add(ended);
  await own;
}
