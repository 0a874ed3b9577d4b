/**
 * Gossip off (DESIGN D6): nobody says anything of itself, so every Node object stands for a member, and what the API server says
 * of it is its word. All speakers read the same API, and so agree. Pure.
 */
import type { NodeFacts } from "../desired/snapshot.ts";
import type { MemberView } from "./decision.ts";
import { flagsOfNode, type NodeFlagOptions } from "./node-flags.ts";
import { type Rule, WORD_FLAGS, type WordFlag } from "./word.ts";

export function nodesAsMembers(
  nodes: Iterable<NodeFacts>,
  options: NodeFlagOptions,
  rule: Rule,
): readonly MemberView[] {
  return [...nodes].map((node) => {
    // Nothing else can tell that it died, so that Ready counts, and at once.
    const says: Partial<Record<WordFlag, boolean>> = { ...flagsOfNode(node, options), ready: !node.isNotReady };
    const word = {
      highestRule: rule,
      ruleInUse: rule,
      flags: WORD_FLAGS.filter((flag) => says[flag] === true),
      readySeconds: 0,
      restarts: 0,
      refutes: 0,
      troubleAgeSeconds: 0,
      links: [],
      prefixes: [],
      // Its links are known to nobody but itself.
      isTruncated: true,
    };
    return { name: node.name, word };
  });
}
