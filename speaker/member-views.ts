/** Members of the gossip cluster as the election, the announcer and /status want them. Words are decoded once per change. */
import type { MemberMacs } from "../src/announcer/ports.ts";
import type { MemberView } from "../src/election/decision.ts";
import type { NodeWord } from "../src/election/word.ts";
import type { Member } from "../src/gossip/swim-event.ts";
import { decodeWord } from "../src/gossip/word.ts";

export interface KnownMember {
  readonly member: Member;
  /** Absent for a Go member, and for metadata that is no word. */
  readonly word?: NodeWord;
}

export class MemberViews {
  readonly #self: string;
  #known: readonly KnownMember[] = [];
  #present: readonly KnownMember[] = [];
  #electorate: readonly MemberView[] = [];
  #ours: ReadonlySet<string> = new Set();
  #wordOfMeta = new Map<string, { readonly meta: Uint8Array; readonly word: NodeWord | undefined }>();

  constructor(self: string) {
    this.#self = self;
  }

  /**
   * Takes the table as it is now; this node's own record is left out, because its own word is known first-hand. Of `unproven` is only
   * said that they live: they are listed, and neither vote nor stand.
   */
  update(members: readonly Member[], unproven: ReadonlySet<string> = new Set()): void {
    const wordOfMeta = new Map<string, { readonly meta: Uint8Array; readonly word: NodeWord | undefined }>();
    this.#known = members
      .filter(({ name }) => name !== this.#self)
      .map((member) => {
        const before = this.#wordOfMeta.get(member.name);
        const entry = before?.meta === member.meta ? before : { meta: member.meta, word: wordOf(member.meta) };
        wordOfMeta.set(member.name, entry);
        return entry.word === undefined ? { member } : { member, word: entry.word };
      });
    this.#wordOfMeta = wordOfMeta;
    this.#present = this.#known.filter(
      ({ member }) => (member.state === "alive" || member.state === "suspect") && !unproven.has(member.name),
    );
    this.#electorate = this.#present.map(({ member, word }) => ({
      name: member.name,
      ...(word === undefined ? {} : { word }),
    }));
    const ours = this.#present.flatMap(({ member, word }) => (word === undefined ? [] : [member.name]));
    if (ours.length !== this.#ours.size || !ours.every((name) => this.#ours.has(name))) this.#ours = new Set(ours);
  }

  all(): readonly KnownMember[] {
    return this.#known;
  }

  /** Who may vote and stand: alive and suspect members. */
  present(): readonly KnownMember[] {
    return this.#present;
  }

  /** The others that vote and stand. */
  electorate(): readonly MemberView[] {
    return this.#electorate;
  }

  /** Who are present and ours; the same set while they are the same. */
  get ours(): ReadonlySet<string> {
    return this.#ours;
  }

  /** Present, and one of ours: it sends and reads claims. */
  isOurs(node: string): boolean {
    return this.#ours.has(node);
  }

  /** Whose frames are a member's, gone members included: a frame on its way must not become a stranger's. */
  macs(): readonly MemberMacs[] {
    return this.#known.flatMap(({ member, word }) =>
      word === undefined ? [] : [{ node: member.name, macs: word.links.map(({ mac }) => mac) }],
    );
  }
}

function wordOf(meta: Uint8Array): NodeWord | undefined {
  if (meta.length === 0) return undefined;
  const word = decodeWord(meta);
  return word.ok ? word.value : undefined;
}
