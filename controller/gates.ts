/** What must all hold for an address to be given. Each part that can forbid it is a gate of its own; here they are joined. */

export interface Gate {
  /** Why nothing may be given now, a sentence; undefined: it may. Asked at the last moment before every write, so it must be quick and true of this very moment. */
  closedBecause(): string | undefined;
}

export class Gates {
  readonly #gates: Gate[] = [];

  add(gate: Gate): void {
    this.#gates.push(gate);
  }

  /** Of every gate that is closed, in the order in which they were added. */
  closedBecause(): readonly string[] {
    return this.#gates.flatMap((gate) => gate.closedBecause() ?? []);
  }

  mayAllocate(): boolean {
    return this.#gates.every((gate) => gate.closedBecause() === undefined);
  }
}
