/** `arpeggio status` as text: what is wrong comes last, where a terminal shows it. Pure. */
import type { ClusterStatusDocument } from "../api/cluster-status.ts";
import { formatAge, formatTable, printable } from "../src/http/table.ts";
import { listNames, nameOf, type Reached } from "./readings.ts";

type SpeakerEntry = ClusterStatusDocument["speakers"][number];
type Saying = NonNullable<SpeakerEntry["says"]>;
type Dissent = ClusterStatusDocument["addresses"][number]["dissents"][number];

export function formatClusterStatus(status: ClusterStatusDocument): string {
  return [formatSpeakers(status), formatAddresses(status), formatSourceProblems(status), formatVerdict(status)]
    .filter((part) => part !== "")
    .join("\n");
}

/** Sentences, or one that says that all is well. */
export function formatProblems(problems: readonly string[], verdict: string): string {
  const lines = problems.length === 0 ? [verdict] : problems.map((problem) => `! ${problem}`);
  return lines.map((line) => `${printable(line)}\n`).join("");
}

/** What a speaker was reached by, and the head of its column. */
export function reachedColumn(speakers: readonly Reached[]): "POD" | "URL" {
  return speakers.some(({ pod }) => pod !== undefined) ? "POD" : "URL";
}

function formatSpeakers({ speakers }: ClusterStatusDocument): string {
  return formatTable(
    ["NODE", reachedColumn(speakers), "READY", "RULE", "MEMBERS", "SOURCES"],
    speakers.map(({ node, pod, url, says }) => [
      node ?? "-",
      pod ?? url ?? "-",
      ...(says === undefined
        ? ["no answer", "-", "-", "-"]
        : [
            says.isReady ? "yes" : `no: ${says.readyReason}`,
            says.rule,
            formatMembers(says),
            says.sources.map(formatSource).join(", ") || "-",
          ]),
    ]),
  );
}

function formatMembers({ members }: Saying): string {
  if (members === undefined) return "gossip is off";
  const { alive, suspect, dead, metallb } = members;
  return [
    `${alive} alive`,
    ...(suspect === 0 ? [] : [`${suspect} suspect`]),
    ...(dead === 0 ? [] : [`${dead} dead`]),
    ...(metallb === 0 ? [] : [`${metallb} of MetalLB`]),
  ].join(", ");
}

function formatSource({ kind, state, problems }: Saying["sources"][number]): string {
  const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  return `${kind} ${state}${problems.length === 0 ? "" : ` (${count})`}`;
}

function formatAddresses({ addresses, speakers }: ClusterStatusDocument): string {
  // Nobody answered: whether there are addresses is not known.
  if (speakers.every(({ says }) => says === undefined)) return "";
  if (addresses.length === 0) return "no addresses\n";
  return formatTable(
    ["ADDRESS", "LEADER", "REASON", "FOR", "BEFORE", "DISAGREE", "SERVICES"],
    addresses.map(({ address, leader, reason, since, at, previousLeader, dissents, services }) => [
      address,
      leader ?? "-",
      reason,
      formatAge(since, at),
      previousLeader ?? "-",
      dissents.map(formatDissent).join(", ") || "-",
      services.join(" "),
    ]),
  );
}

function formatDissent({ node, knows, leader }: Dissent): string {
  return `${node}: ${knows ? (leader ?? "nobody") : "unknown"}`;
}

/** Each sentence once, with those who say it: all speakers read the same resources. */
function formatSourceProblems({ speakers }: ClusterStatusDocument): string {
  const said = speakers.flatMap((speaker) =>
    (speaker.says?.sources ?? []).flatMap(({ problems }) =>
      problems.map((sentence) => ({ sentence, name: nameOf(speaker) })),
    ),
  );
  return [...Map.groupBy(said, ({ sentence }) => sentence)]
    .map(([sentence, sayings]) => {
      const names = [...new Set(sayings.map(({ name }) => name))];
      return `${printable(`${listNames(names)}: ${sentence}`)}\n`;
    })
    .join("");
}

function formatVerdict({ speakers, problems }: ClusterStatusDocument): string {
  const verdict = speakers.length === 1 ? "the speaker answers" : `all ${speakers.length} speakers answer and agree`;
  return formatProblems(problems, verdict);
}
