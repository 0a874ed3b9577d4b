/**
 * Every series that the speaker exports, once. Gauges come from the status document, so that /metrics and /status cannot
 * differ; counters from the wire thread's totals. Each scrape sets them anew: an address that is given up has no series left.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { ADDRESS_STATES, MEMBER_STATES } from "../../api/reasons.ts";
import type { StatusDocument } from "../../api/status.ts";
import { formatAddressSeries, OWN_SERIES } from "./address-series.ts";
import type { CountsByReason, Timings, WireCounters } from "./counters.ts";
import { createDetectionSeries } from "./detection-series.ts";
import { METALLB_SERIES } from "./metallb-series.ts";
import { createWatchSeries } from "./watch-series.ts";
import { createWriteSeries } from "./write-series.ts";

export interface MetricsSetup {
  readonly version: string;
  /** The closed sets of reasons; a reason outside its set is counted as "other". */
  readonly packetDropReasons: readonly string[];
  readonly gossipDropReasons: readonly string[];
  /** How long the wire thread's heartbeat has stood still; asked for at each scrape. */
  wireHeartbeatAgeSeconds(): number;
}

export interface Metrics {
  applyStatus(status: StatusDocument): void;
  applyCounters(counters: WireCounters): void;
  observe(timings: Timings): void;
  /** Prometheus' text format, version 0.0.4, in parts of some milliseconds. */
  textParts(): AsyncIterable<string>;
}

/** From the fast path's 50 ms to memberlist's own 24 s (DESIGN D7, §5). */
const FAILOVER_BUCKETS_SECONDS = [0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1, 1.5, 2.5, 5, 7.5, 10, 30];

export function createMetrics(setup: MetricsSetup): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  createProcessGauges(registry, setup);
  const applyToGauges = createStatusGauges(registry);
  let applied: StatusDocument | undefined;
  const applyCounters = createCounters(registry, setup);
  const observe = createHistograms(registry);
  return {
    applyStatus: (status) => {
      applyToGauges(status);
      applied = status;
    },
    applyCounters,
    observe,
    textParts: async function* () {
      const status = applied ?? { node: "", addresses: [] };
      yield `${(await registry.metrics()).trimEnd()}\n`;
      yield* formatAddressSeries([...OWN_SERIES, ...METALLB_SERIES], status);
    },
  };
}

function createProcessGauges(registry: Registry, setup: MetricsSetup): void {
  const build = new Gauge({
    name: "arpeggio_build_info",
    help: "1, labelled with the version.",
    labelNames: ["version"],
    registers: [registry],
  });
  build.set({ version: setup.version }, 1);
  const heartbeatAge: Gauge = new Gauge({
    name: "arpeggio_wire_heartbeat_age_seconds",
    help: "How long the thread that answers has stood still; above 2 s the speaker is not healthy.",
    registers: [],
    collect: () => heartbeatAge.set(setup.wireHeartbeatAgeSeconds()),
  });
  registry.registerMetric(heartbeatAge);
}

function createStatusGauges(registry: Registry): (status: StatusDocument) => void {
  const registers = [registry];
  const addresses = new Gauge({
    name: "arpeggio_election_addresses",
    help: "Addresses by what this node does for them.",
    labelNames: ["state"],
    registers,
  });
  const members = new Gauge({
    name: "arpeggio_gossip_members",
    help: "Members of the gossip cluster, this node included, by state.",
    labelNames: ["state"],
    registers,
  });
  const ready = new Gauge({ name: "arpeggio_speaker_ready", help: "1 when this node may lead.", registers });
  const usableLinks = new Gauge({
    name: "arpeggio_announcer_usable_links",
    help: "Links that addresses may be answered for on.",
    registers,
  });
  const problems = new Gauge({
    name: "arpeggio_source_problems",
    help: "Objects or files of a source that cannot be used as they are.",
    labelNames: ["kind"],
    registers,
  });

  const applyWatchSeries = createWatchSeries(registry);
  const applyWriteSeries = createWriteSeries(registry);

  return (status) => {
    applyWatchSeries(status);
    applyWriteSeries(status);
    for (const state of ADDRESS_STATES) addresses.set({ state }, countOf(status.addresses, state));
    for (const state of MEMBER_STATES) members.set({ state }, countOf(status.members, state));
    ready.set(status.ready.isReady ? 1 : 0);
    usableLinks.set(status.links.filter((link) => link.isUsable).length);
    problems.reset();
    for (const source of status.sources) problems.set({ kind: source.kind }, source.problems.length);
  };
}

