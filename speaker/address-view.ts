/** `/status/addresses/:ip`: the whole decision about one address, from the value that decided it. */
import type { AddressDocument } from "../api/address.ts";
import { rankHash } from "../src/election/rank-hash.ts";
import type { Ip } from "../src/net/ip.ts";
import type { Speaker } from "./speaker.ts";
import { electedFields, refusedByIp, refusedFields, type StatusContext } from "./status-view.ts";

/** Undefined when no Service has the address. */
export function addressOf(speaker: Speaker, ip: Ip, context: StatusContext): AddressDocument | undefined {
  const { council } = speaker;
  const head = { node: context.nodeName, at: context.isoOf(context.nowMs), rule: council.rule.rule };
  const decision = council.decisions.find(({ group }) => group.addresses.includes(ip));
  const refused = refusedByIp(council.derived.refused, new Set()).get(ip) ?? [];
  const refusedServices = refused.map(({ namespace, name, reason }) => ({
    service: `${namespace}/${name}`,
    advertisements: [],
    refused: reason,
  }));
  if (decision === undefined) {
    const reason = refused[0]?.reason;
    if (reason === undefined) return undefined;
    const rest = { services: refusedServices, candidates: [], refusals: [], links: [] };
    return { ...head, ...refusedFields(ip, reason, context), ...rest };
  }
  const state = speaker.announcer.addressState(ip);
  const fields = electedFields(speaker, ip, context);
  if (fields === undefined) return undefined;
  const { group, candidates, refusals } = decision;
  const nameOfLink = new Map(council.node.links(context.nowMs).map(({ link }) => [link.index, link.name]));
  return {
    ...head,
    ...fields,
    group: { key: group.key, addresses: [...group.addresses] },
    services: [
      ...group.services.map(({ namespace, name, externalTrafficPolicy, advertisements }) => ({
        service: `${namespace}/${name}`,
        externalTrafficPolicy,
        advertisements: advertisements.map((advertisement) => advertisement.name),
      })),
      ...refusedServices,
    ],
    candidates: candidates.map((candidate, index) => ({
      rank: index + 1,
      ...candidate,
      hash: rankHash(candidate.node, group.key),
    })),
    refusals: refusals.map((refusal) => ({ ...refusal })),
    links: (state?.answeredOn ?? []).map((index) => nameOfLink.get(index) ?? String(index)),
  };
}
