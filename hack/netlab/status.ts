/** Reads /status of the lab's speakers and judges whether they agree. */
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { StatusDocument } from "../../api/status.ts";
import type { Ip } from "../../src/net/ip.ts";
import { doorSocket, type Lab, lastWords } from "./lab.ts";
import type { Host } from "./topology.ts";

const REQUEST_TIMEOUT_MS = 2_000;
const POLL_MS = 100;
const READY_TIMEOUT_MS = 40_000;

/** Undefined: the speaker gives no answer. */
export async function fetchStatus(lab: Lab, node: Host): Promise<StatusDocument | undefined> {
  const answer = await callSpeaker(lab, node, "GET", "/status");
  return answer?.status === 200 ? (JSON.parse(answer.body) as StatusDocument) : undefined;
}

/** One document for each node, in order; undefined where nobody answers. */
export function fetchStatuses(lab: Lab): Promise<(StatusDocument | undefined)[]> {
  return Promise.all(lab.topology.nodes.map((node) => fetchStatus(lab, node)));
}

/** Undefined: no speaker listens, or it did not answer in time. */
export function callSpeaker(
  lab: Lab,
  node: Host,
  method: "GET" | "POST" | "DELETE",
  path: string,
): Promise<{ readonly status: number; readonly body: string } | undefined> {
  return new Promise((resolve) => {
    const call = request(
      {
        socketPath: doorSocket(lab, node),
        method,
        path,
        headers: { accept: "application/json", host: "localhost", connection: "close" },
        timeout: REQUEST_TIMEOUT_MS,
        agent: false,
      },
      (response) => {
        let body = "";
        response.setEncoding("utf8");
        response.on("data", (text: string) => {
          body += text;
        });
        response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
        response.on("error", () => resolve(undefined));
      },
    );
    call.on("timeout", () => call.destroy());
    call.on("error", () => resolve(undefined));
    call.end();
  });
}

/** What is still missing until `nodes` speakers form one settled cluster in which every address has one leader; empty: nothing. */
export function findDisagreements(
  documents: readonly (StatusDocument | undefined)[],
  addresses: readonly Ip[],
): readonly string[] {
  const present = documents.filter((document) => document !== undefined);
  if (present.length < documents.length) return [`${documents.length - present.length} speakers give no status`];
  return [
    ...present.flatMap((document) => nodeProblems(document, documents.length)),
    ...addresses.flatMap((address) => addressProblems(present, address)),
  ];
}

/** The node that leads the address, when all who were asked name the same. */
export function commonLeader(documents: readonly (StatusDocument | undefined)[], address: Ip): string | undefined {
  const leaders = new Set(
    documents.flatMap((document) => (document === undefined ? [] : [leaderOf(document, address)])),
  );
  const [leader] = leaders;
  return leaders.size === 1 ? leader : undefined;
}

/** A leader, and since when it leads, in ms of the wall clock. */
export interface LeadershipTerm {
  readonly node: string;
  readonly sinceMs: number;
}

/** Wall time is told anew with every status, from a clock that is set meanwhile. */
const TOLD_ALIKE_MS = 500;

/** The addresses of the first that another leads in the second, or the same one anew. */
export function movedBetween(
  before: ReadonlyMap<Ip, LeadershipTerm>,
  after: ReadonlyMap<Ip, LeadershipTerm>,
): readonly Ip[] {
  return [...before].flatMap(([address, { node, sinceMs }]) => {
    const now = after.get(address);
    return now?.node === node && Math.abs(now.sinceMs - sinceMs) < TOLD_ALIKE_MS ? [] : [address];
  });
}

/** Who leads each address, and since when, as that node says. */
export async function fetchLeaderships(lab: Lab): Promise<ReadonlyMap<Ip, LeadershipTerm>> {
  const documents = await fetchStatuses(lab);
  return new Map(
    documents.flatMap((document) =>
      (document?.addresses ?? []).flatMap(({ address, state, since }) =>
        state === "leading"
          ? [[address as Ip, { node: document?.node ?? "", sinceMs: Date.parse(since) }] as const]
          : [],
      ),
    ),
  );
}

/**
 * Waits until findDisagreements finds none; gives the documents, or throws with what was missing at the end, or with the last
 * words of a speaker that has ended.
 */
export async function waitUntilSettled(
  lab: Lab,
  addresses: readonly Ip[],
  timeoutMs: number,
): Promise<readonly (StatusDocument | undefined)[]> {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    const documents = await fetchStatuses(lab);
    const problems = findDisagreements(documents, addresses);
    if (problems.length === 0) return documents;
    for (const node of lab.topology.nodes) throwIfEnded(lab, node);
    if (performance.now() > deadlineMs) throw new Error(`not settled after ${timeoutMs} ms: ${problems.join("; ")}`);
    await sleep(POLL_MS);
  }
}

/** Until each of these nodes sees that many members alive; false: it did not come to that. */
export async function waitUntilMembers(
  lab: Lab,
  nodes: readonly Host[],
  members: number,
  timeoutMs: number,
): Promise<boolean> {
  for (const deadlineMs = performance.now() + timeoutMs; ; ) {
    const documents = await Promise.all(nodes.map((node) => fetchStatus(lab, node)));
    if (documents.every((document) => document !== undefined && aliveMembers(document) === members)) return true;
    if (performance.now() > deadlineMs) return false;
    await sleep(POLL_MS);
  }
}

/** Until the speaker says that it may lead. */
export async function waitUntilReady(lab: Lab, node: Host): Promise<void> {
  const deadlineMs = performance.now() + READY_TIMEOUT_MS;
  for (;;) {
    const document = await fetchStatus(lab, node);
    if (document?.ready.isReady === true) return;
    throwIfEnded(lab, node);
    if (performance.now() > deadlineMs) {
      throw new Error(
        `${node.name} is not ready after ${READY_TIMEOUT_MS} ms: ${document?.ready.reason ?? "no status"}`,
      );
    }
    await sleep(POLL_MS);
  }
}

function throwIfEnded(lab: Lab, node: Host): void {
  const words = lastWords(lab, node);
  if (words !== undefined) throw new Error(`the speaker of ${node.name} has ended; it said last:\n${words}`);
}

export function aliveMembers({ members }: Pick<StatusDocument, "members">): number {
  return members.filter(({ state }) => state === "alive").length;
}

function nodeProblems({ node, ready, word, members }: StatusDocument, nodes: number): readonly string[] {
  const alive = aliveMembers({ members });
  const problems = [];
  if (!ready.isReady) problems.push(`${node} is not ready (${ready.reason})`);
  if (word.flags.includes("settling")) problems.push(`${node} is settling`);
  if (alive !== nodes) problems.push(`${node} sees ${alive} of ${nodes} members`);
  return problems;
}

function addressProblems(documents: readonly StatusDocument[], address: Ip): readonly string[] {
  const leader = commonLeader(documents, address);
  if (leader === undefined) return [`no common leader for ${address}`];
  const leading = documents.filter(({ addresses }) =>
    addresses.some((entry) => entry.address === address && entry.state === "leading"),
  );
  if (leading.length !== 1 || leading[0]?.node !== leader) return [`${address} is led by ${leading.length} nodes`];
  const isHandedOver = documents.every(({ addresses }) =>
    addresses.every((entry) => entry.address !== address || entry.state !== "handing-over"),
  );
  return isHandedOver ? [] : [`${address} is still being handed over`];
}

function leaderOf({ addresses }: StatusDocument, address: Ip): string | undefined {
  return addresses.find((entry) => entry.address === address)?.leader;
}
