/** A speaker whose link changes under it goes on answering, and says so where clients must learn something new. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import type { SwitchFaults } from "../../hack/netlab/faults.ts";
import { type Lab, manifestFolder, signalSpeaker } from "../../hack/netlab/lab.ts";
import { replaceLink } from "../../hack/netlab/network.ts";
import { inNamespace, runCommand, runIpBatch } from "../../hack/netlab/run-command.ts";
import { fetchStatus } from "../../hack/netlab/status.ts";
import type { Host } from "../../hack/netlab/topology.ts";
import type { Ip } from "../../src/net/ip.ts";
import type { Mac } from "../../src/net/mac.ts";
import { inOwnLabs, type TestLab, waitForQuiet } from "../support/lab.ts";
import { isAnnouncement, SegmentHost } from "../support/lab-packets.ts";

const IPV4 = "192.0.2.100" as Ip;
const IPV6 = "2001:db8::100" as Ip;
const OTHER_MAC = "02:00:00:00:00:77" as Mac;
const THIRD_MAC = "02:00:00:00:00:78" as Mac;

/** A link that comes up counts after 2 s (DESIGN D3); a socket is opened again within another second; the rest is for a busy machine. */
const BACK_TIMEOUT_MS = 15_000;
/** They start speakers at the same time, and then wait. */
const LABS_AT_ONCE = 4;

/** One speaker, and a host that asks it. */
class LinkScene {
  readonly lab: Lab;
  readonly faults: SwitchFaults;
  readonly node: Host;
  readonly asker: SegmentHost;

  constructor({ lab, faults, node }: TestLab, asker: SegmentHost) {
    this.lab = lab;
    this.faults = faults;
    this.node = node("n1");
    this.asker = asker;
  }

  /** Both families announced unasked, and answered when asked, from the MAC. */
  async expectAnnouncedAndAnswered(mac: Mac, change: () => Promise<void>): Promise<void> {
    const announced = [IPV4, IPV6].map((address) =>
      this.asker.waitForClaim(address, (claim) => isAnnouncement(claim) && claim.source === mac, BACK_TIMEOUT_MS),
    );
    await change();
    const announcements = await Promise.all(announced);
    expect(
      announcements.map((claim) => claim?.source),
      "announced",
    ).to.deep.equal([mac, mac]);
    await this.expectAnswered(mac);
  }

  async waitForUsableLink(name: string): Promise<void> {
    const deadlineMs = performance.now() + BACK_TIMEOUT_MS;
    while (performance.now() < deadlineMs) {
      const links = (await fetchStatus(this.lab, this.node))?.links ?? [];
      if (links.some((link) => link.name === name && link.isUsable)) return;
      await sleep(50);
    }
    expect.fail(`the speaker knows no usable link ${name}`);
  }

  async expectAnswered(mac: Mac): Promise<void> {
    const answers = [await this.asker.ask(IPV4), await this.asker.ask(IPV6)];
    expect(
      answers.map((claim) => claim?.source),
      "answered",
    ).to.deep.equal([mac, mac]);
  }
}

/** The test begins when the bursts that follow the start are over. */
function quiet(body: (scene: LinkScene) => Promise<void>): (testLab: TestLab) => Promise<void> {
  return async (testLab) => {
    const asker = await SegmentHost.open(testLab.lab.topology.client);
    try {
      await waitForQuiet(testLab);
      await body(new LinkScene(testLab, asker));
    } finally {
      asker.close();
    }
  };
}

