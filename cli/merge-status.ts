/** `arpeggio status`: every speaker's `/status`, put side by side. Pure. */
import type { ClusterStatusDocument } from "../api/cluster-status.ts";
import type { StatusDocument } from "../api/status.ts";
import { differingViewsSentence } from "../src/http/differing-views.ts";
import { compareIps, parseIp } from "../src/net/ip.ts";
import {
  compareReached,
  compareTexts,
  documentsOf,
  listNames,
  nameOf,
  noAnswer,
  type StatusReading,
} from "./readings.ts";
import { type Opinion, weighOpinions } from "./weigh-opinions.ts";

type SpeakerEntry = ClusterStatusDocument["speakers"][number];
type AddressEntry = ClusterStatusDocument["addresses"][number];
type Watch = NonNullable<StatusDocument["sources"][number]["watches"]>[number];
type AddressStatus = StatusDocument["addresses"][number];

/** `at`: ISO 8601 of the asker. */
export function mergeStatus(readings: readonly StatusReading[], at: string): ClusterStatusDocument {
  const documents = documentsOf(readings);
  const addresses = mergeAddresses(documents);
  const speakers = readings.map(speakerEntryOf).toSorted(compareReached);
  return {
    at,
    speakers,
    addresses,
    problems: [
      ...speakers.flatMap(speakerProblems),
      ...ruleProblems(documents),
      ...documents.flatMap((document) => memberProblems(document, documents)),
      ...dissentProblems(addresses),
      ...contestProblems(documents),
      ...documents.flatMap(silentLeaderProblems),
    ],
  };
}

function speakerEntryOf({ reached, answer }: StatusReading): SpeakerEntry {
  if (!answer.ok) return { ...reached, problem: answer.reason };
  const { node, version, ready, election, gossip, members, sources, writtenBack } = answer.value;
  const heard = members.filter(({ state }) => state === "alive" || state === "suspect");
  const count = (state: string) => members.filter((member) => member.state === state).length;
  return {
    ...reached,
    node,
    says: {
      version,
      isReady: ready.isReady,
      readyReason: ready.reason,
      rule: election.rule,
      sources: sources.map(({ kind, state, problems, watches = [] }) => ({
        kind,
        state,
        problems: [
          ...problems,
          ...watches.flatMap(watchProblems),
          ...(kind === "kubernetes" ? writeProblems(writtenBack) : []),
        ],
      })),
      ...(gossip.isOn
        ? {
            members: {
              alive: count("alive"),
              suspect: count("suspect"),
              dead: count("dead"),
              metallb: heard.filter(({ isGo }) => isGo).length,
            },
          }
        : {}),
    },
  };
}

function watchProblems({ kind, lastError }: Watch): readonly string[] {
  return lastError === undefined ? [] : [`${kind}: ${lastError}`];
}

/** What keeps a speaker from saying what it does; it does it all the same. */
function writeProblems(writtenBack: StatusDocument["writtenBack"]): readonly string[] {
  if (writtenBack === undefined) return [];
  const { objects, events, droppedFields = [] } = writtenBack;
  const away = [objects, events].find(({ isApiAway }) => isApiAway);
  return [
    ...(away === undefined ? [] : [`the API server takes no writes: ${away.lastError ?? "no reason is known"}`]),
    ...objects.missingRights,
    ...events.missingRights,
    ...(droppedFields.length === 0 ? [] : [`the installed CRDs drop ${droppedFields.join(", ")}`]),
  ];
}

function mergeAddresses(documents: readonly StatusDocument[]): readonly AddressEntry[] {
  const entries = documents.map((document) => ({
    document,
    byAddress: new Map(document.addresses.map((entry) => [entry.address, entry])),
  }));
  const addresses = new Set(documents.flatMap((document) => document.addresses.map(({ address }) => address)));
  return [...addresses].toSorted(compareAddresses).flatMap((address) => {
    const { told, dissents } = weighOpinions(
      entries.map(({ document, byAddress }) => opinionOf(document, byAddress.get(address))),
    );
    const teller = entries.find(({ document }) => document.node === told?.node);
    const entry = teller?.byAddress.get(address);
    if (teller === undefined || entry === undefined) return [];
    const { leader, reason, since, previousLeader, services } = entry;
    return [
      {
        address,
        toldBy: teller.document.node,
        at: teller.document.at,
        reason,
        since,
        services,
        dissents: dissents.map(({ node, knows, leader: other }) => ({
          node,
          knows,
          ...(other === undefined ? {} : { leader: other }),
        })),
        ...(leader === undefined ? {} : { leader }),
        ...(previousLeader === undefined ? {} : { previousLeader }),
      },
    ];
  });
}

