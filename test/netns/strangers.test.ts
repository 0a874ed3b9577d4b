/** 50,000 requests a second for strangers' addresses: the kernel's filter keeps them from the speaker. */
import { readFileSync } from "node:fs";
import { expect } from "chai";
import { nodeFolder } from "../../hack/netlab/lab.ts";
import { livingPid } from "../../hack/netlab/processes.ts";
import type { Ip } from "../../src/net/ip.ts";
import { buildArpRequest } from "../../src/packet/arp.ts";
import { useLab, waitForQuiet } from "../support/lab.ts";
import { buildSolicitation, SegmentHost } from "../support/lab-packets.ts";

const FLOOD_MS = 2_000;
const PROMISED_PER_SECOND = 50_000;
/** Without a filter it takes 17 % of a core and more; what is left is the answers to our own questions. */
const MOST_OF_A_CORE = 0.1;
/** The kernel counts a process's time in hundredths of a second (USER_HZ). */
const MS_PER_TICK = 10;

for (const { family, address, frameOf } of [
  {
    family: 4,
    address: "192.0.2.100" as Ip,
    frameOf: ({ host: { mac, ipv4 } }: SegmentHost) => buildArpRequest({ mac, ip: ipv4 }, "192.0.2.60" as Ip),
  },
  {
    family: 6,
    address: "2001:db8::100" as Ip,
    frameOf: ({ host: { mac, ipv6 } }: SegmentHost) => buildSolicitation(mac, ipv6, "2001:db8::60" as Ip),
  },
] as const) {
  describe(`under strangers' requests, IPv${family}`, () => {
    const testLab = useLab(1);
    let asker: SegmentHost;
    let stranger: SegmentHost;

    before(async function () {
      this.timeout(20_000);
      asker = await SegmentHost.open(testLab().lab.topology.client);
      stranger = await SegmentHost.open(testLab().lab.topology.watcher);
      await waitForQuiet(testLab());
    });
    after(() => {
      asker?.close();
      stranger?.close();
    });

    it("a speaker answers all of its own, and spends next to nothing on the others", async function () {
      this.timeout(30_000);
      const { lab, node } = testLab();
      const pid = livingPid(nodeFolder(lab, node("n1")), "speaker") ?? 0;
      const beforeMs = processorMs(pid);
      const flood = stranger.flood(family, frameOf(stranger), FLOOD_MS);
      const questions = [];
      for (const endMs = performance.now() + FLOOD_MS; performance.now() < endMs; )
        questions.push(await asker.ask(address));
      const { frames, tookMs } = await flood;
      expect((frames / tookMs) * 1_000, "strangers' requests a second").to.be.greaterThan(PROMISED_PER_SECOND);
      expect(questions.length, "questions").to.be.greaterThan(100);
      expect(questions.filter((answer) => answer === undefined).length, "unanswered").to.equal(0);
      expect((processorMs(pid) - beforeMs) / tookMs, "of a core").to.be.lessThan(MOST_OF_A_CORE);
    });
  });
}

/** User and system time of all threads; fields 14 and 15 of /proc/PID/stat. */
function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
}