describe("a speaker whose link changes", () => {
  inOwnLabs(
    { nodes: 1, start: "agreeing", limitMs: 60_000, atOnce: LABS_AT_ONCE },
    {
      "announces and answers again on a link that was removed and put back": quiet(async (scene) => {
        const { lab, node } = scene;
        await scene.expectAnnouncedAndAnswered(node.mac, () => replaceLink(lab.topology, node));
      }),
      "announces and answers again when the carrier was lost and is back": quiet(async (scene) => {
        const { node } = scene;
        await scene.expectAnnouncedAndAnswered(node.mac, async () => {
          scene.faults.pullCable(node);
          await waitForOperstate(node, "down");
          scene.faults.plugCable(node);
        });
      }),
      "announces a changed MAC, and answers with it": quiet(async (scene) => {
        const { node } = scene;
        const setMac = (mac: Mac) => runIpBatch(node.namespace, [`link set eth0 address ${mac}`]);
        await scene.expectAnnouncedAndAnswered(OTHER_MAC, () => setMac(OTHER_MAC));
        // Announced again, too: before that the speaker may not have heard of it.
        await scene.expectAnnouncedAndAnswered(node.mac, () => setMac(node.mac));
      }),
      "answers on a renamed link": quiet(async (scene) => {
        const { node } = scene;
        for (const [from, to] of [
          ["eth0", "lan0"],
          ["lan0", "eth0"],
        ] as const) {
          // Kernels before 6.2 rename a link only while it is down, and a link that goes down loses its IPv6 addresses.
          const address = `addr add ${node.ipv6}/64 dev ${to} nodad`;
          const rename = [`link set ${from} down`, `link set ${from} name ${to}`, `link set ${to} up`, address];
          await runIpBatch(node.namespace, rename);
          await scene.waitForUsableLink(to);
          await scene.expectAnswered(node.mac);
        }
      }),
      "goes on answering when the link gets another address, and announces nothing": quiet(async (scene) => {
        const { node, asker } = scene;
        const before = asker.claims(IPV4).length;
        await runIpBatch(node.namespace, [
          "addr add 192.0.2.90/24 dev eth0",
          "addr add 2001:db8::90/64 dev eth0 nodad",
        ]);
        await scene.expectAnswered(node.mac);
        expect(asker.claims(IPV4).slice(before).filter(isAnnouncement)).to.deep.equal([]);
      }),
      "announces and answers an address that a new Service brings": quiet(async ({ lab, node, asker }) => {
        const added = "192.0.2.115" as Ip;
        const file = join(manifestFolder(lab, node), "services.yaml");
        const text = readFileSync(file, "utf8");
        const announced = asker.waitForClaim(added, isAnnouncement, BACK_TIMEOUT_MS);
        writeFileSync(join(manifestFolder(lab, node), "added.yaml"), serviceLike(text, "added", added));
        expect((await announced)?.source).to.equal(node.mac);
        expect((await asker.ask(added))?.source).to.equal(node.mac);
      }),
      "knows the links as they are after more news than its netlink socket holds": quiet(async (scene) => {
        const { lab, node, asker } = scene;
        const addresses = Array.from({ length: 3_000 }, (_, index) => `127.1.${index >> 8}.${index & 255}/32`);
        signalSpeaker(lab, node, "SIGSTOP");
        await runIpBatch(
          node.namespace,
          addresses.map((address) => `addr add ${address} dev lo`),
        );
        // The socket is full: nobody tells the speaker of this one.
        await runIpBatch(node.namespace, [`link set eth0 address ${THIRD_MAC}`]);
        expect(await netlinkDrops(node), "messages that the kernel dropped").to.be.greaterThan(0);
        const announced = asker.waitForClaim(IPV4, ({ source }) => source === THIRD_MAC, BACK_TIMEOUT_MS);
        signalSpeaker(lab, node, "SIGCONT");
        expect((await announced)?.source, "announced").to.equal(THIRD_MAC);
        await scene.expectAnswered(THIRD_MAC);
      }),
    },
  );
});

/** The first Service of the file under another name and address. */
function serviceLike(text: string, name: string, address: Ip): string {
  const [first = ""] = text.split("---\n");
  return first.replace(/name: \S+/, `name: ${name}`).replace(/loadBalancerIPs: \S+/, `loadBalancerIPs: "${address}"`);
}

async function waitForOperstate(node: Host, state: string): Promise<void> {
  const command = inNamespace(node.namespace, ["cat", "/sys/class/net/eth0/operstate"]);
  while ((await runCommand(command)).trim() !== state);
}

/** Sum of the column "Drops" of /proc/net/netlink, over every socket of the namespace. */
async function netlinkDrops(node: Host): Promise<number> {
  const [header = [], ...lines] = (await runCommand(inNamespace(node.namespace, ["cat", "/proc/net/netlink"])))
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/));
  const column = header.indexOf("Drops");
  return lines.reduce((sum, fields) => sum + Number(fields[column] ?? 0), 0);
}
