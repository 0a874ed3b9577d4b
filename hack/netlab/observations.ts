/** What the client and the watcher note during a drill, and what they are told. Times are monotonicMs(). */
import type { Ip } from "../../src/net/ip.ts";
import type { Mac } from "../../src/net/mac.ts";

/** One request of the client, a TCP connection of its own. */
export interface RequestRecord {
  readonly startMs: number;
  /** When the SYN was answered. */
  readonly connectedMs?: number;
  readonly endMs: number;
  /** answered: by `node`. silent: the SYN was not answered within SYN_TIMEOUT_MS. broken: anything else. */
  readonly outcome: "answered" | "silent" | "broken";
  readonly node?: string;
}

/** One ARP packet or Neighbor Advertisement that claims the watched address. */
export interface FrameRecord {
  readonly atMs: number;
  readonly mac: Mac;
  /** Number of the probe it answers; absent: it was not asked for. */
  readonly probe?: number;
}

/** A SYN answered later is lost: the client's kernel has sent it a second time by then (RFC 6298 §2, initial timeout 1 s). */
export const SYN_TIMEOUT_MS = 1_000;

/** Often enough for 500 requests a second. */
export const REQUEST_INTERVAL_MS = 2;
export const PROBE_INTERVAL_MS = 5;

export type Command =
  /** The client's requests are 2 ms apart unless told otherwise; the watcher asks at its own pace. */
  | { readonly kind: "start"; readonly address: Ip; readonly port: number; readonly requestIntervalMs?: number }
  | { readonly kind: "stop" };

export type ClientReport =
  /** Another node than before has answered. */
  | { readonly kind: "answered-by"; readonly node: string; readonly atMs: number }
  | { readonly kind: "done"; readonly requests: readonly RequestRecord[] };

export type WatcherReport =
  /** Another MAC than answered the probe before. */
  | { readonly kind: "probe-answered-by"; readonly mac: Mac; readonly atMs: number }
  /** Another MAC than in the frame before. */
  | { readonly kind: "claimed-by"; readonly mac: Mac; readonly atMs: number }
  | { readonly kind: "done"; readonly frames: readonly FrameRecord[] };
