/**
 * What members said last of their troubles, kept for those that come back without a memory of their own (DESIGN D4). Only words of
 * ready members count: one that is not ready yet asks what is known of the process before it. Pure, but for its own state.
 */

import type { NodeWord } from "../src/election/word.ts";
import type { PastWord } from "../src/gossip/past-words.ts";
import type { KnownMember } from "./member-views.ts";

/** After that its troubles count no more. */
export const WORD_KEPT_MS = 15 * 60_000;
/** Of those that are gone the oldest are forgotten first. */
const WORDS_KEPT = 512;

interface Remembered {
  readonly word: NodeWord;
  /** Its ages are of then. */
  readonly saidMs: number;
  presentMs: number;
  hasLeft: boolean;
}

export class RememberedWords {
  readonly #byNode = new Map<string, Remembered>();

  follow(members: readonly KnownMember[], nowMs: number): void {
    for (const { member, word } of members) {
      const known = this.#byNode.get(member.name);
      if (member.state === "left" && known !== undefined) known.hasLeft = true;
      if (word === undefined || (member.state !== "alive" && member.state !== "suspect")) continue;
      if (known !== undefined && (known.word === word || !word.flags.includes("ready"))) known.presentMs = nowMs;
      else if (word.flags.includes("ready")) {
        this.#byNode.delete(member.name);
        this.#byNode.set(member.name, { word, saidMs: nowMs, presentMs: nowMs, hasLeft: false });
      }
    }
    for (const [node, { presentMs }] of this.#byNode) {
      if (presentMs + WORD_KEPT_MS <= nowMs || (this.#byNode.size > WORDS_KEPT && presentMs < nowMs))
        this.#byNode.delete(node);
    }
  }

  entries(nowMs: number): readonly PastWord[] {
    return [...this.#byNode].map(([node, { word, saidMs, hasLeft }]) => ({
      node,
      restarts: word.restarts,
      refutes: word.refutes,
      ageSeconds: word.troubleAgeSeconds + Math.floor((nowMs - saidMs) / 1_000),
      hasLeft,
    }));
  }
}
