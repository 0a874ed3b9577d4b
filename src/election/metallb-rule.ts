/**
 * MetalLB's own election, the rule `metallb-1` (DESIGN D5): every Service is elected on its first ingress address, membership
 * alone makes a candidate, and facts come from Node objects, never from words. Source: MetalLB speaker/layer2_controller.go,
 * ShouldAnnounce. Pure.
 */
import type { AddressGroup, GroupService } from "../desired/group.ts";
import type { Ip } from "../net/ip.ts";
import type { ElectionView, MemberView, RefusalReason } from "./decision.ts";
import { covering, hasExcludeLabel, localRefusal, nodeOf, scoreOf, type Verdict } from "./eligibility.ts";

/** `group` holds one Service. Terminating endpoints count like ready ones, links do not count at all. */
export function judgeByMetallb(group: AddressGroup, member: MemberView, view: ElectionView): Verdict {
  const service = group.services[0];
  if (service === undefined || !service.hasServingEndpoint) return "no-serving-endpoint";
  const node = nodeOf(member.name, view);
  // Advertisements select among the Node objects that exist: an unknown one is selected by none.
  if (node === undefined) return "no-node-object";
  if (node.isNetworkUnavailable) return "network-unavailable";
  if (!view.ignoresExcludeLabel && hasExcludeLabel(node)) return "excluded";
  const advertisements = covering(service, node.labels);
  if (advertisements.length === 0) return "not-selected";
  const unserved = unservedReason(service, member.name);
  if (unserved !== undefined) return unserved;
  return { tier: 1, score: scoreOf(advertisements, node.labels), endpointClass: "any" };
}

function unservedReason(service: GroupService, node: string): RefusalReason | undefined {
  if (service.externalTrafficPolicy === "Cluster" || service.isServedEverywhere) return undefined;
  return localRefusal(service, node);
}

/** One group for each Service, as MetalLB sees them. */
export function splitByService(group: AddressGroup): readonly AddressGroup[] {
  if (group.services.length === 1) return [group];
  return group.services.flatMap((service) => {
    const key = service.addresses[0];
    return key === undefined ? [] : [{ key, addresses: service.addresses, services: [service] }];
  });
}

interface Elected {
  readonly group: AddressGroup;
  readonly leader?: string;
}

/**
 * Gives each address to one of its Services' elections, so that it has one answerer of ours: the oldest Service that has a
 * leader, else the oldest. MetalLB itself would answer from several nodes when sharers disagree. `elections` is oldest first.
 */
export function shareOut<Election extends Elected>(elections: readonly Election[]): readonly Election[] {
  const deciders = new Map<Ip, Election>();
  for (const election of elections) {
    for (const ip of election.group.addresses) {
      const other = deciders.get(ip);
      if (other === undefined || (other.leader === undefined && election.leader !== undefined)) {
        deciders.set(ip, election);
      }
    }
  }
  const shares = new Map<string, { election: Election; addresses: Ip[] }>();
  for (const [ip, election] of deciders) {
    const name = `${election.group.key} ${election.leader ?? ""}`;
    const share = shares.get(name) ?? { election, addresses: [] };
    share.addresses.push(ip);
    shares.set(name, share);
  }
  // Every Service with such an address is led there, whoever's election decided.
  const services = [...new Set(elections.flatMap(({ group }) => group.services))];
  return [...shares.values()].map(({ election, addresses }) => ({
    ...election,
    group: {
      key: election.group.key,
      addresses,
      services: services.filter((service) => service.addresses.some((ip) => addresses.includes(ip))),
    },
  }));
}
