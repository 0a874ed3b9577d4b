/** Who really answers for an address, where that is not whom this node's decision names (DESIGN D9). Pure. */
import type { Orphan } from "../src/announcer/orphans.ts";
import type { AddressState } from "../src/announcer/ports.ts";
import type { NodeName } from "../src/desired/snapshot.ts";

/** silenced: this node is elected and has lost a contest. taken: it is not, and answers because the elected one does not. */
export type Stand =
  | { readonly kind: "silenced"; readonly by: NodeName }
  | { readonly kind: "taken"; readonly from: NodeName; readonly sinceMs: number };

/** Undefined: what the decision says is what is done. */
export function standOf(state: AddressState | undefined, orphan: Orphan | undefined): Stand | undefined {
  if (state?.role === "lead" && state.phase === "stopped" && state.contest !== undefined) {
    return { kind: "silenced", by: state.contest.winner.node };
  }
  if (orphan === undefined || state?.phase !== "leading") return undefined;
  return { kind: "taken", from: orphan.leader, sinceMs: orphan.sinceMs };
}
