/** `arpeggio why NAMESPACE/SERVICE`: which addresses it has by what the speakers say, and their decisions side by side. Pure. */
import type { ClusterDecisionDocument } from "../api/cluster-decision.ts";
import type { ClusterServiceDecisionDocument } from "../api/cluster-service-decision.ts";
import { compareIps, type Ip, parseIp } from "../src/net/ip.ts";
import { compareReached, documentsOf, listNames, noAnswer, type StatusReading } from "./readings.ts";

/** Every address that any speaker knows of the Service, led or not. `service`: `namespace/name`. */
export function addressesOf(service: string, readings: readonly StatusReading[]): readonly Ip[] {
  const written = readings.flatMap(({ answer }) =>
    answer.ok ? answer.value.addresses.filter(({ services }) => services.includes(service)) : [],
  );
  const addresses = new Set(written.flatMap(({ address }) => parseIp(address) ?? []));
  return [...addresses].toSorted(compareIps);
}

/** `readings`: what the addresses were found in. `at`: ISO 8601 of the asker. */
export function mergeServiceDecision(
  service: string,
  readings: readonly StatusReading[],
  decisions: readonly ClusterDecisionDocument[],
  at: string,
): ClusterServiceDecisionDocument {
  const problems = decisions.length === 0 ? unknownProblems(service, readings) : decisionProblems(decisions);
  return { service, at, decisions, problems };
}

function unknownProblems(service: string, readings: readonly StatusReading[]): readonly string[] {
  const silent = readings
    .toSorted((a, b) => compareReached(a.reached, b.reached))
    .flatMap(({ reached, answer }) => (answer.ok ? [] : [noAnswer(reached, answer.reason)]));
  const asked = documentsOf(readings);
  const unready = asked.flatMap(({ node, ready }) => (ready.isReady ? [] : [`${node} is not ready: ${ready.reason}`]));
  if (asked.length === 0) return silent;
  const names = listNames(asked.map(({ node }) => node));
  const unknown = `Service ${service} has no address: so ${asked.length === 1 ? "says" : "say"} ${names}`;
  return [
    ...silent,
    ...unready,
    `${unknown}. Is there such a Service, of type LoadBalancer, with an address in its status?`,
  ];
}

/** Each sentence once: what is wrong with a speaker is so for every address. */
function decisionProblems(decisions: readonly ClusterDecisionDocument[]): readonly string[] {
  const said = decisions.flatMap(({ address, problems }) => problems.map((sentence) => ({ sentence, address })));
  return [...Map.groupBy(said, ({ sentence }) => sentence)].map(([sentence, sayings]) =>
    sayings.length === decisions.length ? sentence : `${sayings.map(({ address }) => address).join(", ")}: ${sentence}`,
  );
}
