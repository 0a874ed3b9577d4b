/** What the lab prints: aligned text, or with --json one object a line. Pure. */
import type { StatusDocument } from "../../api/status.ts";
import type { Ip } from "../../src/net/ip.ts";
import type { Mac } from "../../src/net/mac.ts";
import type { Figures } from "./measure.ts";
import type { Verdict } from "./promises.ts";
import { aliveMembers, commonLeader } from "./status.ts";
import type { Topology } from "./topology.ts";

export interface AddressRow {
  readonly address: Ip;
  readonly leader: string | null;
  readonly mac: Mac | null;
  /** What each node says: its own view of the leader. */
  readonly saidBy: Readonly<Record<string, string | null>>;
}

export interface NodeRow {
  readonly node: string;
  readonly state: "ready" | "not-ready" | "settling" | "no-answer";
  readonly members: number;
}

export function addressRows(
  topology: Topology,
  documents: readonly (StatusDocument | undefined)[],
  addresses: readonly Ip[],
): readonly AddressRow[] {
  return addresses.map((address) => {
    const leader = commonLeader(documents, address) ?? null;
    const mac = topology.nodes.find(({ name }) => name === leader)?.mac ?? null;
    const views = topology.nodes.map(({ name }, index) => {
      const entry = documents[index]?.addresses.find((one) => one.address === address);
      return [name, entry?.leader ?? null] as const;
    });
    return { address, leader, mac, saidBy: Object.fromEntries(views) };
  });
}

export function nodeRows(topology: Topology, documents: readonly (StatusDocument | undefined)[]): readonly NodeRow[] {
  return topology.nodes.map(({ name }, index) => {
    const document = documents[index];
    return { node: name, state: stateOf(document), members: document === undefined ? 0 : aliveMembers(document) };
  });
}

export function formatAddressRows(rows: readonly AddressRow[]): string {
  return formatTable([
    ["ADDRESS", "LEADER", "MAC", "NODES AGREE"],
    ...rows.map(({ address, leader, mac, saidBy }) => [
      address,
      leader ?? "-",
      mac ?? "-",
      leader === null
        ? Object.entries(saidBy)
            .map(([node, said]) => `${node} says ${said ?? "nobody"}`)
            .join(", ")
        : "yes",
    ]),
  ]);
}

export function formatNodeRows(topology: Topology, rows: readonly NodeRow[]): string {
  return formatTable([
    ["NODE", "STATE", "MEMBERS", "IPV4", "MAC"],
    ...rows.map(({ node, state, members }) => {
      const host = topology.nodes.find(({ name }) => name === node);
      return [node, state, String(members), host?.ipv4 ?? "", host?.mac ?? ""];
    }),
  ]);
}

/** The names of the figures, as columns, with what stands in each. */
const COLUMNS: readonly (readonly [string, (figures: Figures, nameOf: (mac: Mac) => string) => string])[] = [
  ["FIRST FRAME", ({ firstFrameMs }) => formatMs(firstFrameMs)],
  ["FIRST REPLY", ({ firstReplyMs }) => formatMs(firstReplyMs)],
  ["LONGEST GAP", ({ longestGapMs }) => formatMs(longestGapMs)],
  ["SENT", ({ sent }) => String(sent)],
  ["LOST", ({ lost }) => String(lost)],
  ["RESETS", ({ resets }) => String(resets)],
  ["MOVES", ({ moves }) => String(moves)],
  ["BOTH ANSWER", ({ bothAnswerMs }) => formatMs(bothAnswerMs)],
  ["ANSWERED BY", ({ macs }, nameOf) => macs.map((mac) => `${nameOf(mac)} (${mac})`).join(", ")],
];

export function formatRuns(topology: Topology, runs: readonly Figures[]): string {
  const nameOf = (mac: Mac): string => topology.nodes.find((node) => node.mac === mac)?.name ?? "a stranger";
  const lines = runs.map((figures, index) => [String(index + 1), ...COLUMNS.map(([, cell]) => cell(figures, nameOf))]);
  const table = [["RUN", ...COLUMNS.map(([title]) => title)], ...lines];
  const afterThaw = runs.flatMap(({ answersAfterThaw }) => answersAfterThaw ?? []);
  const thawed = afterThaw.length === 0 ? "" : `answers of the thawed leader: ${afterThaw.join(", ")}\n`;
  return formatTable(table) + thawed + (runs.length > 1 ? formatSummary(runs) : "");
}

export function formatVerdicts(verdicts: readonly Verdict[]): string {
  return verdicts.map(({ what, found, isKept }) => `${isKept ? "kept" : "NOT KEPT"}: ${what}: ${found}\n`).join("");
}

function formatSummary(runs: readonly Figures[]): string {
  const spread = (title: string, pick: (figures: Figures) => number | null): string => {
    const values = runs.flatMap((figures) => pick(figures) ?? []).toSorted((a, b) => a - b);
    const middle = values[Math.floor(values.length / 2)];
    return middle === undefined ? "" : `${title} ${values[0]}/${middle}/${values.at(-1)}\n`;
  };
  return [
    "min/median/max\n",
    spread("  first frame, ms:", ({ firstFrameMs }) => firstFrameMs),
    spread("  first reply, ms:", ({ firstReplyMs }) => firstReplyMs),
    spread("  longest gap, ms:", ({ longestGapMs }) => longestGapMs),
    spread("  requests lost:  ", ({ lost }) => lost),
  ].join("");
}

function formatMs(ms: number | null): string {
  return ms === null ? "-" : `${ms} ms`;
}

function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}

function stateOf(document: StatusDocument | undefined): NodeRow["state"] {
  if (document === undefined) return "no-answer";
  if (!document.ready.isReady) return "not-ready";
  return document.word.flags.includes("settling") ? "settling" : "ready";
}
