/** `arpeggio why ADDRESS`: every speaker's decision about one address, put side by side. Pure. */
import type { ClusterDecisionDocument } from "../api/cluster-decision.ts";
import { differingViewsSentence } from "../src/http/differing-views.ts";
import type { Ip } from "../src/net/ip.ts";
import { type AddressReading, compareReached, listNames, nameOf, noAnswer } from "./readings.ts";
import { type Opinion, weighOpinions } from "./weigh-opinions.ts";

type ViewEntry = ClusterDecisionDocument["speakers"][number];
type View = NonNullable<ViewEntry["says"]>;

/** `at`: ISO 8601 of the asker. */
export function mergeDecision(address: Ip, readings: readonly AddressReading[], at: string): ClusterDecisionDocument {
  const speakers = readings.map(viewEntryOf).toSorted(compareReached);
  const views = speakers.flatMap(({ says }) => (says === undefined ? [] : [says]));
  const { told, dissents } = weighOpinions(views.map(opinionOf));
  const documents = readings.flatMap(({ answer }) =>
    answer.ok && answer.value.document !== undefined ? [answer.value.document] : [],
  );
  const decision = documents.find(({ node }) => node === told?.node);
  const contest = decision?.viewsDiffer ?? documents.find(({ viewsDiffer }) => viewsDiffer !== undefined)?.viewsDiffer;
  return {
    address,
    at,
    ...(decision === undefined ? {} : { decision }),
    speakers,
    problems: [
      ...speakers.flatMap(speakerProblems),
      ...(told === undefined && views.length > 0
        ? [
            `no Service has the address ${address}: so ${views.length === 1 ? "says" : "say"} ${listNames(views.map(({ node }) => node))}`,
          ]
        : []),
      ...(told === undefined || dissents.length === 0 ? [] : [dissentSentence([told, ...dissents])]),
      ...(contest === undefined ? [] : [`views differ: ${differingViewsSentence(contest)}`]),
      ...(contest === undefined &&
      decision !== undefined &&
      decision.leader === decision.node &&
      decision.state !== "leading"
        ? [`${decision.node} is elected for ${address}, but does not answer`]
        : []),
    ],
  };
}

function viewEntryOf({ reached, answer }: AddressReading): ViewEntry {
  if (!answer.ok) return { ...reached, problem: answer.reason };
  const { node, isReady, document } = answer.value;
  if (document === undefined) return { ...reached, node, says: { node, isReady, knows: false } };
  const { leader, state, reason } = document;
  return {
    ...reached,
    node,
    says: { node, isReady, knows: true, state, reason, ...(leader === undefined ? {} : { leader }) },
  };
}

function opinionOf({ node, isReady, knows, leader, state }: View): Opinion {
  return { node, isReady, knows, isLeading: state === "leading", ...(leader === undefined ? {} : { leader }) };
}

function speakerProblems(speaker: ViewEntry): readonly string[] {
  if (speaker.says === undefined) return [noAnswer(speaker, speaker.problem)];
  return speaker.says.isReady ? [] : [`${nameOf(speaker)} is not ready`];
}

function dissentSentence(opinions: readonly Opinion[]): string {
  return `the speakers disagree: ${opinions.map(({ node, knows, leader }) => `${node} says ${knows ? (leader ?? "nobody") : "that no Service has the address"}`).join(", ")}`;
}
