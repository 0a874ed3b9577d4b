/** How long a member stays suspect before it is held dead (memberlist suspicion.go, state.go:1204-1246). Pure. */
import type { Timing } from "./timing.ts";

export interface SuspicionLimits {
  /** Confirmations by others that bring the deadline down to the least. */
  readonly confirmationsWanted: number;
  readonly leastMs: number;
  readonly greatestMs: number;
}

/** `nodes` counts everybody known, suspect and unreaped dead members included. */
export function suspicionLimits(timing: Timing, nodes: number): SuspicionLimits {
  const thousandths = Math.trunc(1_000 * Math.max(1, Math.log10(Math.max(1, nodes))));
  const leastMs = (timing.suspicionMult * thousandths * timing.probeIntervalMs) / 1_000;
  const wanted = timing.suspicionMult - 2;
  return {
    // With too few others to confirm, waiting for them would only make detection slower.
    confirmationsWanted: nodes - 2 < wanted ? 0 : wanted,
    leastMs,
    greatestMs: timing.suspicionMaxTimeoutMult * leastMs,
  };
}

/** Time from the first accusation to the verdict after `confirmations` by others. */
export function suspicionMs(limits: SuspicionLimits, confirmations: number): number {
  const { confirmationsWanted, leastMs, greatestMs } = limits;
  if (confirmationsWanted < 1) return leastMs;
  const share = Math.log(confirmations + 1) / Math.log(confirmationsWanted + 1);
  return Math.max(leastMs, Math.floor(greatestMs - (greatestMs - leastMs) * share));
}

/** Between two times that a suspect which is heard is told. */
const TELL_INTERVAL_MS = 200;

/** One running suspicion. */
export class Suspicion {
  readonly #limits: SuspicionLimits;
  /** The first accuser is among them, so that it cannot confirm itself. */
  readonly #accusers = new Set<string>();
  #startMs: number;
  #toldMs = Number.NEGATIVE_INFINITY;

  constructor(limits: SuspicionLimits, accuser: string, startMs: number) {
    this.#limits = limits;
    this.#startMs = startMs;
    this.#accusers.add(accuser);
  }

  get confirmations(): number {
    return this.#accusers.size - 1;
  }

  get deadlineMs(): number {
    return this.#startMs + suspicionMs(this.#limits, this.confirmations);
  }

  /** Whether it ran out with fewer confirmations than it wanted. */
  get isUnconfirmed(): boolean {
    return this.confirmations < this.#limits.confirmationsWanted;
  }

  /** True when `accuser` is new and its voice still counts: then the accusation is worth passing on. */
  confirm(accuser: string): boolean {
    if (this.confirmations >= this.#limits.confirmationsWanted || this.#accusers.has(accuser)) return false;
    this.#accusers.add(accuser);
    return true;
  }

  /** Whether the suspect, which was heard just now, is to be told what it is held for. */
  isToBeTold(nowMs: number): boolean {
    if (nowMs - this.#toldMs < TELL_INTERVAL_MS) return false;
    this.#toldMs = nowMs;
    return true;
  }

  /** Takes out time in which we ourselves stood still and could hear no refutation. */
  postpone(byMs: number): void {
    this.#startMs += byMs;
  }
}
