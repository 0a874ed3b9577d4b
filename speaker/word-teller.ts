/** Decides when and how urgently this node's word is told: only when its bytes changed (DESIGN D4). */
import { bytesEqual } from "../src/base/bytes.ts";
import type { NodeWord } from "../src/election/word.ts";
import type { SwimCommand } from "../src/gossip/swim-event.ts";
import { encodeWord } from "../src/gossip/word.ts";

export class WordTeller {
  #meta: Uint8Array = new Uint8Array();
  #urgentPart = "";

  /** Undefined when the word is what was told last. */
  tell(word: NodeWord): SwimCommand | undefined {
    const meta = encodeWord(word);
    if (bytesEqual(meta, this.#meta)) return undefined;
    const urgentPart = urgentPartOf(word);
    const isUrgent = urgentPart !== this.#urgentPart;
    this.#meta = meta;
    this.#urgentPart = urgentPart;
    return { kind: "set-meta", meta, isUrgent };
  }
}

/** What decisions are made of must reach every member at once, for this node has decided by it already; the rest is history. */
function urgentPartOf(word: NodeWord): string {
  const { readySeconds: _ready, restarts: _restarts, refutes: _refutes, troubleAgeSeconds: _age, ...facts } = word;
  return JSON.stringify(facts);
}
