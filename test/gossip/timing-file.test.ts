import { expect } from "chai";
import { TIMING_PRESETS } from "../../src/gossip/timing.ts";
import { parseGoDuration, parseTimingFile } from "../../src/gossip/timing-file.ts";

const LAN_FILE = {
  TCPTimeout: "10s",
  IndirectChecks: 3,
  RetransmitMult: 4,
  SuspicionMult: 4,
  SuspicionMaxTimeoutMult: 6,
  PushPullInterval: "30s",
  ProbeTimeout: "500ms",
  ProbeInterval: "1s",
  AwarenessMaxMultiplier: 8,
  GossipNodes: 3,
  GossipInterval: "200ms",
  GossipToTheDeadTime: "30s",
  GossipVerifyIncoming: true,
  GossipVerifyOutgoing: true,
  EnableCompression: true,
  DisableTcpPings: false,
  HandoffQueueDepth: 1024,
  UDPBufferSize: 1400,
  QueueCheckInterval: "30s",
};

function problemsOf(text: string): readonly string[] {
  const file = parseTimingFile(text);
  return file.ok ? [] : file.problems;
}

describe("parseGoDuration", () => {
  for (const { text, ms } of [
    { text: "0", ms: 0 },
    { text: "0s", ms: 0 },
    { text: "500ms", ms: 500 },
    { text: "1.5s", ms: 1_500 },
    { text: ".5s", ms: 500 },
    { text: "1.s", ms: 1_000 },
    { text: "1m30s", ms: 90_000 },
    { text: "+2h", ms: 7_200_000 },
    { text: "3us", ms: 0.003 },
    { text: "1h1m1s1ms", ms: 3_661_001 },
  ]) {
    it(`reads ${text}`, () => expect(parseGoDuration(text)).to.be.closeTo(ms, 1e-9));
  }

  for (const text of ["", "1", "s", "1 s", "1d", "-1s", "1s ", "1e3s", "1s1", ".s"]) {
    it(`refuses ${JSON.stringify(text)}`, () => expect(parseGoDuration(text)).to.equal(undefined));
  }
});

describe("parseTimingFile", () => {
  it("reads MetalLB's fields into the lan preset's values", () => {
    expect(parseTimingFile(JSON.stringify(LAN_FILE))).to.deep.equal({ ok: true, timing: TIMING_PRESETS.lan });
  });

  it("takes every field from the file", () => {
    const file = parseTimingFile(
      JSON.stringify({ ...LAN_FILE, ProbeInterval: "2s", SuspicionMult: 5, DisableTcpPings: true }),
    );
    expect(file).to.deep.equal({
      ok: true,
      timing: { ...TIMING_PRESETS.lan, probeIntervalMs: 2_000, suspicionMult: 5, disablesTcpPings: true },
    });
  });

  it("reads absent booleans as false, as MetalLB does", () => {
    const { GossipVerifyIncoming, GossipVerifyOutgoing, EnableCompression, ...rest } = LAN_FILE;
    expect([GossipVerifyIncoming, GossipVerifyOutgoing, EnableCompression]).to.deep.equal([true, true, true]);
    expect(parseTimingFile(JSON.stringify(rest))).to.deep.equal({
      ok: true,
      timing: { ...TIMING_PRESETS.lan, verifiesIncoming: false, verifiesOutgoing: false, compresses: false },
    });
  });

  for (const { name, fields, problem } of [
    {
      name: "a missing duration",
      fields: { ProbeInterval: undefined },
      problem: 'ProbeInterval is missing; give a duration such as "1s"',
    },
    {
      name: "a number as duration",
      fields: { TCPTimeout: 10 },
      problem: 'TCPTimeout is 10, which is no duration such as "500ms" or "1m30s"',
    },
    {
      name: "a duration of nothing",
      fields: { GossipInterval: "0s" },
      problem: 'GossipInterval is "0s"; it must be from 1ms to 24h',
    },
    {
      name: "a missing multiplier, which MetalLB takes as 0",
      fields: { SuspicionMult: undefined },
      problem: "SuspicionMult is missing, which counts as 0; it must be from 1 to 1000",
    },
    { name: "a fraction", fields: { GossipNodes: 2.5 }, problem: "GossipNodes is 2.5, which is no whole number" },
    {
      name: "a text as boolean",
      fields: { EnableCompression: "yes" },
      problem: 'EnableCompression is "yes", which is neither true nor false',
    },
    {
      name: "a datagram without room",
      fields: { UDPBufferSize: 100 },
      problem: "UDPBufferSize is 100; it must be from 576 to 65507",
    },
    {
      name: "a field that does not exist",
      fields: { ProbeIntervall: "1s" },
      problem: "ProbeIntervall is no field of this file",
    },
    {
      name: "a probe that ends before its time limit",
      fields: { ProbeTimeout: "2s" },
      problem: "ProbeTimeout is longer than ProbeInterval, so no member would ever be asked through others",
    },
  ]) {
    it(`names ${name}`, () => expect(problemsOf(JSON.stringify({ ...LAN_FILE, ...fields }))).to.deep.equal([problem]));
  }

  it("lists every problem at once", () => {
    expect(problemsOf(JSON.stringify({ ...LAN_FILE, TCPTimeout: 1, GossipNodes: 0, X: 1 }))).to.have.length(3);
  });

  it("says in one sentence that there is no object", () => {
    expect(problemsOf("[]")).to.deep.equal(["the timing file holds no JSON object"]);
    expect(problemsOf("{")).to.have.length(1);
    expect(problemsOf("{")[0]).to.match(/^the timing file is no JSON: /);
  });
});
