/**
 * What the wire thread knows of a Service that this node has to write something about: the input of everything that is written
 * back. A Service without a report is none of this node's business. Plain values that survive postMessage.
 */
import type { AddressReason } from "../../../api/reasons.ts";

/** Led by this node, on at least one link. */
export interface LeadingReport {
  readonly kind: "leading";
  readonly addresses: readonly string[];
  /** Those that the addresses are answered on, by name. */
  readonly links: readonly { readonly name: string; readonly mac: string }[];
  /** Sorted link names when the advertisements restrict them; empty otherwise. */
  readonly restrictedTo: readonly string[];
  /** When this leadership began: wall time, ms. */
  readonly sinceMs: number;
  readonly reason: AddressReason;
  /** Absent: nobody was known to lead before. */
  readonly previousNode?: string;
  /** Place of this node among the candidates, from 1, and how many they are. */
  readonly rank: number;
  readonly candidates: number;
}

/** Led by this node by the rule, but no link of it is selected or usable, and no other candidate has one. */
export interface NoLinkReport {
  readonly kind: "no-link";
  readonly addresses: readonly string[];
}

/** Led by nobody, and this node is the one that says so. */
export interface NotAnnouncedReport {
  readonly kind: "not-announced";
  readonly addresses: readonly string[];
  readonly reason: AddressReason;
  /** A whole sentence: what is the matter, and with which pool, node or label. */
  readonly sentence: string;
}

export type ServiceReport = LeadingReport | NoLinkReport | NotAnnouncedReport;

/** By `namespace/name`: what changed since the last message; without a report, the Service is this node's business no more. */
export interface ServiceReportChange {
  readonly service: string;
  readonly report?: ServiceReport;
}
