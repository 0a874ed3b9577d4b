/** Which links count (DESIGN D3, "usable link"): kernel facts, selection and hold-up. Pure: `(state, links, now) → state`. */
import { isLinkUp, type Link } from "../net/link.ts";

/** A link that came up counts after so long: a flapping cable must not move addresses twice. */
export const HOLD_UP_MS = 2_000;

export interface LinkRules {
  /** Names that match any of these never count, as MetalLB's `excludel2` configuration has it. */
  readonly excluded: readonly RegExp[];
  /** Names that count; empty means all. */
  readonly selected: readonly string[];
}

export interface LinksState {
  readonly rules: LinkRules;
  /** What the kernel said last; undefined before it said anything. */
  readonly links?: readonly Link[];
  /** By link index, for links that are up: since when they count. */
  readonly countsFromMs: ReadonlyMap<number, number>;
}

export interface JudgedLink {
  readonly link: Link;
  readonly isUsable: boolean;
}

export function initialLinks(rules: LinkRules): LinksState {
  return { rules, countsFromMs: new Map() };
}

/** `links` is the complete list. Up at the first list counts at once, and so does every change to down. */
export function observeLinks(state: LinksState, links: readonly Link[], nowMs: number): LinksState {
  const delayMs = state.links === undefined ? 0 : HOLD_UP_MS;
  const countsFromMs = new Map<number, number>();
  for (const link of links) {
    if (!isLinkUp(link)) continue;
    const since = isKnown(state, link) ? state.countsFromMs.get(link.index) : undefined;
    countsFromMs.set(link.index, since ?? nowMs + delayMs);
  }
  return { ...state, links, countsFromMs };
}

/** A renamed link is the same; an index that carries another name and another MAC is a new link. */
function isKnown({ links }: LinksState, link: Link): boolean {
  if (links === undefined) return true;
  return links.some(({ index, name, mac }) => index === link.index && (name === link.name || mac === link.mac));
}

/** Excluded and unselected links are left out; the others come with whether they count now, by index. */
export function judgeLinks(state: LinksState, nowMs: number): readonly JudgedLink[] {
  return (state.links ?? [])
    .filter(({ name }) => isChosen(name, state.rules))
    .map((link) => ({ link, isUsable: nowMs >= (state.countsFromMs.get(link.index) ?? Number.POSITIVE_INFINITY) }))
    .toSorted((a, b) => a.link.index - b.link.index);
}

/** When a link begins to count without an event. */
export function linksDeadlineMs(state: LinksState, nowMs: number): number | undefined {
  const later = [...state.countsFromMs.values()].filter((fromMs) => fromMs > nowMs);
  return later.length === 0 ? undefined : Math.min(...later);
}

function isChosen(name: string, { excluded, selected }: LinkRules): boolean {
  if (excluded.some((pattern) => pattern.test(name))) return false;
  return selected.length === 0 || selected.includes(name);
}
