/** Short ways to write members, views and groups in election tests. */
import type { AddressGroup, GroupService } from "../../src/desired/group.ts";
import type { Decision, ElectionView, MemberView } from "../../src/election/decision.ts";
import { decide } from "../../src/election/elect.ts";
import { RankMemory } from "../../src/election/rank-memory.ts";
import type { NodeWord, WordFlag } from "../../src/election/word.ts";
import { type Ip, parseIp } from "../../src/net/ip.ts";
import { type Mac, parseMac } from "../../src/net/mac.ts";
import { type Prefix, parsePrefix } from "../../src/net/prefix.ts";
import { advertisement, node } from "../desired/facts.ts";

export function ip(text: string): Ip {
  const parsed = parseIp(text);
  if (parsed === undefined) throw new Error(`no address: ${text}`);
  return parsed;
}

export function prefix(text: string): Prefix {
  const parsed = parsePrefix(text);
  if (parsed === undefined) throw new Error(`no prefix: ${text}`);
  return parsed;
}

export function mac(text: string): Mac {
  const parsed = parseMac(text);
  if (parsed === undefined) throw new Error(`no MAC: ${text}`);
  return parsed;
}

/** A ready node with one usable link in every prefix that the tests use. */
export function word(flags: readonly WordFlag[] = ["ready"], facts: Partial<NodeWord> = {}): NodeWord {
  return {
    highestRule: "arpeggio-1",
    ruleInUse: "arpeggio-1",
    flags,
    readySeconds: 0,
    restarts: 0,
    refutes: 0,
    troubleAgeSeconds: 0,
    links: [{ index: 2, isUsable: true, mac: mac("02:00:00:00:00:01") }],
    prefixes: ["192.0.2.0/24", "198.51.100.0/24", "10.0.0.0/8", "2001:db8::/32"].map((text) => ({
      linkIndex: 2,
      prefix: prefix(text),
    })),
    isTruncated: false,
    ...facts,
  };
}

export function member(name: string, flags?: readonly WordFlag[], facts?: Partial<NodeWord>): MemberView {
  return { name, word: word(flags, facts) };
}

/** A Go member: no metadata. */
export function goMember(name: string): MemberView {
  return { name };
}

/** Every member has a Node object. */
export function view(members: readonly MemberView[], facts: Partial<ElectionView> = {}): ElectionView {
  return {
    rule: "arpeggio-1",
    source: "kubernetes",
    members,
    nodes: new Map(members.map(({ name }) => [name, node(name)])),
    ignoresExcludeLabel: false,
    ...facts,
  };
}

export function groupService(addresses: readonly string[], facts: Partial<GroupService> = {}): GroupService {
  return {
    namespace: "default",
    name: "web",
    addresses: addresses.map(ip),
    externalTrafficPolicy: "Cluster",
    advertisements: [ALL],
    readyNodes: new Set(),
    terminatingNodes: new Set(),
    hasServingEndpoint: true,
    isServedEverywhere: false,
    hasUnplacedEndpoint: false,
    ...facts,
  };
}

const ALL = advertisement("all");

export function local(
  addresses: readonly string[],
  readyNodes: readonly string[],
  terminatingNodes: readonly string[] = [],
): GroupService {
  return groupService(addresses, {
    externalTrafficPolicy: "Local",
    readyNodes: new Set(readyNodes),
    terminatingNodes: new Set(terminatingNodes),
    hasServingEndpoint: readyNodes.length + terminatingNodes.length > 0,
  });
}

export function group(...services: readonly GroupService[]): AddressGroup {
  const addresses = [...new Set(services.flatMap((service) => service.addresses))];
  const [key] = addresses;
  if (key === undefined) throw new Error("a group has an address");
  return { key, addresses, services };
}

export function decideOne(one: AddressGroup, of: ElectionView): Decision {
  const [decision] = decide([one], of, new RankMemory());
  if (decision === undefined) throw new Error("no decision");
  return decision;
}

export function orderOf(one: AddressGroup, of: ElectionView): readonly string[] {
  return decideOne(one, of).candidates.map((candidate) => candidate.node);
}

/** Those that share no address with one before them, as `derive` makes groups. */
export function apart(list: readonly AddressGroup[]): readonly AddressGroup[] {
  const seen = new Set<Ip>();
  return list.filter(({ addresses }) => {
    if (addresses.some((address) => seen.has(address))) return false;
    for (const address of addresses) seen.add(address);
    return true;
  });
}
