/** MetalLB's optional memberlist timing, a JSON file that replaces the whole profile (internal/speakerlist/speakerlist.go:351). Pure. */
import { TIMING_PRESETS, type Timing } from "../src/gossip/timing.ts";

export type TimingFile =
  | { readonly ok: true; readonly timing: Timing }
  /** Sentences that begin with the key. */
  | { readonly ok: false; readonly problems: readonly string[] };

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/**
 * As MetalLB reads it: durations are Go's and needed, a missing number is 0, a missing switch is false, other keys are
 * ignored. Unlike MetalLB, a number that memberlist cannot work with is refused instead of started with.
 */
export function parseTimingFile(text: string): TimingFile {
  const file = parseObject(text);
  if (file === undefined) return { ok: false, problems: ["it is no JSON object"] };
  const reader = new FileReader(file);
  const timing: Timing = {
    ...TIMING_PRESETS.lan,
    tcpTimeoutMs: reader.durationMs("TCPTimeout"),
    pushPullIntervalMs: reader.durationMs("PushPullInterval"),
    probeTimeoutMs: reader.durationMs("ProbeTimeout"),
    probeIntervalMs: reader.durationMs("ProbeInterval"),
    gossipIntervalMs: reader.durationMs("GossipInterval"),
    gossipToTheDeadMs: reader.durationMs("GossipToTheDeadTime"),
    indirectChecks: reader.number("IndirectChecks", 0),
    retransmitMult: reader.number("RetransmitMult", 1),
    suspicionMult: reader.number("SuspicionMult", 1),
    suspicionMaxTimeoutMult: reader.number("SuspicionMaxTimeoutMult", 1),
    awarenessMaxMultiplier: reader.number("AwarenessMaxMultiplier", 1),
    gossipNodes: reader.number("GossipNodes", 0),
    udpBufferBytes: reader.number("UDPBufferSize", LEAST_UDP_BUFFER_BYTES),
    disablesTcpPings: reader.switch("DisableTcpPings"),
    verifiesIncoming: reader.switch("GossipVerifyIncoming"),
    verifiesOutgoing: reader.switch("GossipVerifyOutgoing"),
    compresses: reader.switch("EnableCompression"),
  };
  // The Go library's own queues; ours have no such limits, but a file without them starts no MetalLB speaker either.
  reader.durationMs("QueueCheckInterval");
  reader.number("HandoffQueueDepth", 0);
  return reader.problems.length === 0 ? { ok: true, timing } : { ok: false, problems: reader.problems };
}

/** An alive message with 512 bytes of metadata, and what encryption adds, fits. */
const LEAST_UDP_BUFFER_BYTES = 1_024;

/** Go's time.ParseDuration without signs, in milliseconds: "1m30s", "1.5h", "0". */
export function parseGoDuration(text: string): number | undefined {
  if (text === "0") return 0;
  if (!/^(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(text)) return undefined;
  let sumMs = 0;
  for (const [, number = "", unit = ""] of text.matchAll(/([\d.]+)([a-zµμ]+)/g)) {
    sumMs += Number(number) * (UNIT_MS[unit] ?? Number.NaN);
  }
  return sumMs;
}

function parseObject(text: string): ReadonlyMap<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    // Go matches keys whatever their case.
    return new Map(Object.entries(value).map(([key, each]) => [key.toLowerCase(), each as unknown]));
  } catch {
    return undefined;
  }
}

class FileReader {
  readonly problems: string[] = [];
  readonly #file: ReadonlyMap<string, unknown>;

  constructor(file: ReadonlyMap<string, unknown>) {
    this.#file = file;
  }

  durationMs(key: string): number {
    const value = this.#file.get(key.toLowerCase());
    if (value === undefined) return this.#refuse(key, "is missing");
    const durationMs = typeof value === "string" ? parseGoDuration(value) : undefined;
    return durationMs ?? this.#refuse(key, `${JSON.stringify(value)} is no duration such as "500ms"`);
  }

  number(key: string, least: number): number {
    const value = this.#file.get(key.toLowerCase()) ?? 0;
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= least) return value;
    return this.#refuse(key, `${JSON.stringify(value)} is no whole number of at least ${least}`);
  }

  switch(key: string): boolean {
    const value = this.#file.get(key.toLowerCase()) ?? false;
    if (typeof value !== "boolean") this.#refuse(key, `${JSON.stringify(value)} is neither true nor false`);
    return value === true;
  }

  #refuse(key: string, problem: string): number {
    this.problems.push(`${key} ${problem}`);
    return 0;
  }
}
