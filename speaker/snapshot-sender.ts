/**
 * Snapshots on their way to the wire thread: one message after the other, each when the last was taken, because a thread takes all that
 * waits for it in one turn. What changes meanwhile is told together after it. Pure, but for its own state.
 */
import type { ClusterSnapshot } from "../src/desired/snapshot.ts";
import { diffSnapshots, type SnapshotMessage } from "../src/desired/snapshot-difference.ts";

export interface SnapshotReceiverPort {
  /** `freshness`: how new the snapshot is that ends with this message. */
  readonly send: (message: SnapshotMessage, freshness?: number) => void;
  /** How new the snapshot is of which the last message was sent before this. */
  readonly tellFreshness: (freshness: number) => void;
}

export class SnapshotSender {
  readonly #port: SnapshotReceiverPort;
  /** What the receiver has when it has taken all messages. */
  #sent: ClusterSnapshot | undefined;
  #newest: ClusterSnapshot | undefined;
  #messages: Iterator<SnapshotMessage, void, undefined> | undefined;
  #freshness: number | undefined;

  constructor(port: SnapshotReceiverPort) {
    this.#port = port;
  }

  /** Sends what differs from the last snapshot, at once or when it is its turn; with its end, how new it is, if that has changed. */
  apply(snapshot: ClusterSnapshot, freshness?: number): void {
    this.#newest = snapshot;
    this.#freshness = freshness ?? this.#freshness;
    if (this.#messages === undefined) this.#sendNext();
  }

  /** How new the snapshot is that was applied last; told when the receiver has it, never before. */
  setFreshness(freshness: number): void {
    this.#freshness = freshness;
    if (this.#messages === undefined) this.#tellFreshness();
  }

  /** The receiver has taken the last message. */
  taken(): void {
    this.#sendNext();
  }

  #sendNext(): void {
    let message = this.#messages?.next();
    if (message === undefined || message.done === true) {
      this.#messages = this.#newest === undefined ? undefined : diffSnapshots(this.#sent, this.#newest);
      this.#sent = this.#newest ?? this.#sent;
      this.#newest = undefined;
      message = this.#messages?.next();
    }
    if (message?.done === false) {
      // What has come meanwhile may be newer than what this ends.
      const isLast = message.value.isEnd && this.#newest === undefined;
      return this.#port.send(message.value, isLast ? this.#takeFreshness() : undefined);
    }
    this.#messages = undefined;
    this.#tellFreshness();
  }

  #tellFreshness(): void {
    const freshness = this.#takeFreshness();
    if (freshness !== undefined) this.#port.tellFreshness(freshness);
  }

  #takeFreshness(): number | undefined {
    const freshness = this.#freshness;
    this.#freshness = undefined;
    return freshness;
  }
}
