import { expect } from "chai";
import type { StatusDocument } from "../../api/status.ts";
import type { WireCounters } from "../../src/metrics/counters.ts";
import { createMetrics, type Metrics } from "../../src/metrics/metrics.ts";
import { STATUS, VIEWS_DIFFER } from "../http/example-documents.ts";

const COUNTERS: WireCounters = {
  framesReceived: { ipv4: 10, ipv6: 4 },
  framesSent: { ipv4: 3, ipv6: 2 },
  requestsAnswered: { ipv4: 2, ipv6: 1 },
  announcementsSent: 9,
  packetDrops: new Map([
    ["truncated", 5],
    ["never-heard-of", 1],
    ["nor-of-this", 2],
  ]),
  gossipDrops: new Map([["not-authentic", 7]]),
  moves: { self: 2, other: 3, nobody: 1 },
  detection: {
    accusations: { silent: 4, hung: 1, refused: 2 },
    accusationsOverruled: 3,
    verdicts: 2,
    verdictsOverruled: 1,
    verdictsBraked: 0,
    fences: { gap: 5, unwatched: 6 },
  },
};

function create() {
  return createMetrics({
    version: "1.2.3",
    packetDropReasons: ["truncated", "hop-limit"],
    gossipDropReasons: ["not-authentic"],
    wireHeartbeatAgeSeconds: () => 0.25,
  });
}

async function textOf(metrics: Metrics): Promise<string> {
  let text = "";
  for await (const part of metrics.textParts()) text += part;
  return text;
}

/** Our lines only, without help and type. */
async function linesOf(metrics: Metrics, part = "arpeggio_"): Promise<string[]> {
  return (await textOf(metrics)).split("\n").filter((line) => line.startsWith(part));
}

