/** `/status` as the wire thread knows it, from the very values that drive the wire (DESIGN §1). Reads, decides nothing. */
import type { ADDRESS_STATES } from "../api/reasons.ts";
import { groundOf } from "../src/announcer/contest.ts";
import type { AddressState, Contest } from "../src/announcer/ports.ts";
import type { RefusedService } from "../src/desired/group.ts";
import { policyOf } from "../src/desired/policy.ts";
import type { KeyReport } from "../src/gossip/key-rotation.ts";
import type { Endpoint } from "../src/gossip/message.ts";
import { familyOf, type Ip } from "../src/net/ip.ts";
import { formatPrefix } from "../src/net/prefix.ts";
import { needsLease } from "./duties.ts";
import { segmentProblems } from "./shared-segments.ts";
import type { Speaker } from "./speaker.ts";
import type { AddressStatus, WireStatus, WireStatusHead } from "./thread-messages.ts";

/** About 1 ms of them. */
const DECISIONS_AT_ONCE = 200;

type Keys = NonNullable<WireStatus["gossip"]["keys"]>;
export type AddressFields = Omit<AddressStatus, "group" | "services">;

/** What the shell around the speaker adds. */
export interface StatusContext {
  readonly nodeName: string;
  readonly nowMs: number;
  readonly startedMs: number;
  /** Undefined: gossip is not encrypted. */
  readonly keys?: KeyReport;
  /** Sentences about sockets of a link, by index. */
  readonly linkProblems: ReadonlyMap<number, readonly string[]>;
  /** ISO 8601 of a monotonic time. */
  readonly isoOf: (atMs: number) => string;
}

/** All but the addresses, of which there may be thousands (see `addressParts`). */
export function statusOf(speaker: Speaker, context: StatusContext): WireStatusHead {
  const { council, gossip } = speaker;
  const { isoOf, nowMs } = context;
  const word = council.word(nowMs);
  const readySinceMs = council.node.standing.readySinceMs;
  return {
    node: context.nodeName,
    at: isoOf(nowMs),
    startedAt: isoOf(context.startedMs),
    ready: {
      isReady: readySinceMs !== undefined,
      reason: council.node.readiness(),
      since: isoOf(readySinceMs ?? context.startedMs),
    },
    word: {
      highestRule: word.highestRule,
      ruleInUse: word.ruleInUse,
      flags: [...word.flags],
      readySeconds: word.readySeconds,
      restarts: word.restarts,
      refutes: word.refutes,
      links: word.links.map((link) => ({ ...link })),
      prefixes: word.prefixes.map(({ linkIndex, prefix }) => ({ linkIndex, prefix: formatPrefix(prefix) })),
      isTruncated: word.isTruncated,
    },
    election: {
      rule: council.rule.rule,
      reason: gossip === undefined ? "gossip-off" : council.rule.reason,
      since: isoOf(council.rule.sinceMs),
      ...(council.configurationRefusal === undefined ? {} : { refusedConfiguration: council.configurationRefusal }),
    },
    gossip: {
      isOn: gossip !== undefined,
      detection: council.detection,
      isEncrypted: context.keys !== undefined,
      ...(context.keys === undefined ? {} : { keys: keysOf(context.keys, isoOf) }),
      ...(gossip === undefined ? {} : { endpoint: formatEndpoint(gossip.self.endpoint) }),
    },
    members: membersOf(speaker, context, word.flags),
    links: linksOf(speaker, context),
  };
}

function keysOf(report: KeyReport, isoOf: StatusContext["isoOf"]): Keys {
  const { sendsWith, accepts, switch: later } = report;
  return {
    sendsWith,
    accepts: accepts.map(({ place, untilMs }) => ({
      key: place,
      ...(untilMs === undefined ? {} : { until: isoOf(untilMs) }),
    })),
    ...(later === undefined ? {} : { switchAt: isoOf(later.atMs), switchesWhenHeard: later.whenHeard }),
  };
}

type Watch = NonNullable<WireStatus["members"][number]["watch"]>;

/** Undefined for one that leads nothing. */
function watchOf({ gossip }: Speaker, name: string, isoOf: StatusContext["isoOf"]): Watch | undefined {
  const watched = gossip?.fast?.watched(name);
  if (watched === undefined) return undefined;
  const { by, own } = watched;
  if (own === undefined) return { by };
  const { longestSilenceMs, deadlineMs, lastProof, lastProofMs, isAccused } = own;
  return {
    by,
    longestSilenceMs: Math.round(longestSilenceMs),
    deadlineMs: Math.round(deadlineMs),
    lastProof,
    lastProofAt: isoOf(lastProofMs),
    isAccused,
  };
}

