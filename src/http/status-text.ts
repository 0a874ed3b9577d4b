/** `/status` as aligned text: who leads what comes last, where a terminal shows it. Pure: ages are counted up to the document's own time. */
import type { StatusDocument } from "../../api/status.ts";
import { formatAge, formatTable, formatTableParts, printable } from "./table.ts";

export function formatStatus(status: StatusDocument): string {
  return [...formatStatusParts(status)].join("");
}

/** The same in parts of some milliseconds, for there may be thousands of addresses. */
export function* formatStatusParts(status: StatusDocument): Generator<string, void, undefined> {
  const heads = [
    formatHead(status),
    formatSources(status),
    formatWrites(status),
    formatMembers(status),
    formatLinks(status),
  ];
  for (const part of heads) if (part !== "") yield `${part}\n`;
  yield* formatAddresses(status);
}

const OFF_TEXT: Readonly<Record<StatusDocument["gossip"]["detection"], string>> = {
  gossip: "off",
  "api-server": "off: the death of a node is noticed by the API server",
  none: "off: this node is alone",
};

function formatHead({ node, version, at, startedAt, ready, election, gossip, word }: StatusDocument): string {
  const readiness = ready.isReady ? "ready" : `NOT READY (${ready.reason})`;
  const gossipText = gossip.isOn
    ? `${gossip.endpoint ?? "not bound yet"}, ${gossip.isEncrypted ? "encrypted" : "NOT ENCRYPTED"}`
    : OFF_TEXT[gossip.detection];
  const facts = [
    ["node", `${node}, arpeggio ${version}, up ${formatAge(startedAt, at)}`],
    ["state", `${readiness} for ${formatAge(ready.since, at)}`],
    ["says", `${word.flags.join(", ") || "no flag"}${word.isTruncated ? " (its links did not all fit)" : ""}`],
    [
      "election",
      `${election.rule} for ${formatAge(election.since, at)}: ${election.reason}${election.member === undefined ? "" : ` (${election.member})`}`,
    ],
    ...(election.refusedConfiguration === undefined ? [] : [["", `! ${election.refusedConfiguration}`]]),
    ["gossip", gossipText],
    ...(gossip.keys === undefined ? [] : describeKeys(gossip.keys, at).map((text) => ["", text])),
  ];
  return facts.map(([name = "", text = ""]) => `${name.padEnd(9)}${printable(text)}\n`).join("");
}

/** Nothing while there is one key. */
function describeKeys(keys: NonNullable<StatusDocument["gossip"]["keys"]>, at: string): readonly string[] {
  const { sendsWith, accepts, switchAt, switchesWhenHeard } = keys;
  const others = accepts
    .slice(1)
    .map(({ key, until }) => `the ${key} one${until === undefined ? "" : ` for ${formatAge(at, until)} more`}`);
  if (others.length === 0 && switchAt === undefined) return [];
  const understood = others.length === 0 ? "" : `, understands ${others.join(" and ")}, too`;
  const earlier = switchesWhenHeard === true ? ", or as soon as another node does" : "";
  const next = switchAt === undefined ? "" : `; with the current one in ${formatAge(at, switchAt)}${earlier}`;
  return [`sends with the ${sendsWith} key${understood}${next}`];
}

function formatSources({ sources, at }: StatusDocument): string {
  const lines = sources.map(({ kind, location, state, objects, problems, lastChange, watches = [] }) => {
    const counts = Object.entries(objects).map(([name, count]) => `${count} ${name}`);
    const changed = lastChange === undefined ? "" : `, changed ${formatAge(lastChange, at)} ago`;
    const head = `${"source".padEnd(9)}${location === undefined ? kind : `${kind} ${location}`}: ${state}${changed}`;
    const lists = counts.length === 0 ? [] : [`         ${counts.join(", ")}`];
    const said = [head, ...lists, ...problems.map((problem) => `       ! ${problem}`)];
    return said.map((line) => `${printable(line)}\n`).join("") + formatWatches(watches, at);
  });
  return lines.join("");
}