describe("metrics", () => {
  it("has every counter and reason from the start", async () => {
    const lines = await linesOf(create());
    for (const line of [
      'arpeggio_packet_frames_received_total{family="ipv4"} 0',
      'arpeggio_packet_frames_sent_total{family="ipv6"} 0',
      'arpeggio_packet_drops_total{reason="truncated"} 0',
      'arpeggio_packet_drops_total{reason="hop-limit"} 0',
      'arpeggio_packet_drops_total{reason="other"} 0',
      'arpeggio_gossip_datagram_drops_total{reason="not-authentic"} 0',
      'arpeggio_election_moves_total{to="nobody"} 0',
      'arpeggio_gossip_accusations_total{evidence="hung"} 0',
      'arpeggio_speaker_fences_total{cause="unwatched"} 0',
      "arpeggio_election_takeover_seconds_count 0",
      'arpeggio_build_info{version="1.2.3"} 1',
      "arpeggio_wire_heartbeat_age_seconds 0.25",
    ]) {
      expect(lines).to.include(line);
    }
  });

  it("shows totals, however often they are applied, and bounds the reasons", async () => {
    const metrics = create();
    metrics.applyCounters({ ...COUNTERS, framesSent: { ipv4: 1, ipv6: 1 } });
    metrics.applyCounters(COUNTERS);
    metrics.applyCounters(COUNTERS);
    const lines = await linesOf(metrics);
    for (const line of [
      'arpeggio_packet_frames_received_total{family="ipv4"} 10',
      'arpeggio_packet_frames_sent_total{family="ipv4"} 3',
      'arpeggio_packet_requests_answered_total{family="ipv6"} 1',
      "arpeggio_packet_announcements_sent_total 9",
      'arpeggio_packet_drops_total{reason="truncated"} 5',
      'arpeggio_packet_drops_total{reason="other"} 3',
      'arpeggio_gossip_datagram_drops_total{reason="not-authentic"} 7',
      'arpeggio_election_moves_total{to="self"} 2',
      'arpeggio_gossip_accusations_total{evidence="silent"} 4',
      'arpeggio_gossip_accusations_total{evidence="refused"} 2',
      "arpeggio_gossip_accusations_overruled_total 3",
      "arpeggio_gossip_fast_verdicts_total 2",
      "arpeggio_gossip_verdicts_overruled_total 1",
      'arpeggio_speaker_fences_total{cause="gap"} 5',
    ]) {
      expect(lines).to.include(line);
    }
    expect(lines.filter((line) => line.includes("never-heard-of"))).to.deep.equal([]);
  });

  it("shows what the status says", async () => {
    const metrics = create();
    metrics.applyStatus(STATUS);
    const lines = await linesOf(metrics);
    for (const line of [
      'arpeggio_announcer_leader{address="192.0.2.100"} 1',
      'arpeggio_announcer_leader{address="2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"} 1',
      'arpeggio_announcer_requests_answered_total{address="192.0.2.100"} 12345',
      'arpeggio_election_addresses{state="leading"} 2',
      'arpeggio_election_addresses{state="nobody"} 1',
      'arpeggio_election_addresses{state="watching"} 0',
      'arpeggio_gossip_members{state="alive"} 2',
      'arpeggio_gossip_members{state="suspect"} 1',
      'arpeggio_gossip_members{state="dead"} 0',
      "arpeggio_speaker_ready 1",
      "arpeggio_announcer_usable_links 1",
      'arpeggio_source_problems{kind="files"} 1',
    ]) {
      expect(lines).to.include(line);
    }
    expect(lines.filter((line) => line.includes("198.51.100.7"))).to.deep.equal([]);
  });

  it("names the addresses that views differ about", async () => {
    const metrics = create();
    const [first, ...others] = STATUS.addresses;
    if (first === undefined) expect.fail("no example");
    const contested = { ...first, state: "views-differ" as const, viewsDiffer: VIEWS_DIFFER };
    metrics.applyStatus({ ...STATUS, addresses: [contested, ...others] });
    expect(await linesOf(metrics, "arpeggio_election_views_differ{")).to.deep.equal([
      'arpeggio_election_views_differ{address="192.0.2.100"} 1',
    ]);
    expect(await linesOf(metrics, 'arpeggio_election_addresses{state="views-differ"}')).to.deep.equal([
      'arpeggio_election_addresses{state="views-differ"} 1',
    ]);
    expect(await linesOf(metrics, 'arpeggio_announcer_leader{address="192.0.2.100"}')).to.deep.equal([]);
  });

  it("removes the series of an address that is given up", async () => {
    const metrics = create();
    metrics.applyStatus(STATUS);
    const [first, ...others] = STATUS.addresses;
    if (first === undefined) expect.fail("no example");
    const after: StatusDocument = { ...STATUS, addresses: [{ ...first, state: "watching", leader: "n2" }, ...others] };
    metrics.applyStatus(after);
    expect(await linesOf(metrics, 'arpeggio_announcer_leader{address="192.0.2.100"}')).to.deep.equal([]);
    expect(await linesOf(metrics, 'arpeggio_announcer_requests_answered_total{address="192')).to.deep.equal([]);
    expect(await linesOf(metrics, 'arpeggio_announcer_leader{address="2001')).to.have.length(1);
  });

  it("observes each timing once", async () => {
    const metrics = create();
    metrics.observe({ takeoverSeconds: [0.09, 0.3], detectionSeconds: [5.5] });
    metrics.observe({ takeoverSeconds: [], detectionSeconds: [] });
    const lines = await linesOf(metrics);
    for (const line of [
      'arpeggio_election_takeover_seconds_bucket{le="0.1"} 1',
      "arpeggio_election_takeover_seconds_count 2",
      'arpeggio_gossip_detection_seconds_bucket{le="5"} 0',
      'arpeggio_gossip_detection_seconds_bucket{le="7.5"} 1',
    ]) {
      expect(lines).to.include(line);
    }
  });

  it("has MetalLB's series of what this node leads, and they are gone with the leadership", async () => {
    const metrics = create();
    metrics.applyStatus(STATUS);
    expect((await linesOf(metrics, "metallb_")).toSorted()).to.deep.equal([
      'metallb_layer2_gratuitous_sent{ip="192.0.2.100"} 10',
      'metallb_layer2_gratuitous_sent{ip="2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"} 0',
      'metallb_layer2_requests_received{ip="192.0.2.100"} 12345',
      'metallb_layer2_requests_received{ip="2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"} 0',
      'metallb_layer2_responses_sent{ip="192.0.2.100"} 12345',
      'metallb_layer2_responses_sent{ip="2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"} 0',
      'metallb_speaker_announced{service="default/web",protocol="layer2",node="n1",ip="192.0.2.100"} 1',
      'metallb_speaker_announced{service="default/web",protocol="layer2",node="n1",ip="2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"} 1',
      'metallb_speaker_announced{service="default/web-udp",protocol="layer2",node="n1",ip="192.0.2.100"} 1',
    ]);
    for (const state of ["follower", "no-link", "nobody"] as const) {
      metrics.applyStatus({ ...STATUS, addresses: STATUS.addresses.map((address) => ({ ...address, state })) });
      expect(await linesOf(metrics, "metallb_"), state).to.deep.equal([]);
    }
  });

  it("says of each watch on the API server whether it is open, and when it heard something last", async () => {
    const watch = { objects: 3, reconnects: 0, relists: 0 };
    const watches = [
      { ...watch, kind: "Service", state: "watching" as const, lastEvent: "2026-01-01T00:00:01.500Z" },
      { ...watch, kind: "Node", state: "waiting" as const },
    ];
    const metrics = create();
    metrics.applyStatus({
      ...STATUS,
      sources: [{ kind: "kubernetes", state: "current", objects: {}, problems: [], watches }],
    });
    expect(await linesOf(metrics, "arpeggio_kube_")).to.deep.equal([
      'arpeggio_kube_watch_up{kind="Service"} 1',
      'arpeggio_kube_watch_up{kind="Node"} 0',
      'arpeggio_kube_last_event_timestamp_seconds{kind="Service"} 1767225601.5',
    ]);
    metrics.applyStatus(STATUS);
    expect(await linesOf(metrics, "arpeggio_kube_")).to.deep.equal([]);
  });

  it("says what is written to the API server, with a cluster alone", async () => {
    const writes = { pending: 3, written: 12, failed: 1, isApiAway: false, missingRights: [] };
    const metrics = create();
    metrics.applyStatus({
      ...STATUS,
      writtenBack: {
        objects: writes,
        events: { ...writes, written: 5, dropped: 2, missingRights: ["may not create events in every namespace"] },
        ledServices: 3,
      },
    });
    expect(await linesOf(metrics, "arpeggio_kube_")).to.deep.equal([
      'arpeggio_kube_writes_pending{writes="objects"} 3',
      'arpeggio_kube_writes_pending{writes="events"} 3',
      'arpeggio_kube_writes_total{writes="objects"} 12',
      'arpeggio_kube_writes_total{writes="events"} 5',
      'arpeggio_kube_write_failures_total{writes="objects"} 1',
      'arpeggio_kube_write_failures_total{writes="events"} 1',
      "arpeggio_kube_events_dropped_total 2",
      'arpeggio_kube_missing_rights{writes="objects"} 0',
      'arpeggio_kube_missing_rights{writes="events"} 1',
    ]);
    metrics.applyStatus(STATUS);
    expect(await linesOf(metrics, "arpeggio_kube_")).to.deep.equal([]);
  });

  it("names series as areas, nouns and base units", async () => {
    const metrics = create();
    metrics.applyStatus(STATUS);
    const names = new Map(
      [...(await textOf(metrics)).matchAll(/^# TYPE (arpeggio_\S+) (\S+)$/gm)].map(([, name = "", type = ""]) => [
        name,
        type,
      ]),
    );
    expect(names.size).to.be.greaterThan(12);
    for (const [name, type] of names) {
      expect(name).to.match(/^arpeggio(_[a-z]+){2,}$/);
      expect(name.endsWith("_total"), name).to.equal(type === "counter");
      if (type === "histogram") expect(name).to.match(/_seconds$/);
      expect(name).to.not.match(/_(ms|milliseconds|minutes)/);
    }
  });

  it("gives thousands of addresses in parts, each of whole lines and each series under its help once", async () => {
    const [first] = STATUS.addresses;
    if (first === undefined) expect.fail("no example");
    const addresses = Array.from({ length: 2_500 }, (_, index) => ({ ...first, address: `a-${index}` }));
    const metrics = create();
    metrics.applyStatus({ ...STATUS, addresses });
    const parts: string[] = [];
    for await (const part of metrics.textParts()) parts.push(part);
    for (const part of parts) expect(part.split("\n").length).to.be.below(2_100);
    const lines = parts.join("").split("\n");
    expect(parts.join("").endsWith("\n")).to.equal(true);
    expect(lines.filter((line) => line.startsWith("arpeggio_announcer_leader{"))).to.have.length(2_500);
    const types = lines.filter((line) => line.startsWith("# TYPE"));
    expect(new Set(types).size).to.equal(types.length);
    const begins = lines.findIndex((line) => line.startsWith("# TYPE arpeggio_announcer_leader "));
    expect(
      lines.slice(begins + 1, begins + 2_501).every((line) => line.startsWith("arpeggio_announcer_leader{")),
    ).to.equal(true);
  });

  it("escapes what a label's value must not hold as it is", async () => {
    const metrics = create();
    const [first] = STATUS.addresses;
    if (first === undefined) expect.fail("no example");
    metrics.applyStatus({ ...STATUS, addresses: [{ ...first, address: 'a"b\\c\nd' }] });
    expect(await linesOf(metrics, "arpeggio_announcer_leader")).to.deep.equal([
      'arpeggio_announcer_leader{address="a\\"b\\\\c\\nd"} 1',
    ]);
  });

  it("shares nothing between two registries", async () => {
    const first = create();
    first.applyCounters(COUNTERS);
    expect(await linesOf(create(), 'arpeggio_packet_frames_sent_total{family="ipv4"}')).to.deep.equal([
      'arpeggio_packet_frames_sent_total{family="ipv4"} 0',
    ]);
  });
});