function membersOf(speaker: Speaker, { isoOf }: StatusContext, ownFlags: readonly string[]): WireStatus["members"] {
  const { gossip, members } = speaker;
  if (gossip === undefined) return [];
  const own = { member: gossip.self, word: { flags: ownFlags } };
  return [own, ...members.all()]
    .map(({ member, word }) => ({
      name: member.name,
      state: member.state,
      since: isoOf(member.sinceMs),
      endpoint: formatEndpoint(member.endpoint),
      incarnation: member.incarnation,
      isGo: word === undefined,
      isReady: word === undefined || word.flags.includes("ready"),
      flags: [...((word?.flags ?? []) as WireStatus["word"]["flags"])],
      watch: watchOf(speaker, member.name, isoOf),
    }))
    .map(({ watch, ...rest }) => (watch === undefined ? rest : { ...rest, watch }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function linksOf({ council, announcer }: Speaker, { nowMs, linkProblems }: StatusContext): WireStatus["links"] {
  const links = council.node.links(nowMs);
  const nameOf = (index: number): string => links.find(({ link }) => link.index === index)?.link.name ?? String(index);
  const onOneSegment = segmentProblems(announcer.sharedSegments(), nameOf);
  return links.map((judged) => {
    const { reason } = judged;
    return {
      name: judged.link.name,
      index: judged.link.index,
      mac: judged.link.mac,
      prefixes: judged.link.prefixes.map(formatPrefix),
      isUsable: judged.isUsable,
      ...(reason === undefined ? {} : { reason }),
      problems: [...(linkProblems.get(judged.link.index) ?? []), ...(onOneSegment.get(judged.link.index) ?? [])],
    };
  });
}

/** Every address once, a piece at a time: between two the wire thread has its turn. Each piece says what is so when it is asked for. */
export function* addressParts(speaker: Speaker, context: StatusContext): Generator<AddressStatus[], void, undefined> {
  const { decisions, derived } = speaker.council;
  const known = new Set<Ip>();
  for (let from = 0; from < decisions.length; from += DECISIONS_AT_ONCE) {
    const part = decisions.slice(from, from + DECISIONS_AT_ONCE).flatMap(({ group }) =>
      group.addresses.flatMap((ip) => {
        const fields = electedFields(speaker, ip, context);
        if (fields === undefined) return [];
        known.add(ip);
        const services = group.services
          .filter(({ addresses }) => addresses.includes(ip))
          .map(({ namespace, name }) => `${namespace}/${name}`);
        return [{ ...fields, group: group.key, services }];
      }),
    );
    yield part;
  }
  const refused = [...refusedByIp(derived.refused, known)];
  for (let from = 0; from < refused.length; from += DECISIONS_AT_ONCE) {
    yield refused.slice(from, from + DECISIONS_AT_ONCE).map(([ip, services]) => ({
      ...refusedFields(ip, services[0]?.reason ?? "no-pool", context),
      services: services.map(({ namespace, name }) => `${namespace}/${name}`),
    }));
  }
}

/** Addresses that no election decides, with the Services that were refused for them. */
export function refusedByIp(
  refused: readonly RefusedService[],
  elected: ReadonlySet<Ip>,
): ReadonlyMap<Ip, readonly RefusedService[]> {
  const byIp = new Map<Ip, RefusedService[]>();
  for (const service of refused) {
    for (const ip of service.addresses) {
      if (elected.has(ip)) continue;
      byIp.set(ip, [...(byIp.get(ip) ?? []), service]);
    }
  }
  return byIp;
}

/** Who leads an address, as this node sees it, and what this node does for it; undefined while nothing is decided about it. */
export function saidOf(speaker: Speaker, ip: Ip, nodeName: string) {
  const leadership = speaker.council.leadership.get(ip);
  if (leadership === undefined) return undefined;
  const duty = speaker.announcer.addressState(ip);
  // This node answers in the elected one's place.
  const orphan = duty?.phase === "leading" ? speaker.orphans.taken.get(ip) : undefined;
  const leader = orphan === undefined ? leadership.leader : nodeName;
  return { state: phaseOf(duty, leader), leader, leadership, duty, orphan };
}

export function electedFields(speaker: Speaker, ip: Ip, context: StatusContext): AddressFields | undefined {
  const { isoOf, nodeName } = context;
  const said = saidOf(speaker, ip, nodeName);
  if (said === undefined) return undefined;
  const { state, leader, duty, orphan } = said;
  const { previousLeader, reason, sinceMs } = said.leadership;
  const sticky = stickyOf(speaker.council, ip);
  const strict = strictOf(speaker, ip, duty, context);
  return {
    address: ip,
    state,
    reason: orphan === undefined ? reason : "orphan",
    ...(orphan === undefined ? {} : { orphan: { leader: orphan.leader, reason: orphan.reason } }),
    ...(strict === undefined ? {} : { strict }),
    since: isoOf(orphan?.sinceMs ?? sinceMs),
    ...(sticky === undefined ? {} : { sticky }),
    requestsAnswered: duty?.requestsAnswered ?? 0,
    ...(leader === undefined ? {} : { leader }),
    ...(previousLeader === undefined ? {} : { previousLeader }),
    ...(duty?.contest === undefined ? {} : { viewsDiffer: viewsDifferOf(duty.contest) }),
    ...(duty === undefined || duty.announcementsSent === 0 ? {} : { announcementsSent: duty.announcementsSent }),
    ...(duty?.lastAnnouncementMs === undefined ? {} : { lastAnnouncement: isoOf(duty.lastAnnouncementMs) }),
  };
}

/** Undefined: no advertisement asks for it. */
function stickyOf(council: Speaker["council"], ip: Ip): AddressStatus["sticky"] {
  const { holding } = council;
  if (!holding.isSticky(ip)) return undefined;
  const sticky = council.decisionOf(ip)?.sticky;
  if (sticky !== undefined) return { isInForce: true, ...sticky };
  const known = holding.holderOf(ip);
  return { isInForce: false, ...(known === undefined ? {} : { holder: known.node }), term: known?.term ?? 0 };
}

/** Undefined: no advertisement asks for it. */
function strictOf(
  { council, strict }: Speaker,
  ip: Ip,
  state: AddressState | undefined,
  { isoOf, nowMs }: StatusContext,
): AddressStatus["strict"] {
  const decision = council.decisionOf(ip);
  if (decision === undefined || !policyOf(decision.group).isStrict) return undefined;
  if (!needsLease(decision, council)) return { isInForce: false };
  const { expected, needed, isHeld, untilMs, grantedBy, heard, holder } = strict.leases.report(ip, nowMs);
  const known = expected === 0 ? {} : { expected, needed };
  if (state?.lease === undefined || state.phase !== "leading") return { isInForce: true, ...known };
  const until = untilMs === undefined ? {} : { until: isoOf(untilMs) };
  const other = holder === undefined ? {} : { holder };
  const lease = { isHeld, ...until, grantedBy: [...grantedBy], heard: [...heard], ...other };
  return { isInForce: true, ...known, lease };
}

type ViewsDiffer = NonNullable<AddressStatus["viewsDiffer"]>;

function viewsDifferOf({ winner, losers }: Contest): ViewsDiffer {
  const [first = winner] = losers;
  return {
    answering: winner.node,
    decidedBy: groundOf(winner, first),
    views: [winner, ...losers].map(({ node, basis }) => {
      const { rule, term, freshness, tier, score, endpointClass, hash } = basis;
      return { node, rule, term, freshness, tier, score, endpointClass, hash };
    }),
  };
}

export function refusedFields(
  ip: Ip,
  reason: RefusedService["reason"],
  { isoOf, startedMs }: StatusContext,
): AddressFields {
  return { address: ip, state: "nobody", reason, since: isoOf(startedMs), requestsAnswered: 0 };
}

function phaseOf(state: AddressState | undefined, leader: string | undefined): (typeof ADDRESS_STATES)[number] {
  if (state?.phase === "leading" && state.lease === "missing") return "no-lease";
  if (state?.phase === "leading" && state.answeredOn.length === 0) return "no-link";
  if (state !== undefined && state.phase !== "stopped") return state.phase;
  if (state?.contest !== undefined) return "views-differ";
  return leader === undefined ? "nobody" : "follower";
}

function formatEndpoint({ ip, port }: Endpoint): string {
  return familyOf(ip) === 6 ? `[${ip}]:${port}` : `${ip}:${port}`;
}
