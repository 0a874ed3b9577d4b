/** The types of the C addon beside this file, and its one loading. Everything else in this folder wraps it. */
import { createRequire } from "node:module";

/** Frames that one batch, and so one arena, holds at most. */
export const BATCH_FRAMES = 64;
/** Second metadata word of a frame from which the kernel stripped no VLAN tag. */
export const NO_VLAN = 0x10000;

/** A failed system call throws an Error whose `code` is the errno name. Methods of a closed socket throw EBADF. */
interface NativePacketSocket {
  /** BATCH_FRAMES slots of `slotBytes`, overwritten by the next batch. */
  readonly rx: Uint8Array;
  /** Two words a frame: captured bytes, at most `slotBytes`; VLAN TCI or NO_VLAN. */
  readonly rxWords: Uint32Array;
  readonly tx: Uint8Array;
  readonly txLengths: Uint32Array;
  setFilter(program: Uint8Array): void;
  /** Sends the first `count` slots while boottimeMs() is at most `untilMs`; the errno name of the last refused frame, if one was. */
  flush(count: number, untilMs: number): string | undefined;
  /** Delivers what is queued, through onBatch, before it returns; the number of frames. */
  drain(): number;
  /** Drops what is queued; the number of frames. */
  discard(): number;
  /** -1 once the link is gone. */
  boundIndex(): number;
  statistics(): PacketStatistics;
  close(): void;
}

/** Counts of frames since the socket was opened. */
export interface PacketStatistics {
  readonly received: number;
  /** Calls into JavaScript that delivered frames. */
  readonly batches: number;
  /** Passed the filter, then lost because the queue was full. */
  readonly dropped: number;
  readonly sent: number;
  /** Not taken by the kernel when sent. */
  readonly refused: number;
  /** Not handed to the kernel, because their time was over. */
  readonly expired: number;
}

interface NativeNetlinkSocket {
  /** Whole messages, one behind the other, overwritten by the next batch. */
  readonly rx: Uint8Array;
  send(message: Uint8Array): void;
  drain(): number;
  close(): void;
}

export interface NativeGroupSocket {
  join(linkIndex: number, group: Uint8Array): void;
  leave(linkIndex: number, group: Uint8Array): void;
  close(): void;
}

interface Addon {
  /** CLOCK_BOOTTIME in milliseconds. */
  boottimeMs(): number;
  /** First words of the SHA-256 of every start with `end` (39 bytes at most) behind it; a start has 80 bytes, of which so many count. */
  rankHeads(starts: Uint8Array, lengths: Uint8Array, end: string, heads: Uint32Array): void;
  readonly PacketSocket: new (
    linkIndex: number,
    protocol: number,
    slotBytes: number,
    receiveBufferBytes: number,
    filter: Uint8Array,
    onBatch: (frames: number) => void,
    onError: (code: string) => void,
  ) => NativePacketSocket;
  readonly NetlinkSocket: new (
    groups: number,
    receiveBufferBytes: number,
    onBatch: (bytes: number) => void,
    onError: (code: string) => void,
  ) => NativeNetlinkSocket;
  readonly GroupSocket: new () => NativeGroupSocket;
}

/** What is loaded by file name lies beside its module, in dist and in the bundle alike. */
export const addon = createRequire(import.meta.url)("./addon.node") as Addon;
