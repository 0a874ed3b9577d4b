import { expect } from "chai";
import fc from "fast-check";
import { type ConfigReading, readConfigFiles } from "../../speaker/config-files.ts";
import { parseExcludedLinks } from "../../speaker/excluded-links.ts";
import type { GossipOptions } from "../../speaker/options.ts";
import { parseOptions } from "../../speaker/options.ts";
import { parseGoDuration, parseTimingFile } from "../../speaker/timing-file.ts";
import { TIMING_PRESETS } from "../../src/gossip/timing.ts";

/** Every key that MetalLB reads. */
const TIMING = {
  TCPTimeout: "3s",
  PushPullInterval: "1m0s",
  ProbeTimeout: "200ms",
  ProbeInterval: "400ms",
  GossipInterval: "100ms",
  GossipToTheDeadTime: "20s",
  QueueCheckInterval: "30s",
  IndirectChecks: 2,
  RetransmitMult: 3,
  SuspicionMult: 5,
  SuspicionMaxTimeoutMult: 7,
  AwarenessMaxMultiplier: 9,
  GossipNodes: 4,
  HandoffQueueDepth: 10,
  UDPBufferSize: 1200,
  DisableTcpPings: true,
  GossipVerifyIncoming: true,
  GossipVerifyOutgoing: true,
  EnableCompression: true,
};

function timingProblems(changed: Record<string, unknown>): readonly string[] {
  const file = parseTimingFile(JSON.stringify({ ...TIMING, ...changed }));
  return file.ok ? [] : file.problems;
}

function read(gossip: Partial<GossipOptions>, files: Record<string, Uint8Array>, excludeLinksFile?: string) {
  const host = { hostname: "n1", workingFolder: "/", isReadable: () => false };
  const invocation = parseOptions(["--source=files:/m"], {}, host);
  const options = invocation.kind === "run" ? invocation.options : expect.fail();
  const base = options.gossip ?? expect.fail();
  return readConfigFiles(
    { ...options, gossip: { ...base, ...gossip }, ...(excludeLinksFile === undefined ? {} : { excludeLinksFile }) },
    async (path) => files[path] ?? Promise.reject(Object.assign(new Error("no"), { code: "ENOENT" })),
  );
}

function problemsOf(reading: ConfigReading): readonly string[] {
  return reading.ok ? [] : reading.problems;
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

describe("parseTimingFile", () => {
  it("reads MetalLB's keys", () => {
    expect(parseTimingFile(JSON.stringify(TIMING))).to.deep.equal({
      ok: true,
      timing: {
        tcpTimeoutMs: 3_000,
        pushPullIntervalMs: 60_000,
        probeTimeoutMs: 200,
        probeIntervalMs: 400,
        gossipIntervalMs: 100,
        gossipToTheDeadMs: 20_000,
        indirectChecks: 2,
        retransmitMult: 3,
        suspicionMult: 5,
        suspicionMaxTimeoutMult: 7,
        awarenessMaxMultiplier: 9,
        gossipNodes: 4,
        udpBufferBytes: 1_200,
        disablesTcpPings: true,
        verifiesIncoming: true,
        verifiesOutgoing: true,
        compresses: true,
        deadNodeReclaimMs: 0,
      },
    });
  });

  it("takes a missing switch for false and a missing number for 0, as MetalLB does, whatever the case of keys", () => {
    const { EnableCompression, IndirectChecks, TCPTimeout, ...rest } = TIMING;
    const file = parseTimingFile(JSON.stringify({ ...rest, tcptimeout: TCPTimeout, Unknown: 1 }));
    expect(file).to.have.nested.include({ "timing.compresses": false, "timing.indirectChecks": 0 });
    expect([EnableCompression, IndirectChecks]).to.deep.equal([true, 2]);
  });

  it("lists all that is wrong", () => {
    expect(
      timingProblems({
        ProbeInterval: undefined,
        ProbeTimeout: 5,
        GossipInterval: "fast",
        SuspicionMult: 0,
        GossipNodes: 1.5,
        UDPBufferSize: undefined,
        DisableTcpPings: "no",
      }),
    ).to.deep.equal([
      'ProbeTimeout 5 is no duration such as "500ms"',
      "ProbeInterval is missing",
      'GossipInterval "fast" is no duration such as "500ms"',
      "SuspicionMult 0 is no whole number of at least 1",
      "GossipNodes 1.5 is no whole number of at least 0",
      "UDPBufferSize 0 is no whole number of at least 1024",
      'DisableTcpPings "no" is neither true nor false',
    ]);
  });

  for (const text of ["", "{", "[]", "null", "1"]) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      expect(parseTimingFile(text)).to.deep.equal({ ok: false, problems: ["it is no JSON object"] });
    });
  }
});

