/** What the two threads say to each other (DESIGN D16): plain values that survive postMessage. They share nothing but the heartbeats. */

import type { AddressDocument } from "../api/address.ts";
import type { StatusDocument } from "../api/status.ts";
import type { SnapshotMessage } from "../src/desired/snapshot-difference.ts";
import type { KeyFiles } from "../src/gossip/key-rotation.ts";
import type { Endpoint } from "../src/gossip/message.ts";
import type { Timing } from "../src/gossip/timing.ts";
import type { Timings, WireCounters } from "../src/metrics/counters.ts";
import type { Ip } from "../src/net/ip.ts";
import type { SpeakerNote, SpeakerSettings } from "./speaker-ports.ts";

/** Gossip as the wire thread runs it; names are resolved and files are read by the main thread. */
export interface GossipSettings {
  readonly bind: Endpoint;
  /** Undefined: traffic is not encrypted. */
  readonly keys?: KeyFiles;
  readonly timing: Timing;
}

export interface WireSettings {
  readonly speaker: SpeakerSettings;
  /** Absent: gossip is off, this node is alone. */
  readonly gossip?: GossipSettings;
  readonly beats: Int32Array<SharedArrayBuffer>;
}

/** The part of /status that the wire thread knows; the main thread adds its sources, what it writes and the version. */
export type WireStatus = Omit<StatusDocument, "sources" | "writtenBack" | "version">;

export type AddressStatus = WireStatus["addresses"][number];
/** The addresses come before it, in parts. */
export type WireStatusHead = Omit<WireStatus, "addresses">;

export type ToWire =
  /** `freshness`: how new the snapshot is that ends with this message, if that has changed; see `Speaker.setFreshness`. */
  | { readonly kind: "snapshot"; readonly message: SnapshotMessage; readonly freshness?: number }
  /** How new the snapshot is that was sent last, when nothing else has changed. */
  | { readonly kind: "freshness"; readonly freshness: number }
  /** `named`: how many peers the user named, known by address or not. */
  | { readonly kind: "peers"; readonly endpoints: readonly Endpoint[]; readonly named: number }
  /** The files of the gossip key were changed. */
  | { readonly kind: "keys"; readonly keys: KeyFiles }
  | { readonly kind: "step-down"; readonly isWanted: boolean }
  | { readonly kind: "leave" }
  | { readonly kind: "ask"; readonly id: number; readonly what: "status" | "totals" }
  | { readonly kind: "ask-address"; readonly id: number; readonly ip: Ip };

/** Totals for the metrics, and the timings since the last asking. */
export interface WireTotals {
  readonly counters: WireCounters;
  readonly timings: Timings;
}

export type FromWire =
  | { readonly kind: "note"; readonly note: SpeakerNote }
  /** The next part of a snapshot may come. */
  | { readonly kind: "snapshot-taken" }
  | { readonly kind: "addresses"; readonly id: number; readonly addresses: readonly AddressStatus[] }
  | { readonly kind: "status"; readonly id: number; readonly status: WireStatusHead }
  | { readonly kind: "totals"; readonly id: number; readonly totals: WireTotals }
  | { readonly kind: "address"; readonly id: number; readonly address?: AddressDocument };
