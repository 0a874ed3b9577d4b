/**
 * Which speakers a strict address needs a majority of (docs/decisions/strict-addresses.md). It follows from objects that all speakers
 * read alike, never from who is heard: two sides of a split hear different ones. Pure.
 */
import type { ClusterSnapshot } from "../../desired/snapshot.ts";
import type { Ip } from "../../net/ip.ts";
import { hasExcludeLabel } from "../eligibility.ts";

export interface ExpectedSpeakers {
  /** Nodes by name; without any, peers by address. */
  readonly by: "node" | "peer";
  readonly voters: readonly string[];
}

/** `peers`: as the user named them, this node among them. */
export function expectedSpeakers(
  { nodes, source }: Pick<ClusterSnapshot, "nodes" | "source">,
  peers: readonly Ip[],
  ignoresExcludeLabel: boolean,
): ExpectedSpeakers {
  const isPeer = source === "files" && nodes.size === 0;
  if (isPeer) return { by: "peer", voters: peers };
  const voters = [...nodes].flatMap(([name, node]) => (!ignoresExcludeLabel && hasExcludeLabel(node) ? [] : [name]));
  return { by: "node", voters };
}
