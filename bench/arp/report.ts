/** What a run found, and the page that is printed. Pure. */

/** Medians over the rounds; counts are sums. */
export interface PeerResult {
  readonly peer: string;
  /** Answers a second with 64 requests under way. */
  readonly answersPerSecond: number;
  /** One request at a time, nobody else asks. */
  readonly quiet: WindowResult;
  /** The same while strangers ask for addresses that nobody here leads. */
  readonly busy: WindowResult;
}

export interface WindowResult {
  readonly p50Us: number;
  readonly p99Us: number;
  readonly lost: number;
  /** Of one core, by the answering process; absent for the kernel, which has none. */
  readonly cpuPercent?: number;
}

export interface Result {
  readonly rounds: number;
  readonly strangersPerSecond: number;
  readonly peers: readonly PeerResult[];
}

/** 0 for no values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >>> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}

/** A line for each measure, a column for each peer, and the speaker as a ratio to the C responder. */
export function formatResult(result: Result): string {
  const measures: readonly (readonly [string, (peer: PeerResult) => number | undefined, number])[] = [
    ["request to reply, p50 (µs)", (peer) => peer.quiet.p50Us, 1],
    ["request to reply, p99 (µs)", (peer) => peer.quiet.p99Us, 1],
    ["lost", (peer) => peer.quiet.lost, 0],
    ["answers a second", (peer) => peer.answersPerSecond, 0],
    ["CPU (% of a core)", (peer) => peer.quiet.cpuPercent, 1],
    ["under strangers: p50 (µs)", (peer) => peer.busy.p50Us, 1],
    ["under strangers: p99 (µs)", (peer) => peer.busy.p99Us, 1],
    ["under strangers: lost", (peer) => peer.busy.lost, 0],
    ["under strangers: CPU (%)", (peer) => peer.busy.cpuPercent, 1],
    ["CPU that strangers cost (%)", cpuOfStrangers, 1],
  ];
  const peer = (name: string): PeerResult | undefined => result.peers.find((each) => each.peer === name);
  const speaker = peer("speaker");
  const responder = peer("C");
  const head = ["", ...result.peers.map((each) => each.peer), "speaker / C"];
  const rows = measures.map(([title, measure, digits]) => {
    const cells = result.peers.map((each) => measure(each)?.toFixed(digits) ?? "–");
    const ours = speaker && measure(speaker);
    const theirs = responder && measure(responder);
    const ratio = ours === undefined || theirs === undefined || theirs <= 0 ? "–" : (ours / theirs).toFixed(2);
    return [title, ...cells, ratio];
  });
  const title = `ARP over veth, medians of ${result.rounds} rounds; strangers ask ${result.strangersPerSecond} times a second`;
  return `${title}\n${table([head, ...rows])}`;
}

function cpuOfStrangers({ quiet, busy }: PeerResult): number | undefined {
  if (busy.cpuPercent === undefined || quiet.cpuPercent === undefined) return undefined;
  return busy.cpuPercent - quiet.cpuPercent;
}

function table(rows: readonly (readonly string[])[]): string {
  const columns = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const aligned = (cell: string, column: number): string =>
    column === 0 ? cell.padEnd(columns[column] ?? 0) : cell.padStart(columns[column] ?? 0);
  return rows.map((row) => `${row.map(aligned).join("  ").trimEnd()}\n`).join("");
}
