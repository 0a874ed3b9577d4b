/** Documents as three nodes and a MetalLB speaker would make them; examples for tests. */
import type { AddressDocument } from "../../api/address.ts";
import type { StatusDocument } from "../../api/status.ts";

export const AT = "2026-01-01T12:00:00.000Z";

export const STATUS: StatusDocument = {
  node: "n1",
  version: "1.2.3",
  at: AT,
  startedAt: "2026-01-01T09:58:00.000Z",
  ready: { isReady: true, reason: "ready", since: "2026-01-01T11:55:00.000Z" },
  word: {
    highestRule: "arpeggio-1",
    ruleInUse: "metallb-1",
    flags: ["ready"],
    readySeconds: 300,
    restarts: 0,
    refutes: 1,
    links: [{ index: 2, mac: "02:00:00:00:00:01", isUsable: true }],
    prefixes: [{ linkIndex: 2, prefix: "192.0.2.0/24" }],
    isTruncated: false,
  },
  election: { rule: "metallb-1", reason: "member-can-less", member: "n3", since: "2026-01-01T11:59:30.000Z" },
  gossip: { isOn: true, detection: "gossip", isEncrypted: true, endpoint: "192.0.2.11:7946" },
  members: [
    {
      name: "n1",
      state: "alive",
      since: "2026-01-01T11:00:00.000Z",
      endpoint: "192.0.2.11:7946",
      incarnation: 3,
      isGo: false,
      isReady: true,
      flags: ["ready"],
    },
    {
      name: "n2",
      state: "suspect",
      since: "2026-01-01T11:59:59.000Z",
      endpoint: "[2001:db8::12]:7946",
      incarnation: 1,
      isGo: false,
      isReady: true,
      flags: ["ready", "cordoned"],
    },
    {
      name: "n3",
      state: "alive",
      since: "2025-12-23T11:00:00.000Z",
      endpoint: "192.0.2.13:7946",
      incarnation: 0,
      isGo: true,
      isReady: true,
      flags: [],
    },
  ],
  links: [
    {
      name: "eth0",
      index: 2,
      mac: "02:00:00:00:00:01",
      prefixes: ["192.0.2.0/24", "2001:db8::/64"],
      isUsable: true,
      problems: [],
    },
    {
      name: "eth1",
      index: 3,
      mac: "02:00:00:00:01:01",
      prefixes: [],
      isUsable: false,
      reason: "no-carrier",
      problems: ["the packet socket was closed: ENETDOWN"],
    },
  ],
  sources: [
    {
      kind: "files",
      location: "/etc/arpeggio",
      state: "current",
      objects: { IPAddressPool: 1, Service: 2 },
      problems: ["services.yaml:12: spec.type is no string"],
      lastChange: "2026-01-01T11:59:48.000Z",
    },
  ],
  addresses: [
    {
      address: "192.0.2.100",
      group: "192.0.2.100",
      services: ["default/web", "default/web-udp"],
      leader: "n1",
      state: "leading",
      reason: "lowest-hash",
      since: "2026-01-01T11:56:56.000Z",
      previousLeader: "n2",
      requestsAnswered: 12345,
      announcementsSent: 10,
      lastAnnouncement: "2026-01-01T11:57:00.400Z",
    },
    {
      address: "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
      group: "192.0.2.100",
      services: ["default/web"],
      leader: "n1",
      state: "leading",
      reason: "lowest-hash",
      since: "2026-01-01T11:56:56.000Z",
      requestsAnswered: 0,
    },
    {
      address: "198.51.100.7",
      services: ["shop/cart"],
      state: "nobody",
      reason: "no-pool",
      since: "2026-01-01T11:55:00.000Z",
      requestsAnswered: 0,
    },
  ],
};

/** n1 answers, and n3 would, too. */
export const VIEWS_DIFFER: NonNullable<AddressDocument["viewsDiffer"]> = {
  answering: "n1",
  decidedBy: "freshness",
  views: [
    {
      node: "n1",
      rule: "arpeggio-1",
      term: 0,
      freshness: 4711,
      tier: 2,
      score: 50,
      endpointClass: "any",
      hash: "ab".repeat(32),
    },
    {
      node: "n3",
      rule: "arpeggio-1",
      term: 0,
      freshness: 4242,
      tier: 1,
      score: 0,
      endpointClass: "any",
      hash: "cd".repeat(32),
    },
  ],
};

export const ADDRESS: AddressDocument = {
  node: "n1",
  at: AT,
  address: "2001:db8::100",
  state: "leading",
  leader: "n1",
  reason: "best-tier",
  since: "2026-01-01T11:56:56.000Z",
  previousLeader: "n2",
  requestsAnswered: 7,
  lastAnnouncement: "2026-01-01T11:57:00.400Z",
  rule: "arpeggio-1",
  group: { key: "192.0.2.100", addresses: ["192.0.2.100", "2001:db8::100"] },
  services: [
    { service: "default/web", externalTrafficPolicy: "Cluster", advertisements: ["lan"] },
    { service: "default/old", advertisements: [], refused: "no-address" },
  ],
  candidates: [
    { rank: 1, node: "n1", tier: 1, score: 50, endpointClass: "any", hash: "ab".repeat(32) },
    { rank: 2, node: "n2", tier: 3, tierReason: "cordoned", score: 0, endpointClass: "any", hash: "cd".repeat(32) },
  ],
  refusals: [{ node: "n4", reason: "not-selected" }],
  links: ["eth0"],
};
