/** What the speakers answered, before it is put side by side. */
import type { AddressDocument } from "../api/address.ts";
import type { StatusDocument } from "../api/status.ts";
import type { Decoded } from "../src/base/decoded.ts";

/** How a speaker is reached: by pod, whose node is known before it answers, or by URL. */
export interface Reached {
  readonly node?: string;
  readonly pod?: string;
  readonly url?: string;
}

/** The answer, or a sentence that says why there is none. */
export interface StatusReading {
  readonly reached: Reached;
  readonly answer: Decoded<StatusDocument, string>;
}

export interface AddressReading {
  readonly reached: Reached;
  readonly answer: Decoded<AddressAnswer, string>;
}

export interface AddressAnswer {
  readonly node: string;
  readonly isReady: boolean;
  /** Absent: it has no Service with this address. */
  readonly document?: AddressDocument;
}

/** For sentences: `n1`, or what it was reached by. */
export function nameOf({ node, pod, url }: Reached): string {
  return node ?? pod ?? url ?? "a speaker";
}

export function noAnswer(reached: Reached, problem = "no reason is known"): string {
  return `${nameOf(reached)} gives no answer: ${problem}`;
}

/** Of those that answered, by node. */
export function documentsOf(readings: readonly StatusReading[]): readonly StatusDocument[] {
  return readings
    .flatMap(({ answer }) => (answer.ok ? [answer.value] : []))
    .toSorted((a, b) => compareTexts(a.node, b.node));
}

/** By node, then by what it was reached by. */
export function compareReached(a: Reached, b: Reached): number {
  return compareTexts(nameOf(a), nameOf(b)) || compareTexts(a.pod ?? a.url ?? "", b.pod ?? b.url ?? "");
}

/** Code units, so that everybody sorts alike. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Names that a sentence lists before it counts the rest. */
const LISTED_NAMES = 5;

/** "n1", "n1 and n2", "n1, n2, n3, n4, n5 and 95 more". */
export function listNames(names: readonly string[]): string {
  if (names.length > LISTED_NAMES + 1) {
    return `${names.slice(0, LISTED_NAMES).join(", ")} and ${names.length - LISTED_NAMES} more`;
  }
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
}
