/**
 * From the moment at which everything allows it to the first write, and back: everything is read anew, then it is allocated. Whenever a
 * gate was closed, somebody else may have written meanwhile.
 */
import type { Leadership as LeadershipEvent } from "../src/allocator/ports.ts";
import type { Clock, Timer } from "../src/base/clock.ts";
import type { Gates } from "./gates.ts";

export interface LeadershipPorts {
  readonly gates: Gates;
  readonly clock: Clock;
  /** Begins to read everything anew. */
  readonly relist: () => void;
  /** Everything was read since, and told. */
  readonly isFresh: () => boolean;
  readonly tell: (event: LeadershipEvent) => void;
  /** What is under way ends; nothing of it is told any more. */
  readonly stopWriting: () => void;
  /** Names this holder of the Lease and how often it changed hands before. */
  readonly term: () => string;
  /** How long to wait before everything is read, for what a former holder sent to arrive. */
  readonly settleMs: number;
}

export type LeadershipState = "standing-by" | "reading-anew" | "allocating";

export class Leadership {
  readonly #ports: LeadershipPorts;
  #state: LeadershipState = "standing-by";
  #settling: Timer | undefined;
  #lastTerm = "";
  #turns = 0;

  constructor(ports: LeadershipPorts) {
    this.#ports = ports;
  }

  get state(): LeadershipState {
    return this.#state;
  }

  /** To be called whenever a gate may have opened or closed, and when something was read. */
  check(): void {
    const { gates, isFresh } = this.#ports;
    if (!gates.mayAllocate()) return this.#standBy();
    if (this.#state === "standing-by") this.#begin();
    else if (this.#state === "reading-anew" && this.#settling === undefined && isFresh()) this.#lead();
  }

  close(): void {
    this.#settling?.cancel();
  }

  #standBy(): void {
    if (this.#state === "standing-by") return;
    this.#settling?.cancel();
    this.#settling = undefined;
    const { tell, stopWriting } = this.#ports;
    if (this.#state === "allocating") {
      stopWriting();
      tell({ kind: "stand-by" });
    }
    this.#state = "standing-by";
  }

  #begin(): void {
    const { clock, relist, settleMs } = this.#ports;
    this.#state = "reading-anew";
    if (settleMs === 0) return relist();
    this.#settling = clock.schedule(settleMs, () => {
      this.#settling = undefined;
      relist();
      this.check();
    });
  }

  #lead(): void {
    const { tell, term } = this.#ports;
    this.#state = "allocating";
    const name = term();
    this.#turns = name === this.#lastTerm ? this.#turns + 1 : 1;
    this.#lastTerm = name;
    // Another name each time, or a condition that says the same would not change the Service's version.
    tell({ kind: "lead", fence: this.#turns === 1 ? name : `${name}.${this.#turns}` });
  }
}
