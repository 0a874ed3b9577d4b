/** The transmit-limited queue of broadcasts (memberlist queue.go): fewest sends first, then the longest that fits, then the newest. */

/** Bytes that a compound adds for one more part. */
export const PART_OVERHEAD_BYTES = 2;

/** How often each broadcast is handed out: a logarithm, because every receiver passes it on. */
export function transmitLimit(retransmitMult: number, nodes: number): number {
  return retransmitMult * Math.ceil(Math.log10(nodes + 1));
}

interface Broadcast {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly order: number;
  readonly finished: (() => void) | undefined;
  sends: number;
}

export class BroadcastQueue {
  readonly #byName = new Map<string, Broadcast>();
  #sorted: Broadcast[] | undefined;
  #order = 0;

  get size(): number {
    return this.#byName.size;
  }

  /** Replaces what is queued under the same name. `finished` is called when it was sent often enough or replaced. */
  add(name: string, bytes: Uint8Array, finished?: () => void): void {
    const replaced = this.#byName.get(name);
    this.#byName.set(name, { name, bytes, order: this.#order++, finished, sends: 0 });
    this.#sorted = undefined;
    replaced?.finished?.();
  }

  /** Broadcasts for one target within `budgetBytes`, each counted as sent once and dropped at `limit`. */
  take(budgetBytes: number, limit: number): Uint8Array[] {
    if (this.#byName.size === 0) return [];
    const taken: Broadcast[] = [];
    let freeBytes = budgetBytes;
    for (const broadcast of this.#inOrder()) {
      const neededBytes = broadcast.bytes.length + PART_OVERHEAD_BYTES;
      if (neededBytes > freeBytes) continue;
      freeBytes -= neededBytes;
      taken.push(broadcast);
    }
    for (const broadcast of taken) this.#countSend(broadcast, limit);
    return taken.map(({ bytes }) => bytes);
  }

  #countSend(broadcast: Broadcast, limit: number): void {
    broadcast.sends++;
    this.#sorted = undefined;
    if (broadcast.sends < limit) return;
    this.#byName.delete(broadcast.name);
    broadcast.finished?.();
  }

  #inOrder(): readonly Broadcast[] {
    this.#sorted ??= [...this.#byName.values()].toSorted(
      (a, b) => a.sends - b.sends || b.bytes.length - a.bytes.length || b.order - a.order,
    );
    return this.#sorted;
  }
}
