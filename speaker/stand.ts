/** Who really answers for an address, where that is not whom this node's decision names (DESIGN D9). Pure. */
import type { Orphan } from "../src/announcer/orphans.ts";
import type { AddressState } from "../src/announcer/ports.ts";
import type { NodeName } from "../src/desired/snapshot.ts";

/**
 * silenced: this node is elected and has lost a contest. unleased: it is elected and has no lease for a strict address, which another may have.
 * taken: it is not elected, and answers because the elected one does not.
 */
export type Stand =
  | { readonly kind: "silenced"; readonly by: NodeName }
  | { readonly kind: "unleased" }
  | { readonly kind: "taken"; readonly from: NodeName; readonly sinceMs: number };

/** Undefined: what the decision says is what is done. */
export function standOf(state: AddressState | undefined, orphan: Orphan | undefined): Stand | undefined {
  if (state?.role === "lead" && state.phase === "stopped" && state.contest !== undefined) {
    return { kind: "silenced", by: state.contest.winner.node };
  }
  if (state?.lease === "missing") return { kind: "unleased" };
  if (orphan === undefined || state?.phase !== "leading") return undefined;
  return { kind: "taken", from: orphan.leader, sinceMs: orphan.sinceMs };
}
