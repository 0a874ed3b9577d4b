/** Which links count (DESIGN D3, "usable link"): kernel facts, selection and hold-up. Pure: `(state, links, now) → state`. */
import { isLinkUp, type Link } from "../net/link.ts";
import { addTrouble, dampedUntilMs, type Happening } from "./damping.ts";
import { RETURN_TIMING, type ReturnTiming } from "./return-timing.ts";

export interface LinkRules {
  /** Names that match any of these never count, as MetalLB's `excludel2` configuration has it. */
  readonly excluded: readonly RegExp[];
  /** Names that count; empty means all. */
  readonly selected: readonly string[];
}

export interface LinksState {
  readonly rules: LinkRules;
  readonly timing: ReturnTiming;
  /** What the kernel said last; undefined before it said anything. */
  readonly links?: readonly Link[];
  /** By link index, for links that are up: since when they count. */
  readonly countsFromMs: ReadonlyMap<number, number>;
  /** By link index: when it was lost, in the order of time. */
  readonly losses: ReadonlyMap<number, readonly Happening[]>;
  /** Indices of links whose packet sockets do not open. */
  readonly failed: ReadonlySet<number>;
}

/** Why a link is not answered on. */
export type LinkReason =
  | "loopback"
  | "not-ethernet"
  | "no-broadcast"
  | "no-arp"
  | "admin-down"
  | "no-carrier"
  | "has-master"
  | "excluded"
  | "not-selected"
  /** Up, but for less than the hold-up time. */
  | "just-came-up"
  /** A packet socket on it does not open. */
  | "socket-failed";

export interface JudgedLink {
  readonly link: Link;
  readonly isUsable: boolean;
  /** Usable, but back for a short time only. */
  readonly isReturning: boolean;
  /** Absent when it is usable. */
  readonly reason?: LinkReason;
}

export function initialLinks(rules: LinkRules, timing = RETURN_TIMING): LinksState {
  return { rules, timing, countsFromMs: new Map(), losses: new Map(), failed: new Set() };
}

/** `links` is the complete list. Up at the first list counts at once, and so does every change to down. */
export function observeLinks(state: LinksState, links: readonly Link[], nowMs: number): LinksState {
  const delayMs = state.links === undefined ? 0 : state.timing.linkHoldUpMs;
  const countsFromMs = new Map<number, number>();
  const losses = new Map<number, readonly Happening[]>();
  for (const link of links) {
    const isSame = isKnown(state, link);
    const fromMs = isSame ? state.countsFromMs.get(link.index) : undefined;
    const before = isSame ? (state.losses.get(link.index) ?? []) : [];
    const isUp = isLinkUp(link);
    const isLost = !isUp && fromMs !== undefined;
    const known = isLost ? addTrouble(before, { atMs: nowMs }) : before;
    if (known.length > 0) losses.set(link.index, known);
    if (isUp) countsFromMs.set(link.index, fromMs ?? nowMs + delayMs);
  }
  return { ...state, links, countsFromMs, losses };
}

/** Links whose sockets do not open now, complete. It counts at once, both ways: nothing flaps that is opened once a second. */
export function failSockets(state: LinksState, failed: ReadonlySet<number>): LinksState {
  return { ...state, failed };
}

/** A renamed link is the same; an index that carries another name and another MAC is a new link. */
function isKnown({ links }: LinksState, link: Link): boolean {
  if (links === undefined) return true;
  return links.some(({ index, name, mac }) => index === link.index && (name === link.name || mac === link.mac));
}

/** Every link, by index, and whether it counts now. */
export function judgeLinks(state: LinksState, nowMs: number): readonly JudgedLink[] {
  return (state.links ?? [])
    .map((link) => {
      const reason = reasonAgainst(link, state, nowMs);
      if (reason !== undefined) return { link, isUsable: false, isReturning: false, reason };
      return { link, isUsable: true, isReturning: nowMs < (returnsUntilMs(state, link.index) ?? nowMs) };
    })
    .toSorted((a, b) => a.link.index - b.link.index);
}

/** When a link begins to count, or to count in full, without an event. */
export function linksDeadlineMs(state: LinksState, nowMs: number): number | undefined {
  const returns = [...state.losses.keys()].flatMap((index) => returnsUntilMs(state, index) ?? []);
  const later = [...state.countsFromMs.values(), ...returns].filter((atMs) => atMs > nowMs);
  return later.length === 0 ? undefined : Math.min(...later);
}

/** Undefined for a link that is down, or was never lost. */
function returnsUntilMs({ countsFromMs, losses, timing }: LinksState, index: number): number | undefined {
  const fromMs = countsFromMs.get(index);
  const lost = losses.get(index);
  if (fromMs === undefined || lost === undefined) return undefined;
  const returnedMs = fromMs - timing.linkHoldUpMs + timing.linkReturnMs;
  return Math.max(returnedMs, dampedUntilMs(lost, timing) ?? Number.NEGATIVE_INFINITY);
}

function reasonAgainst(link: Link, { rules, countsFromMs, failed }: LinksState, nowMs: number): LinkReason | undefined {
  if (link.isLoopback) return "loopback";
  if (rules.excluded.some((pattern) => pattern.test(link.name))) return "excluded";
  if (rules.selected.length > 0 && !rules.selected.includes(link.name)) return "not-selected";
  if (!link.isEthernet) return "not-ethernet";
  if (!link.isBroadcast) return "no-broadcast";
  if (link.isNoArp) return "no-arp";
  if (link.masterKind === "other") return "has-master";
  if (!link.isAdminUp) return "admin-down";
  if (!link.hasCarrier) return "no-carrier";
  if (nowMs < (countsFromMs.get(link.index) ?? nowMs)) return "just-came-up";
  return failed.has(link.index) ? "socket-failed" : undefined;
}
