/** Whether a world is settled: nothing disturbs it, and nothing has for long enough that everybody must agree. */

/** Faults that leave different views behind need detection and rejoin; planned changes only need delivery. */
export type Disturbance =
  /** An input of the cluster or a planned move, delivered to everybody. */
  | "planned"
  /** Something that observers may only believe after it contradicted a node's own word for 10 s (DESIGN D4). */
  | "contradicted"
  /** A node started, came back, or a view about it may have gone stale: settling lasts 10 s. */
  | "membership"
  /** Somebody vanished without a word: memberlist's own verdict takes up to its longest suspicion. */
  | "vanished"
  /** A link was lost so often that its node keeps it behind for a minute (DESIGN D3 tier 2). */
  | "damped"
  /** A name came back from another address: it is refused until it is held dead at the old one (state.go, alive rule 5). */
  | "readdressed";

/**
 * Time after the last disturbance of each kind. planned: a ready endpoint is fresh for 2 s from when each observer has read of it, and what
 * moves then moves by then; half a second for the flip and a lost claim. membership: 10 s rejoin, 10 s settling, 2 s W. vanished: a
 * probe round of up to 5 members, longest suspicion 24 s (memberlist's LAN timing, up to 10 members), then as membership.
 */
export const SETTLE_MS: Readonly<Record<Disturbance, number>> = {
  planned: 2_500,
  contradicted: 13_000,
  membership: 24_000,
  vanished: 45_000,
  damped: 75_000,
  readdressed: 60_000,
};

/** A link that is up again does not count for 2 s, and is said to be back only then: whoever agrees must do so for longer. */
const AGREED_MS = 3_000;

/** A live, connected node is alive everywhere within this (SIMULATION 15), but for a death to detect first (24 s, a probe round, a rejoin). */
const REUNITED_MS = 12_000;
const READDRESSED_REUNITED_MS = 40_000;

export class Calm {
  readonly #active = new Set<string>();
  /** When anything was touched last, and until when the world may take to settle from it. */
  #touchedMs = 0;
  #settledMs = 0;
  #readdressedMs = Number.NEGATIVE_INFINITY;
  /** Since when everybody agrees, and from when on that was held to stay so. */
  #agreedSinceMs: number | undefined;
  #settledSinceMs: number | undefined;

  /** Something begins that lasts until `end` with the same name. */
  begin(name: string, kind: Disturbance, nowMs: number): void {
    this.#active.add(name);
    this.touch(kind, nowMs);
  }

  end(name: string, kind: Disturbance, nowMs: number): void {
    this.#active.delete(name);
    this.touch(kind, nowMs);
  }

  touch(kind: Disturbance, nowMs: number): void {
    this.#touchedMs = nowMs;
    this.#settledMs = Math.max(this.#settledMs, nowMs + SETTLE_MS[kind]);
    if (kind === "readdressed") this.#readdressedMs = nowMs;
    this.disagreed();
    this.#settledSinceMs = undefined;
  }

  /** Everybody agrees: whoever does so for a while counts as settled, until something disturbs again. */
  agreed(nowMs: number): void {
    this.#agreedSinceMs ??= nowMs;
    if (nowMs - this.#agreedSinceMs >= AGREED_MS) this.#settledSinceMs ??= nowMs;
  }

  disagreed(): void {
    this.#agreedSinceMs = undefined;
  }

  get isDisturbed(): boolean {
    return this.#active.size > 0;
  }

  /** Since when nothing was touched at all; undefined while a fault lasts. */
  quietSinceMs(): number | undefined {
    return this.isDisturbed ? undefined : this.#touchedMs;
  }

  /** From this time on everybody who lives must be alive everywhere; undefined while a fault lasts. */
  reunitedFromMs(): number | undefined {
    const quietSinceMs = this.quietSinceMs();
    if (quietSinceMs === undefined) return undefined;
    return Math.max(quietSinceMs + REUNITED_MS, this.#readdressedMs + READDRESSED_REUNITED_MS);
  }

  /** Some may refuse a name at its new address, so that not everybody hears everybody. */
  isReaddressing(nowMs: number): boolean {
    return nowMs - this.#readdressedMs < READDRESSED_REUNITED_MS;
  }

  /** From this time on nobody is apart: at once after a heal, later when a name moved to another address. */
  connectedFromMs(): number | undefined {
    const quietSinceMs = this.quietSinceMs();
    if (quietSinceMs === undefined) return undefined;
    return Math.max(quietSinceMs, this.#readdressedMs + READDRESSED_REUNITED_MS);
  }

  /** From this time on the world counts as settled, if nothing more happens; undefined while a fault lasts. */
  settledFromMs(): number | undefined {
    if (this.isDisturbed) return undefined;
    return Math.min(this.#settledMs, this.#settledSinceMs ?? this.#settledMs);
  }
}
