import { expect } from "chai";
import fc from "fast-check";
import { type ConfigReading, readConfigFiles } from "../../speaker/config-files.ts";
import { parseExcludedLinks } from "../../speaker/excluded-links.ts";
import type { GossipOptions } from "../../speaker/options.ts";
import { parseOptions } from "../../speaker/options.ts";
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

/** The first byte of the current and of the previous key. */
async function keysIn(files: Record<string, Uint8Array>) {
  const reading = await read({ secretKeyFile: "/k" }, files);
  const { current, previous } = (reading.ok ? reading.config.keys : undefined) ?? expect.fail();
  return [current[0], previous?.[0]];
}

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
    expect(Buffer.from(reading.config.keys?.current ?? []).toString("hex")).to.equal(
      `${Buffer.from(secret).toString("hex")}e3b0c44298fc1c149afb`,
    );
    expect(reading.config.timing.probeIntervalMs).to.equal(400);
    expect(reading.config.excludedLinks).to.deep.equal(["^lo$"]);
  });

  it("reads the previous key where there is one", async () => {
    expect(await keysIn({ "/k": bytesOf("new") })).to.deep.equal([110, undefined]);
    expect(await keysIn({ "/k": bytesOf("new"), "/k.previous": bytesOf("") })).to.deep.equal([110, undefined]);
    expect(await keysIn({ "/k": bytesOf("new"), "/k.previous": bytesOf("old") })).to.deep.equal([110, 111]);
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