function formatWatches(watches: NonNullable<StatusDocument["sources"][number]["watches"]>, at: string): string {
  if (watches.length === 0) return "";
  return `\n${formatTable(
    ["KIND", "STATE", "OBJECTS", "LAST EVENT", "RECONNECTS", "RE-LISTS", "LAST ERROR"],
    watches.map((watch) => [
      watch.kind,
      watch.state,
      String(watch.objects),
      watch.lastEvent === undefined ? "-" : `${formatAge(watch.lastEvent, at)} ago`,
      String(watch.reconnects),
      String(watch.relists),
      watch.lastError ?? "-",
    ]),
  )}`;
}

function formatWrites({ writtenBack, at }: StatusDocument): string {
  if (writtenBack === undefined) return "";
  const { objects, events, droppedFields = [] } = writtenBack;
  const table = formatTable(
    ["WRITES", "PENDING", "WRITTEN", "FAILED", "DROPPED", "LAST ERROR"],
    [
      { name: "objects", dropped: "-", ...objects },
      { name: "events", ...events },
    ].map(({ name, dropped, pending, written, failed, lastError, lastErrorAt = at }) => [
      name,
      String(pending),
      String(written),
      String(failed),
      String(dropped),
      lastError === undefined ? "-" : `${lastError} (${formatAge(lastErrorAt, at)} ago)`,
    ]),
  );
  const said = [
    ...(objects.isApiAway || events.isApiAway ? ["the API server takes no writes"] : []),
    ...objects.missingRights,
    ...events.missingRights,
    ...(droppedFields.length === 0 ? [] : [`the installed CRDs drop ${droppedFields.join(", ")}`]),
  ];
  return table + said.map((sentence) => `! ${printable(sentence)}\n`).join("");
}

function formatMembers({ members, at, node }: StatusDocument): string {
  const isWatched = members.some(({ watch }) => watch !== undefined);
  return formatTable(
    ["MEMBER", "STATE", "FOR", "ENDPOINT", "INCARNATION", "SAYS", ...(isWatched ? ["WATCHED BY", "SILENT"] : [])],
    members.map((member) => [
      member.name === node ? `${member.name} (here)` : member.name,
      member.state,
      formatAge(member.since, at),
      member.endpoint,
      String(member.incarnation),
      member.isGo ? "MetalLB speaker" : member.flags.join(", ") || (member.isReady ? "ready" : "not ready"),
      ...(isWatched ? describeWatch(member.watch) : []),
    ]),
  );
}

/** Who watches it, and the longest silence of the last ten minutes against the deadline. */
function describeWatch(watch: StatusDocument["members"][number]["watch"]): readonly [string, string] {
  if (watch === undefined) return ["-", "-"];
  const { by, longestSilenceMs, deadlineMs, isAccused } = watch;
  const silence = longestSilenceMs === undefined ? "-" : `${longestSilenceMs} of ${deadlineMs} ms`;
  return [by.join(" ") || "nobody", isAccused === true ? `${silence}, ACCUSED` : silence];
}

function formatLinks({ links }: StatusDocument): string {
  const table = formatTable(
    ["LINK", "INDEX", "MAC", "ANSWERS", "PREFIXES"],
    links.map((link) => [
      link.name,
      String(link.index),
      link.mac,
      link.isUsable ? "yes" : `no: ${link.reason ?? "unknown"}`,
      link.prefixes.join(" "),
    ]),
  );
  const problems = links.flatMap((link) =>
    link.problems.map((problem) => `! ${printable(`${link.name}: ${problem}`)}\n`),
  );
  return table + problems.join("");
}

function* formatAddresses({ addresses, at }: StatusDocument): Generator<string, void, undefined> {
  if (addresses.length === 0) yield "no addresses\n";
  yield* formatTableParts(
    ["ADDRESS", "LEADER", "HERE", "REASON", "FOR", "BEFORE", "ANSWERED", "SERVICES"],
    addresses,
    (address) => [
      address.address,
      address.leader ?? "-",
      address.state,
      address.reason,
      formatAge(address.since, at),
      address.previousLeader ?? "-",
      String(address.requestsAnswered),
      address.services.join(" "),
    ],
  );
}
