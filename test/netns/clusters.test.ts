/** Two speakers, and three that start at the same moment: one answers for each address, and all name the same. */

import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { HelperProcess } from "../../hack/netlab/helper-process.ts";
import { killSpeaker, startSpeaker } from "../../hack/netlab/lab.ts";
import { bothAnswerMs } from "../../hack/netlab/measure.ts";
import type { Command, FrameRecord, WatcherReport } from "../../hack/netlab/observations.ts";
import { inNamespace, runCommand } from "../../hack/netlab/run-command.ts";
import { commonLeader, fetchStatuses, waitUntilSettled } from "../../hack/netlab/status.ts";
import { ADDRESSES, DRILL_ADDRESS, type Host } from "../../hack/netlab/topology.ts";
import type { Ip } from "../../src/net/ip.ts";
import { useLab } from "../support/lab.ts";
import { SegmentHost } from "../support/lab-packets.ts";

const TAKE_OVER_TIMEOUT_MS = 30_000;
const NETLAB = join(import.meta.dirname, "../../hack/netlab");

describe("two speakers", () => {
  const testLab = useLab(2);
  let asker: SegmentHost;

  before(async () => {
    asker = await SegmentHost.open(testLab().lab.topology.client);
  });
  after(() => asker?.close());

  for (const address of ADDRESSES) {
    it(`answer for ${address} with one MAC, that of the leader whom both name`, async () => {
      const leader = testLab().node(commonLeader(await fetchStatuses(testLab().lab), address) ?? "");
      const seen = asker.claims(address).length;
      for (let question = 0; question < 5; question++) await asker.ask(address);
      const macs = asker
        .claims(address)
        .slice(seen)
        .map(({ source }) => source);
      expect(new Set(macs)).to.deep.equal(new Set([leader.mac]));
    });
  }

  it("lead both families of a dual-stack Service from one node", async () => {
    const answers = [await asker.ask("192.0.2.101" as Ip), await asker.ask("2001:db8::101" as Ip)];
    expect(answers[0]?.source).to.be.a("string").and.to.equal(answers[1]?.source);
  });

  it("serve both Services of a shared address from one node, to the segment and to a routed client", async () => {
    const { client, remote } = testLab().lab.topology;
    const leader = commonLeader(await fetchStatuses(testLab().lab), "192.0.2.102" as Ip);
    for (const host of [client, remote]) {
      for (const port of [80, 81]) expect(await get(host, `http://192.0.2.102:${port}/`)).to.equal(leader);
    }
  });

  it("serve IPv6 to the segment and to a routed client", async () => {
    const { client, remote } = testLab().lab.topology;
    const leader = commonLeader(await fetchStatuses(testLab().lab), "2001:db8::100" as Ip);
    for (const host of [client, remote]) expect(await get(host, "http://[2001:db8::100]/")).to.equal(leader);
  });

  it("become one that leads everything when the other is killed", async function () {
    this.timeout(90_000);
    const { lab, node } = testLab();
    await killSpeaker(lab, node("n1"));
    for (const address of ADDRESSES) {
      const claim = await askUntil(address, (mac) => mac === node("n2").mac);
      expect(claim, address).to.equal(node("n2").mac);
    }
  });

  /** The MAC that answers, once it is the wanted one, or after 30 s; 8 s are what it takes. */
  async function askUntil(address: Ip, isWanted: (mac: string | undefined) => boolean): Promise<string | undefined> {
    for (const deadlineMs = performance.now() + TAKE_OVER_TIMEOUT_MS; ; ) {
      const mac = (await asker.ask(address, 200))?.source;
      if (isWanted(mac) || performance.now() > deadlineMs) return mac;
    }
  }
});

describe("three speakers that start at once", () => {
  const testLab = useLab(3, "bare");
  let frames: readonly FrameRecord[];

  before(async function () {
    this.timeout(90_000);
    const { lab } = testLab();
    const watcher = new HelperProcess<Command, WatcherReport>(
      lab.topology.watcher.namespace,
      join(NETLAB, "watcher-main.js"),
    );
    try {
      watcher.send({ kind: "start", address: DRILL_ADDRESS, port: 80 });
      for (const node of lab.topology.nodes) startSpeaker(lab, node);
      await waitUntilSettled(lab, ADDRESSES, 40_000);
      await sleep(1_000);
      watcher.send({ kind: "stop" });
      frames = (await watcher.waitFor((report) => report.kind === "done", 20_000))?.frames ?? [];
    } finally {
      watcher.close();
    }
  });

  it("agree on one leader for every address", async () => {
    const documents = await fetchStatuses(testLab().lab);
    expect(ADDRESSES.map((address) => commonLeader(documents, address))).not.to.include(undefined);
  });

  it("answer together for less than a second", () => {
    expect(frames).not.to.deep.equal([]);
    expect(bothAnswerMs(frames)).to.be.lessThan(1_000);
  });

  it("end with the leader's MAC alone", async () => {
    const leader = commonLeader(await fetchStatuses(testLab().lab), DRILL_ADDRESS) ?? "";
    const lastMs = frames.at(-1)?.atMs ?? 0;
    const macs = frames.filter(({ atMs }) => atMs > lastMs - 500).map(({ mac }) => mac);
    expect(new Set(macs)).to.deep.equal(new Set([testLab().node(leader).mac]));
  });
});

/** The body of the answer, without its line end. */
async function get(host: Host, url: string): Promise<string> {
  const script = `fetch(${JSON.stringify(url)}).then((answer) => answer.text()).then((text) => process.stdout.write(text))`;
  return (await runCommand(inNamespace(host.namespace, [process.execPath, "-e", script]))).trim();
}
