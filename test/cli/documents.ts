/** What three speakers say, as examples for tests. */
import type { StatusDocument } from "../../api/status.ts";
import type { AddressReading, StatusReading } from "../../cli/readings.ts";
import { decoded, dropped } from "../../src/base/decoded.ts";
import { ADDRESS, AT, STATUS } from "../http/example-documents.ts";

type Member = StatusDocument["members"][number];
type AddressStatus = StatusDocument["addresses"][number];

export function member(name: string, changes: Partial<Member> = {}): Member {
  return {
    name,
    state: "alive",
    since: AT,
    endpoint: "192.0.2.11:7946",
    incarnation: 1,
    isGo: false,
    isReady: true,
    flags: ["ready"],
    ...changes,
  };
}

/** An address that n1 leads, as `node` sees it. */
export function seenBy(node: string, address: string, changes: Partial<AddressStatus> = {}): AddressStatus {
  return {
    address,
    group: address,
    services: ["default/web"],
    leader: "n1",
    state: node === "n1" ? "leading" : "follower",
    reason: "lowest-hash",
    since: "2026-01-01T11:56:56.000Z",
    requestsAnswered: 0,
    ...changes,
  };
}

/** An address that has no leader. */
export function ledByNobody(address: string, reason: AddressStatus["reason"]): AddressStatus {
  const { leader: _, ...rest } = seenBy("n1", address, { state: "nobody", reason });
  return rest;
}

/** A ready speaker of a cluster of three that agrees with the others. */
export function statusOf(node: string, changes: Partial<StatusDocument> = {}): StatusDocument {
  return {
    ...STATUS,
    node,
    election: { rule: "arpeggio-1", reason: "all-members-can", since: AT },
    members: ["n1", "n2", "n3"].map((name) => member(name)),
    sources: [{ kind: "kubernetes", state: "current", objects: {}, problems: [] }],
    addresses: [seenBy(node, "192.0.2.100", { previousLeader: "n2" })],
    ...changes,
  };
}

export function answered(document: StatusDocument): StatusReading {
  return { reached: { node: document.node, pod: `speaker-${document.node}` }, answer: decoded(document) };
}

export function silent(node: string, sentence: string): StatusReading {
  return { reached: { node, pod: `speaker-${node}` }, answer: dropped(sentence) };
}

/** The decision about 2001:db8::100, which n1 leads, as `node` sees it. */
export function decisionOf(node: string, changes: Partial<typeof ADDRESS> = {}): AddressReading {
  const state = node === "n1" ? "leading" : "follower";
  return {
    reached: { node, pod: `speaker-${node}` },
    answer: decoded({ node, isReady: true, document: { ...ADDRESS, node, state, ...changes } }),
  };
}

export function ignorant(node: string, isReady = true): AddressReading {
  return { reached: { node, pod: `speaker-${node}` }, answer: decoded({ node, isReady }) };
}