describe("parseGoDuration", () => {
  for (const [text, ms] of [
    ["0", 0],
    ["500ms", 500],
    ["1h2m3.5s", 3_723_500],
    ["1.5h", 5_400_000],
    [".5s", 500],
    ["5.s", 5_000],
    ["250us", 0.25],
    ["250µs", 0.25],
    ["1m0s", 60_000],
  ] as const) {
    it(`reads ${text}`, () => expect(parseGoDuration(text)).to.be.closeTo(ms, 1e-9));
  }
  for (const text of ["", "5", "-5s", "s", "1 s", "1d", "1s5", ".s", "1..5s"]) {
    it(`refuses "${text}"`, () => expect(parseGoDuration(text)).to.equal(undefined));
  }
});

describe("parseExcludedLinks", () => {
  it("reads MetalLB's list", () => {
    expect(parseExcludedLinks('announcedInterfacesToExclude: ["^docker.*", ^lo$]\n')).to.deep.equal({
      ok: true,
      patterns: ["^docker.*", "^lo$"],
    });
  });
  for (const text of ["", "# nothing\n", "other: 1\n", "announcedInterfacesToExclude:\n"]) {
    it(`finds nothing excluded in ${JSON.stringify(text)}`, () => {
      expect(parseExcludedLinks(text)).to.deep.equal({ ok: true, patterns: [] });
    });
  }
  for (const [text, problem] of [
    ["announcedInterfacesToExclude: eth0", "announcedInterfacesToExclude is no list"],
    ["announcedInterfacesToExclude: [1]", "announcedInterfacesToExclude: 1 is no text"],
    ["announcedInterfacesToExclude: ['(']", 'announcedInterfacesToExclude: "(" is no regular expression'],
    ["- a", "it has no key announcedInterfacesToExclude"],
    ["just text", "it has no key announcedInterfacesToExclude"],
  ] as const) {
    it(`refuses ${text}`, () => expect(parseExcludedLinks(text)).to.deep.equal({ ok: false, problems: [problem] }));
  }
  it("names the line of broken YAML", () => {
    const file = parseExcludedLinks("a: 1\nb: [\n");
    expect(file.ok ? "" : file.problems[0]).to.match(/ at line \d+, column \d+$/);
  });
  it("never throws", () => {
    fc.assert(fc.property(fc.string(), (text) => void parseExcludedLinks(text)));
  });
});

describe("readConfigFiles", () => {
  const secret = bytesOf("0123456789abcdefghijkl");

  it("needs no file", async () => {
    expect(await read({}, {})).to.deep.equal({
      ok: true,
      config: { timing: TIMING_PRESETS.lan, excludedLinks: [] },
    });
  });

  it("reads key, timing and excluded links", async () => {
    const reading = await read(
      { secretKeyFile: "/k", timing: { kind: "file", path: "/t" } },
      { "/k": secret, "/t": bytesOf(JSON.stringify(TIMING)), "/x": bytesOf("announcedInterfacesToExclude: [^lo$]") },
      "/x",
    );
    if (!reading.ok) expect.fail(reading.problems.join("\n"));
    // 22 bytes of the file, then the first 10 of SHA-256 of nothing, as a MetalLB speaker has it.
    expect(Buffer.from(reading.config.key ?? []).toString("hex")).to.equal(
      `${Buffer.from(secret).toString("hex")}e3b0c44298fc1c149afb`,
    );
    expect(reading.config.timing.probeIntervalMs).to.equal(400);
    expect(reading.config.excludedLinks).to.deep.equal(["^lo$"]);
  });

  it("has memberlist's profile for wide areas", async () => {
    const reading = await read({ timing: { kind: "wan" } }, {});
    expect(reading.ok ? reading.config.timing : undefined).to.equal(TIMING_PRESETS.wan);
  });

  it("lists what is wrong in all of them, with the file's name", async () => {
    const reading = await read(
      { secretKeyFile: "/k", timing: { kind: "file", path: "/t" } },
      { "/k": new Uint8Array(), "/x": bytesOf("- a") },
      "/x",
    );
    expect(problemsOf(reading)).to.deep.equal([
      "/k: the key is empty",
      "/t cannot be read: ENOENT",
      "/x: it has no key announcedInterfacesToExclude",
    ]);
  });
});
