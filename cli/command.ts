/** What `arpeggio` does with a command line: asks the speakers, and says what is to be printed. */
import { setTimeout as pause } from "node:timers/promises";
import { type ClusterDecisionDocument, ClusterDecisionSchema } from "../api/cluster-decision.ts";
import { ClusterServiceDecisionSchema } from "../api/cluster-service-decision.ts";
import { type ClusterStatusDocument, ClusterStatusSchema } from "../api/cluster-status.ts";
import { ArpeggioError } from "../src/base/errors.ts";
import { compileCheck } from "../src/http/document-check.ts";
import { type Door, readAddresses, readStatuses } from "./ask.ts";
import { formatClusterDecision, formatServiceDecision } from "./decision-text.ts";
import { formatHelp, formatVersion } from "./help.ts";
import { mergeDecision } from "./merge-decision.ts";
import { addressesOf, mergeServiceDecision } from "./merge-service.ts";
import { mergeStatus } from "./merge-status.ts";
import { parseCommandLine, type Run, type Speakers } from "./options.ts";
import { formatClusterStatus } from "./status-text.ts";
import { openUrls } from "./url-doors.ts";

const EXIT_PROBLEMS = 1;
const EXIT_USAGE = 2;
/** While an address moves, speakers that are asked one after the other may name two leaders: a second look tells. */
const SECOND_LOOK_MS = 500;

export interface Ending {
  readonly exitCode: number;
  /** For standard output. */
  readonly output: string;
  /** For standard error. */
  readonly complaint: string;
}

interface Answer {
  readonly text: string;
  readonly hasProblems: boolean;
  /** Everybody answered. */
  readonly isWhole: boolean;
}

const checkStatus = compileCheck("cluster status", ClusterStatusSchema);
const checkDecision = compileCheck("cluster decision", ClusterDecisionSchema);
const checkServiceDecision = compileCheck("cluster service decision", ClusterServiceDecisionSchema);

/** Never rejects because of a user's or a speaker's fault. */
export async function runCommand(words: readonly string[]): Promise<Ending> {
  const invocation = parseCommandLine(words);
  switch (invocation.kind) {
    case "help":
      return { exitCode: 0, output: formatHelp(), complaint: "" };
    case "version":
      return { exitCode: 0, output: formatVersion(), complaint: "" };
    case "invalid":
      return complain([...invocation.problems, "arpeggio --help explains"], EXIT_USAGE);
    case "run":
      return run(invocation);
    default:
      return invocation satisfies never;
  }
}

async function run(order: Run): Promise<Ending> {
  try {
    const doors = await openDoors(order.speakers);
    let answer = await ask(order, doors);
    if (answer.hasProblems && answer.isWhole) {
      await pause(SECOND_LOOK_MS);
      answer = await ask(order, doors);
    }
    return { exitCode: answer.hasProblems ? EXIT_PROBLEMS : 0, output: answer.text, complaint: "" };
  } catch (error) {
    if (!(error instanceof ArpeggioError)) throw error;
    return complain([error.message], EXIT_PROBLEMS);
  }
}

async function ask({ question, output }: Run, doors: readonly Door[]): Promise<Answer> {
  const at = new Date().toISOString();
  if (question.kind === "status") {
    const status = mergeStatus(await readStatuses(doors), at);
    if (output === "json") checkStatus(status);
    return { ...soundness(status), text: output === "json" ? json(status) : formatClusterStatus(status) };
  }
  if (question.kind === "why-service") return askOfService(question.service, output, doors, at);
  const decision = mergeDecision(question.address, await readAddresses(doors, question.address), at);
  if (output === "json") checkDecision(decision);
  return { ...soundness(decision), text: output === "json" ? json(decision) : formatClusterDecision(decision) };
}

async function askOfService(
  service: string,
  output: Run["output"],
  doors: readonly Door[],
  at: string,
): Promise<Answer> {
  const readings = await readStatuses(doors);
  const decisions: ClusterDecisionDocument[] = [];
  for (const address of addressesOf(service, readings)) {
    decisions.push(mergeDecision(address, await readAddresses(doors, address), at));
  }
  const decision = mergeServiceDecision(service, readings, decisions, at);
  if (output === "json") checkServiceDecision(decision);
  return {
    hasProblems: decision.problems.length > 0,
    isWhole: readings.every(({ answer }) => answer.ok) && decisions.every((one) => soundness(one).isWhole),
    text: output === "json" ? json(decision) : formatServiceDecision(decision),
  };
}

function soundness({ problems, speakers }: ClusterStatusDocument | ClusterDecisionDocument): Omit<Answer, "text"> {
  return { hasProblems: problems.length > 0, isWhole: speakers.every(({ says }) => says !== undefined) };
}

async function openDoors(speakers: Speakers): Promise<readonly Door[]> {
  if (speakers.kind === "urls") return openUrls(speakers.urls);
  // The Kubernetes client takes half a second to load.
  const { openPods } = await import("./pod-doors.ts");
  const doors = await openPods(speakers);
  if (doors.length > 0) return doors;
  const { namespace, selector } = speakers;
  throw new ArpeggioError(
    "ERR_PODS_UNREADABLE",
    `no pod in namespace ${namespace} has the labels ${selector}: --namespace and --selector say where the speakers are`,
  );
}

function json(document: unknown): string {
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

function complain(sentences: readonly string[], exitCode: number): Ending {
  return { exitCode, output: "", complaint: sentences.map((sentence) => `arpeggio: ${sentence}\n`).join("") };
}
