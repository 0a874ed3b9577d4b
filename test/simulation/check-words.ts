/** Invariant 13: nobody holds a node for better or worse than that node's own word says, as far as it has come. */
import type { Machine } from "./machine.ts";
import type { HeldDecision, TenantView } from "./tenant.ts";
import type { Findings, Witness } from "./witness.ts";

/** Fields and flags of a word (docs/wire.md), read a second time on purpose. */
const FLAGS_FIELD = 2;
const LINK_FIELD = 5;
const LINK_STATE_AT = 4;
const RETURNING = 0b10;
const SETTLING = 1 << 1;
const STEPPING_DOWN = 1 << 2;
const CORDONED = 1 << 3;
const NETWORK_UNAVAILABLE = 1 << 4;
const DAMPED = 1 << 7;
const LEAVING = 1 << 8;
/** The last resort: links and prefixes decide it together with the address, which is invariant 2's matter. */
const NO_LINK_TIER = 4;

export class WordChecker implements Witness {
  readonly #machines: readonly Machine[];
  readonly #findings: Findings;
  /** By holder: what was judged last is not judged again. */
  readonly #judged = new Map<string, { readonly words: string; readonly decisions: WeakSet<HeldDecision> }>();

  readonly #seen = new Map<Machine, TenantView>();

  constructor(machines: readonly Machine[], findings: Findings) {
    this.#machines = machines;
    this.#findings = findings;
  }

  looked(atMs: number): void {
    for (const machine of this.#machines) {
      const view = machine.isAwake ? machine.view() : undefined;
      // Without comparable inputs something waits for its turn, or for the 10 s of an observer's own view.
      if (view?.inputs === undefined || view.rule !== "arpeggio-1" || this.#seen.get(machine) === view) continue;
      this.#seen.set(machine, view);
      const words = new Map(view.members.map(({ name, meta }) => [name, meta]));
      const text = [...words].join();
      const known = this.#judged.get(machine.name);
      const decisions = known?.words === text ? known.decisions : new WeakSet<HeldDecision>();
      this.#judged.set(machine.name, { words: text, decisions });
      for (const decision of view.decisions) {
        if (decisions.has(decision)) continue;
        decisions.add(decision);
        this.#judge(atMs, machine.name, decision, words);
      }
    }
  }

  #judge(atMs: number, holder: string, { key, tiers }: HeldDecision, words: ReadonlyMap<string, string>): void {
    for (const { node, tier } of tiers) {
      const meta = words.get(node);
      if (node === holder || meta === undefined) continue;
      const allowed = tiersOf(Buffer.from(meta, "hex"));
      this.#findings.count(allowed[0] === 1 ? "13 held for what it says" : "13 held behind, as it says");
      if (allowed.includes(tier)) continue;
      this.#findings.violated(13, atMs, `${holder} holds ${node} of tier ${tier} for ${key}, and its word is ${meta}`);
    }
  }
}

/** The tiers that a word allows, the best first. */
function tiersOf(word: Uint8Array): readonly number[] {
  let flags = 0;
  let isReturning = false;
  for (let at = 2; at + 2 <= word.length; at += 2 + (word[at + 1] ?? 0)) {
    if (word[at] === FLAGS_FIELD) flags = ((word[at + 2] ?? 0) << 8) | (word[at + 3] ?? 0);
    if (word[at] === LINK_FIELD) isReturning ||= ((word[at + 2 + LINK_STATE_AT] ?? 0) & RETURNING) !== 0;
  }
  if ((flags & LEAVING) !== 0) return [5];
  if ((flags & NETWORK_UNAVAILABLE) !== 0) return [NO_LINK_TIER];
  if ((flags & (CORDONED | STEPPING_DOWN)) !== 0) return [3, NO_LINK_TIER];
  if ((flags & (SETTLING | DAMPED)) !== 0) return [2, NO_LINK_TIER];
  return isReturning ? [1, 2, NO_LINK_TIER] : [1, NO_LINK_TIER];
}
