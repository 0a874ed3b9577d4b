/**
 * What speakers say to each other about strict addresses (docs/wire.md, kinds 7 and 8), and the times that the promise rests on.
 * A lease is of one address: two views may group addresses differently, and then a lease of a group would be two.
 */
import type { NodeName } from "../../desired/snapshot.ts";
import type { Ip } from "../../net/ip.ts";

/** So long after it granted an address to one node a voter grants it to no other, by its own clock. */
export const LEASE_MS = 1_000;
/**
 * The holder counts from when it asked, and stops so much earlier: two clocks that differ by 400 ppm part by 0.4 ms in a lease, the
 * rest is for what lies between looking at the clock and the frame's leaving.
 */
export const MARGIN_MS = 100;
/** From a grant to the next question: two more fit in before the lease ends. */
export const RENEW_MS = 300;
/** Whoever got no grant asks again. */
export const ASK_AGAIN_MS = 75;
/** Addresses of one page: with IPv6 a page fits one datagram of 1,200 bytes. */
export const PAGE_ADDRESSES = 48;
/** More pages a speaker does not keep of another: 24,576 addresses. */
export const PAGES_KEPT = 512;

/** Part of the addresses that a node wants to answer for. Contents go over the wire only until they are known there. */
export interface AskedPage {
  readonly number: number;
  /** Rises with every change of contents, from 1. */
  readonly version: number;
  /** Absent: as they were known to the voter with this version. An address that is missing is released. */
  readonly addresses?: readonly Ip[];
}

/** "Grant me these"; without pages: "which speakers do you expect?" */
export interface LeaseAsk {
  readonly kind: "lease-ask";
  readonly node: NodeName;
  /** Of one process: one that starts anew holds nothing. */
  readonly session: number;
  /** By the asker's clock, in whole ms, rounded down; comes back with the grant. */
  readonly askedMs: number;
  /** The voter sets in which the asker needs a majority each, by id. */
  readonly voterSets: readonly number[];
  readonly pages: readonly AskedPage[];
}

export interface GrantedPage {
  readonly number: number;
  /** 0: the contents are not known, and nothing is granted. */
  readonly version: number;
  /** Granted to another node. */
  readonly denied: readonly Ip[];
}

/** Why a voter grants nothing at all. */
export type GrantRefusal = "starting" | "other-voters";

export interface LeaseGrant {
  readonly kind: "lease-grant";
  readonly node: NodeName;
  /** Of the asker, as is `askedMs`. */
  readonly session: number;
  readonly askedMs: number;
  /** The set of speakers that the voter expects, by id. */
  readonly voterSet: number;
  readonly refusal?: GrantRefusal;
  readonly pages: readonly GrantedPage[];
}

export type LeaseMessage = LeaseAsk | LeaseGrant;
