/** Keeps watch over MetalLB's controllers in the Pods that are read, and is asked before every write of an address. */
import type { Clock, Timer } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import {
  allowedAtMs,
  type NeighbourPod,
  type OtherAllocators,
  seePods,
  standStillSentence,
  UNREAD,
} from "./other-allocator.ts";

export interface AllocatorGateOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** What `mayAllocate` says has changed. */
  readonly onChange: () => void;
  /** Once for each Pod of MetalLB's controllers, for an event about it. */
  readonly onOther: (pod: NeighbourPod) => void;
}

export class AllocatorGate {
  readonly #options: AllocatorGateOptions;
  #others: OtherAllocators = UNREAD;
  /** By uid. */
  #told = new Set<string>();
  #timer: Timer | undefined;
  #isOpen = false;

  constructor(options: AllocatorGateOptions) {
    this.#options = options;
  }

  /** By the clock at this moment. */
  get mayAllocate(): boolean {
    return this.sentence === undefined;
  }

  /** Why nothing is allocated; undefined when it may be. */
  get sentence(): string | undefined {
    return standStillSentence(this.#others, this.#options.clock.nowMs());
  }

  /** MetalLB's controllers that stand in the way. */
  get others(): readonly NeighbourPod[] {
    return this.#others.pods ?? [];
  }

  /** All Pods of the namespace, from a complete list and whenever one of them changed. */
  podsRead(pods: Iterable<NeighbourPod>): void {
    const { clock, log, onOther } = this.#options;
    this.#others = seePods(this.#others, pods, clock.nowMs());
    const before = this.#told;
    this.#told = new Set(this.others.map(({ uid }) => uid));
    for (const pod of this.others.filter(({ uid }) => !before.has(uid))) {
      log.warn("another allocator runs", { pod: pod.name });
      onOther(pod);
    }
    this.#look();
  }

  close(): void {
    this.#timer?.cancel();
  }

  #look(): void {
    this.#timer?.cancel();
    const { clock, log, onChange } = this.#options;
    const atMs = allowedAtMs(this.#others);
    if (!this.mayAllocate && atMs !== undefined) {
      this.#timer = clock.schedule(atMs - clock.nowMs(), () => this.#look());
    }
    if (this.mayAllocate === this.#isOpen) return;
    this.#isOpen = this.mayAllocate;
    if (this.#isOpen) log.info("no other allocator runs");
    onChange();
  }
}