function createCounters(registry: Registry, setup: MetricsSetup): (counters: WireCounters) => void {
  const registers = [registry];
  const counter = <Label extends string>(name: string, help: string, label: Label) =>
    new Counter({ name, help, labelNames: [label], registers });
  const received = counter(
    "arpeggio_packet_frames_received_total",
    "ARP and Neighbor Discovery frames received.",
    "family",
  );
  const sent = counter("arpeggio_packet_frames_sent_total", "ARP and Neighbor Discovery frames sent.", "family");
  const answered = counter("arpeggio_packet_requests_answered_total", "Requests that were answered.", "family");
  const announcements = new Counter({
    name: "arpeggio_packet_announcements_sent_total",
    help: "Frames sent that nobody had asked for.",
    registers,
  });
  const packetDrops = counter(
    "arpeggio_packet_drops_total",
    "Received frames that got no answer, by reason.",
    "reason",
  );
  const gossipDrops = counter(
    "arpeggio_gossip_datagram_drops_total",
    "Gossip that was not taken, by reason.",
    "reason",
  );
  const moves = counter(
    "arpeggio_election_moves_total",
    "Changes of an address's leader, by who leads after it.",
    "to",
  );
  const applyDetection = createDetectionSeries(registry);

  const apply = (counters: WireCounters) => {
    applyDetection(counters.detection);
    for (const [frames, counts] of [
      [received, counters.framesReceived],
      [sent, counters.framesSent],
      [answered, counters.requestsAnswered],
    ] as const) {
      frames.reset();
      frames.inc({ family: "ipv4" }, counts.ipv4);
      frames.inc({ family: "ipv6" }, counts.ipv6);
    }
    announcements.reset();
    announcements.inc(counters.announcementsSent);
    setReasons(packetDrops, setup.packetDropReasons, counters.packetDrops);
    setReasons(gossipDrops, setup.gossipDropReasons, counters.gossipDrops);
    moves.reset();
    for (const to of ["self", "other", "nobody"] as const) moves.inc({ to }, counters.moves[to]);
  };
  apply(NO_COUNTERS);
  return apply;
}

function setReasons(drops: Counter<"reason">, known: readonly string[], counts: CountsByReason): void {
  drops.reset();
  for (const reason of [...known, "other"]) drops.inc({ reason }, 0);
  for (const [reason, count] of counts) {
    drops.inc({ reason: known.includes(reason) ? reason : "other" }, count);
  }
}

/** Before the wire thread has said anything: every series exists, so that a rate over the first event is not lost. */
const NO_COUNTERS: WireCounters = {
  framesReceived: { ipv4: 0, ipv6: 0 },
  framesSent: { ipv4: 0, ipv6: 0 },
  requestsAnswered: { ipv4: 0, ipv6: 0 },
  announcementsSent: 0,
  packetDrops: new Map(),
  gossipDrops: new Map(),
  moves: { self: 0, other: 0, nobody: 0 },
  detection: {
    accusations: { silent: 0, hung: 0, refused: 0 },
    accusationsOverruled: 0,
    verdicts: 0,
    verdictsOverruled: 0,
    verdictsBraked: 0,
    fences: { gap: 0, unwatched: 0 },
  },
};

function createHistograms(registry: Registry): (timings: Timings) => void {
  const histogram = (name: string, help: string) =>
    new Histogram({ name, help, buckets: FAILOVER_BUCKETS_SECONDS, registers: [registry] });
  const takeover = histogram(
    "arpeggio_election_takeover_seconds",
    "Leader gone to this node's first frame for the address.",
  );
  const detection = histogram(
    "arpeggio_gossip_detection_seconds",
    "Last sign of life of a member to its being held dead.",
  );
  return ({ takeoverSeconds, detectionSeconds }) => {
    for (const seconds of takeoverSeconds) takeover.observe(seconds);
    for (const seconds of detectionSeconds) detection.observe(seconds);
  };
}

function countOf(items: readonly { readonly state: string }[], state: string): number {
  return items.filter((item) => item.state === state).length;
}
