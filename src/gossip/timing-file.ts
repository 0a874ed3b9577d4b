/** MetalLB's memberlist file (/etc/metallb/memberlist/config.json): the whole timing in JSON, durations as Go writes them. Pure. */
import { TIMING_PRESETS, type Timing } from "./timing.ts";

export type TimingFile =
  | { readonly ok: true; readonly timing: Timing }
  /** One sentence for each field that does not do. */
  | { readonly ok: false; readonly problems: readonly string[] };

/** Longest duration: one day, so that a slip of the pen does not switch detection off unseen. */
const MAX_DURATION_MS = 86_400_000;
const MAX_COUNT = 1_000;
/** Least: room for one alive message with full metadata; greatest: what UDP carries. */
const UDP_BUFFER_RANGE = [576, 65_507] as const;
const MAX_QUEUE_DEPTH = 10_000_000;

/** In milliseconds. */
const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

const TERM = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/y;

/** Milliseconds of a Go duration such as "500ms" or "1m30s"; undefined for what Go does not read, and for negative ones. */
export function parseGoDuration(text: string): number | undefined {
  const terms = text.startsWith("+") ? text.slice(1) : text;
  if (terms === "0") return 0;
  let totalMs = 0;
  let end = 0;
  while (end < terms.length) {
    TERM.lastIndex = end;
    const match = TERM.exec(terms);
    if (match === null) return undefined;
    totalMs += Number(match[1]) * (UNITS[match[2] ?? ""] ?? Number.NaN);
    end = TERM.lastIndex;
  }
  return end === 0 ? undefined : totalMs;
}

/**
 * Reads the file as MetalLB does: durations are required, an absent number is 0 and an absent boolean false. Where 0 would
 * make a cluster that detects nothing, this says so instead of running; fields that are not MetalLB's are named, too.
 */
export function parseTimingFile(text: string): TimingFile {
  const fields = new Fields(text);
  const timing: Timing = {
    ...TIMING_PRESETS.lan,
    tcpTimeoutMs: fields.duration("TCPTimeout", 1),
    indirectChecks: fields.count("IndirectChecks", 0, MAX_COUNT),
    retransmitMult: fields.count("RetransmitMult", 1, MAX_COUNT),
    suspicionMult: fields.count("SuspicionMult", 1, MAX_COUNT),
    suspicionMaxTimeoutMult: fields.count("SuspicionMaxTimeoutMult", 1, MAX_COUNT),
    pushPullIntervalMs: fields.duration("PushPullInterval", 0),
    probeTimeoutMs: fields.duration("ProbeTimeout", 1),
    probeIntervalMs: fields.duration("ProbeInterval", 1),
    awarenessMaxMultiplier: fields.count("AwarenessMaxMultiplier", 0, MAX_COUNT),
    gossipNodes: fields.count("GossipNodes", 1, MAX_COUNT),
    gossipIntervalMs: fields.duration("GossipInterval", 1),
    gossipToTheDeadMs: fields.duration("GossipToTheDeadTime", 0),
    disablesTcpPings: fields.flag("DisableTcpPings"),
    udpBufferBytes: fields.count("UDPBufferSize", ...UDP_BUFFER_RANGE),
    verifiesIncoming: fields.flag("GossipVerifyIncoming"),
    verifiesOutgoing: fields.flag("GossipVerifyOutgoing"),
    compresses: fields.flag("EnableCompression"),
  };
  // One thread handles messages as they come: there is no queue to bound and none to look at.
  fields.duration("QueueCheckInterval", 0);
  fields.count("HandoffQueueDepth", 0, MAX_QUEUE_DEPTH);
  const problems = fields.problems(timing);
  return problems.length === 0 ? { ok: true, timing } : { ok: false, problems };
}

class Fields {
  readonly #values: ReadonlyMap<string, unknown>;
  readonly #read = new Set<string>();
  readonly #problems: string[] = [];
  readonly #isReadable: boolean;

  constructor(text: string) {
    const parsed = parseObject(text);
    this.#isReadable = typeof parsed !== "string";
    if (typeof parsed === "string") this.#problems.push(parsed);
    this.#values = new Map(typeof parsed === "string" ? [] : Object.entries(parsed));
  }

  duration(name: string, leastMs: number): number {
    const value = this.#value(name);
    if (value === undefined) return this.#refuse(`${name} is missing; give a duration such as "1s"`);
    const durationMs = typeof value === "string" ? parseGoDuration(value) : undefined;
    if (durationMs === undefined) {
      return this.#refuse(`${name} is ${JSON.stringify(value)}, which is no duration such as "500ms" or "1m30s"`);
    }
    if (durationMs < leastMs || durationMs > MAX_DURATION_MS) {
      return this.#refuse(`${name} is ${JSON.stringify(value)}; it must be from ${leastMs}ms to 24h`);
    }
    return durationMs;
  }

  count(name: string, least: number, most: number): number {
    const value = this.#value(name) ?? 0;
    if (typeof value !== "number" || !Number.isInteger(value)) {
      return this.#refuse(`${name} is ${JSON.stringify(value)}, which is no whole number`);
    }
    if (value >= least && value <= most) return value;
    const given = this.#values.has(name) ? `is ${value}` : "is missing, which counts as 0";
    return this.#refuse(`${name} ${given}; it must be from ${least} to ${most}`);
  }

  flag(name: string): boolean {
    const value = this.#value(name) ?? false;
    if (typeof value === "boolean") return value;
    this.#refuse(`${name} is ${JSON.stringify(value)}, which is neither true nor false`);
    return false;
  }

  problems(timing: Timing): readonly string[] {
    if (!this.#isReadable) return this.#problems.slice(0, 1);
    const unknown = [...this.#values.keys()].filter((name) => !this.#read.has(name));
    const others = unknown.map((name) => `${name} is no field of this file`);
    // Refused fields read as 0 and would look out of order.
    const isOrdered = this.#problems.length > 0 || timing.probeTimeoutMs <= timing.probeIntervalMs;
    const order = isOrdered
      ? []
      : ["ProbeTimeout is longer than ProbeInterval, so no member would ever be asked through others"];
    return [...this.#problems, ...order, ...others];
  }

  #value(name: string): unknown {
    this.#read.add(name);
    return this.#values.get(name) ?? undefined;
  }

  #refuse(problem: string): number {
    this.#problems.push(problem);
    return 0;
  }
}

/** The object, or a sentence about why there is none. */
function parseObject(text: string): object | string {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) return parsed;
    return "the timing file holds no JSON object";
  } catch (error) {
    return `the timing file is no JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
}
