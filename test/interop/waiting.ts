/** A growing list of events, and a way to wait for one of them. */
const LIMIT_MS = 30_000;

export class EventList<Event> {
  readonly all: Event[] = [];
  readonly #name: string;
  readonly #followers: ((event: Event) => void)[] = [];
  #wake: (() => void)[] = [];

  /** @param name for the message of a wait that ends in vain */
  constructor(name: string) {
    this.#name = name;
  }

  push(event: Event): void {
    this.all.push(event);
    for (const callback of this.#followers) callback(event);
    for (const wake of this.#wake.splice(0)) wake();
  }

  /** Calls back for every event, those that have come first. */
  follow(callback: (event: Event) => void): void {
    for (const event of this.all) callback(event);
    this.#followers.push(callback);
  }

  /** The first event that matches, of those that have come and those that come in time. */
  async until(what: string, matches: (event: Event) => boolean): Promise<Event> {
    const endMs = performance.now() + LIMIT_MS;
    for (;;) {
      const found = this.all.find(matches);
      if (found !== undefined) return found;
      if (performance.now() > endMs) throw new Error(`${this.#name}: no ${what} in ${LIMIT_MS} ms; ${this.#latest()}`);
      await this.#next(endMs - performance.now());
    }
  }

  #next(limitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timeout = setTimeout(resolve, Math.max(1, limitMs + 1));
      this.#wake.push(() => {
        clearTimeout(timeout);
        resolve();
      });
    });
  }

  #latest(): string {
    return this.all
      .slice(-25)
      .map((event) => JSON.stringify(event))
      .join("\n");
  }
}
