/** Pings that wait for an ack, by sequence number: who asked for each, and until when. */

export type PendingPing =
  /** Of the probe that runs. */
  | { readonly kind: "probe"; readonly node: string }
  /** A ping on behalf of a member that did not reach the target itself. */
  | { readonly kind: "relay"; readonly relay: number; readonly node: string }
  /** To a member held dead. */
  | { readonly kind: "heal"; readonly node: string }
  /** Of the fast detector: to one it watches, or to a helper. */
  | { readonly kind: "watch"; readonly node: string }
  /** To one it watches, through helpers. */
  | { readonly kind: "watch-relayed"; readonly node: string }
  /** To one that came back from the dead. */
  | { readonly kind: "returned"; readonly node: string }
  /** Asked for by `ping-members`. */
  | { readonly kind: "asked"; readonly node: string };

interface Waiting {
  readonly ping: PendingPing;
  readonly untilMs: number;
}

/** A member that floods us with indirect pings gets no more than this. */
const MAX_PENDING = 4_096;

export class PendingPings {
  readonly #waiting = new Map<number, Waiting>();

  add(seqNo: number, ping: PendingPing, untilMs: number): void {
    if (this.#waiting.size >= MAX_PENDING) this.#dropOldest();
    this.#waiting.set(seqNo, { ping, untilMs });
  }

  /**
   * The ping that this ack answers; later acks of the same number find nothing. An ack that is read late but before the
   * next tick counts: it may have waited in our own socket.
   */
  take(seqNo: number): PendingPing | undefined {
    const ping = this.#waiting.get(seqNo)?.ping;
    this.#waiting.delete(seqNo);
    return ping;
  }

  /** At a tick, after deadlines were judged: forgets what nobody waits for any more. */
  sweep(nowMs: number): void {
    for (const [seqNo, { untilMs }] of this.#waiting) if (untilMs < nowMs) this.#waiting.delete(seqNo);
  }

  #dropOldest(): void {
    for (const seqNo of this.#waiting.keys()) {
      this.#waiting.delete(seqNo);
      return;
    }
  }
}