function opinionOf({ node, ready }: StatusDocument, entry: AddressStatus | undefined): Opinion {
  return {
    node,
    isReady: ready.isReady,
    knows: entry !== undefined,
    isLeading: entry?.state === "leading",
    ...(entry?.leader === undefined ? {} : { leader: entry.leader }),
  };
}

/** What cannot be read as an address comes last, so that it is seen. */
function compareAddresses(a: string, b: string): number {
  const [x, y] = [parseIp(a), parseIp(b)];
  if (x !== undefined && y !== undefined) return compareIps(x, y);
  return Number(x === undefined) - Number(y === undefined) || compareTexts(a, b);
}

function speakerProblems(speaker: SpeakerEntry): readonly string[] {
  const name = nameOf(speaker);
  const { says, problem } = speaker;
  if (says === undefined) return [noAnswer(speaker, problem)];
  const away = says.sources.filter(({ state }) => state === "stale" || state === "not-available");
  return [
    ...(says.isReady ? [] : [`${name} is not ready: ${says.readyReason}`]),
    ...away.map(({ kind, state }) => `${name} cannot read its source now: ${kind} is ${state}`),
  ];
}

function ruleProblems(documents: readonly StatusDocument[]): readonly string[] {
  const byRule = Map.groupBy(
    documents.filter(({ ready }) => ready.isReady),
    ({ election }) => election.rule,
  );
  if (byRule.size < 2) return [];
  const parts = [...byRule].map(([rule, followers]) => `${rule} (${listNames(followers.map(({ node }) => node))})`);
  return [`the speakers follow different election rules: ${parts.join(", ")}`];
}

/** Speakers that answer, but not to each other: a divided network, or different keys. */
function memberProblems(
  { node, ready, gossip, members }: StatusDocument,
  documents: readonly StatusDocument[],
): readonly string[] {
  if (!gossip.isOn || !ready.isReady) return [];
  const heard = new Set(
    members.filter(({ state }) => state === "alive" || state === "suspect").map(({ name }) => name),
  );
  const missing = documents.filter((other) => other.ready.isReady && other.gossip.isOn && !heard.has(other.node));
  return missing.length === 0 ? [] : [`${node} does not hear ${listNames(missing.map((other) => other.node))}`];
}

function dissentProblems(addresses: readonly AddressEntry[]): readonly string[] {
  const contested = addresses.filter(({ dissents }) => dissents.length > 0).map(({ address }) => address);
  return contested.length === 0 ? [] : [`the speakers disagree about ${listNames(contested)}`];
}

/** Once for each address, whoever says it. */
function contestProblems(documents: readonly StatusDocument[]): readonly string[] {
  const byAddress = new Map<string, string>();
  for (const { addresses } of documents) {
    for (const { address, viewsDiffer } of addresses) {
      if (viewsDiffer === undefined || byAddress.has(address)) continue;
      byAddress.set(address, `views of ${address} differ: ${differingViewsSentence(viewsDiffer)}`);
    }
  }
  return [...byAddress.values()];
}

/** Elected, and knows it, but nothing is answered: no link could be opened, or it holds back after a pause. */
function silentLeaderProblems({ node, addresses }: StatusDocument): readonly string[] {
  const silent = addresses.filter(
    ({ leader, state }) => leader === node && state !== "leading" && state !== "views-differ",
  );
  return silent.length === 0
    ? []
    : [`${node} is elected for ${listNames(silent.map(({ address }) => address))}, but does not answer`];
}
