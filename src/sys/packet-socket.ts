/** One AF_PACKET socket: one link, ARP or IPv6, frames in and out in batches. Decides nothing. */
import { ArpeggioError, errnoOf, LinkError } from "../base/errors.ts";
import type { Family } from "../net/ip.ts";
import { addon, BATCH_FRAMES, NO_VLAN, type PacketStatistics } from "./addon.ts";

const PROTOCOL: Readonly<Record<Family, number>> = { 4: 0x0806, 6: 0x86dd };
/**
 * Bytes kept of a frame. An ARP frame has 42 or, padded, 60; a solicitation may carry the options of a secured
 * neighbour (RFC 3971), up to the Ethernet MTU of 1,500 and a header. Odd multiples of 64 spread the slots over the cache.
 */
const SLOT_BYTES: Readonly<Record<Family, number>> = { 4: 192, 6: 1_600 };
/** Asked of the kernel, which grants at most net.core.rmem_max; some 300 frames at its default. */
const RECEIVE_BUFFER_BYTES = 1 << 20;

/** What came in one batch. Views and indices are valid during the call only: the next batch overwrites them. */
export interface FrameBatch {
  readonly count: number;
  /** From the Ethernet header on; cut at the slot's end if longer. */
  frame(index: number): Uint8Array;
  /** The 16 bits of the 802.1Q tag that the kernel stripped. */
  vlanTag(index: number): number | undefined;
}

export interface PacketSocketOptions {
  readonly linkIndex: number;
  readonly linkName: string;
  readonly family: Family;
  /** Bytes of a classic BPF program (src/packet/filter.ts). */
  readonly filter: Uint8Array;
  /** See `flush`; for frames that leave because the batch is full, too. Absent: they may leave whenever they do. */
  framesUntilMs?(): number;
  onBatch(frames: FrameBatch): void;
  /** An errno name, ENETDOWN among others. The socket goes on by itself when its link does; see isDetached. */
  onError(code: string): void;
}

/** Throws LinkError with the errno name: EPERM without CAP_NET_RAW, ENODEV for a link that is gone. */
export function openPacketSocket(options: PacketSocketOptions): PacketSocket {
  try {
    return new PacketSocket(options);
  } catch (error) {
    throw new LinkError("opening a packet socket", options.linkName, errnoOf(error), { cause: error });
  }
}

export class PacketSocket {
  readonly #options: PacketSocketOptions;
  readonly #native: InstanceType<typeof addon.PacketSocket>;
  readonly #slotBytes: number;
  /** One view a slot, made again only when the length differs: frames of one kind are equally long. */
  readonly #views: Uint8Array[] = [];
  #queued = 0;

  constructor(options: PacketSocketOptions) {
    this.#options = options;
    this.#slotBytes = SLOT_BYTES[options.family];
    let count = 0;
    const batch: FrameBatch = {
      get count() {
        return count;
      },
      frame: (index) => this.#frame(index),
      vlanTag: (index) => this.#vlanTag(index),
    };
    this.#native = new addon.PacketSocket(
      options.linkIndex,
      PROTOCOL[options.family],
      this.#slotBytes,
      RECEIVE_BUFFER_BYTES,
      options.filter,
      (frames) => {
        count = frames;
        options.onBatch(batch);
      },
      (code) => options.onError(code),
    );
  }

  /** Queues one frame until flush(), or until the batch is full. */
  send(bytes: Uint8Array): void {
    if (bytes.length > this.#slotBytes) {
      throw new ArpeggioError("ERR_INTERNAL_ARGUMENT", `a frame of ${bytes.length} bytes does not fit a slot`);
    }
    if (this.#queued === BATCH_FRAMES) this.flush();
    this.#native.tx.set(bytes, this.#queued * this.#slotBytes);
    this.#native.txLengths[this.#queued] = bytes.length;
    this.#queued++;
  }

  /**
   * Sends what is queued. A refusal is reported to onError and counted; nothing is sent again. What would leave later than `untilMs` of
   * CLOCK_BOOTTIME never does: the clock is read beside the system call, for a process can be stopped between any two of its steps.
   */
  flush(untilMs = this.#options.framesUntilMs?.() ?? Number.POSITIVE_INFINITY): void {
    if (this.#queued === 0) return;
    const count = this.#queued;
    this.#queued = 0;
    const code = this.#native.flush(count, untilMs);
    if (code !== undefined) this.#options.onError(code);
  }

  /** Forgets frames that were queued and not sent: a muted speaker says nothing later. */
  discardQueued(): void {
    this.#queued = 0;
  }

  /** Throws LinkError: ENOMEM where the program exceeds net.core.optmem_max. */
  setFilter(filter: Uint8Array): void {
    try {
      this.#native.setFilter(filter);
    } catch (error) {
      throw new LinkError("attaching a filter", this.#options.linkName, errnoOf(error), { cause: error });
    }
  }

  /** Delivers, before it returns, every frame that is queued in the kernel; their number. */
  drain(): number {
    return this.#native.drain();
  }

  /** Drops every frame that is queued in the kernel; their number. */
  discard(): number {
    return this.#native.discard();
  }

  /** Whether the link that this socket was opened on is gone; a new link of the same name needs a new socket. */
  isDetached(): boolean {
    return this.#native.boundIndex() !== this.#options.linkIndex;
  }

  statistics(): PacketStatistics {
    return this.#native.statistics();
  }

  close(): void {
    this.#native.close();
  }

  #frame(index: number): Uint8Array {
    const length = this.#native.rxWords[2 * index] ?? 0;
    const known = this.#views[index];
    if (known !== undefined && known.length === length) return known;
    const start = index * this.#slotBytes;
    const view = this.#native.rx.subarray(start, start + length);
    this.#views[index] = view;
    return view;
  }

  #vlanTag(index: number): number | undefined {
    const tag = this.#native.rxWords[2 * index + 1] ?? NO_VLAN;
    return tag === NO_VLAN ? undefined : tag;
  }
}
