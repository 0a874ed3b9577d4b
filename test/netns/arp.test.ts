/** What one speaker alone answers to ARP, on real links; arping as the truth from outside. */
import { expect } from "chai";
import { inNamespace, runCommand } from "../../hack/netlab/run-command.ts";
import type { Ip } from "../../src/net/ip.ts";
import { BROADCAST_MAC, type Mac, ZERO_MAC } from "../../src/net/mac.ts";
import { type ArpOperation, buildArpProbe, encodeArp } from "../../src/packet/arp.ts";
import { ETHERTYPE_ARP, encodeEthernet, type VlanTag } from "../../src/packet/ethernet.ts";
import { type TestLab, useLab, waitForQuiet } from "../support/lab.ts";
import { SegmentHost } from "../support/lab-packets.ts";

const ADDRESS = "192.0.2.100" as Ip;
const FOREIGN_MAC = "02:00:00:00:00:99" as Mac;

interface RequestFields {
  readonly destination: Mac;
  readonly operation?: ArpOperation;
  readonly vlan?: VlanTag;
}

describe("a speaker alone, asked by ARP", () => {
  const testLab = useLab(1);
  let asker: SegmentHost;

  before(async function () {
    this.timeout(60_000);
    asker = await SegmentHost.open(testLab().lab.topology.client);
    await waitForQuiet(testLab());
  });
  after(() => asker?.close());

  function requestTo({ destination, operation = "request", vlan }: RequestFields): Uint8Array {
    const { mac, ipv4 } = asker.host;
    const target = { targetMac: ZERO_MAC, targetIp: ADDRESS };
    const payload = encodeArp({ operation, senderMac: mac, senderIp: ipv4, ...target });
    const header = { destination, source: mac, etherType: ETHERTYPE_ARP, payload };
    return encodeEthernet(vlan === undefined ? header : { ...header, vlan });
  }

  it("answers a broadcast request, to the asker alone", async () => {
    const leader = leaderMac(testLab());
    expect(await packetsFor(requestTo({ destination: BROADCAST_MAC }))).to.deep.equal([
      {
        source: leader,
        destination: asker.host.mac,
        packet: {
          kind: "arp",
          operation: "reply",
          senderMac: leader,
          senderIp: ADDRESS,
          targetMac: asker.host.mac,
          targetIp: asker.host.ipv4,
        },
      },
    ]);
  });

  it("is seen by arping as one MAC, the leader's", async () => {
    const arping = inNamespace(asker.host.namespace, ["arping", "-c", "2", "-w", "8", "-I", "eth0", ADDRESS]);
    const text = await runCommand(arping);
    const macs = text.match(/\[[0-9A-F:]+\]/gi)?.map((mac) => mac.slice(1, -1).toLowerCase());
    expect(new Set(macs)).to.deep.equal(new Set([leaderMac(testLab())]));
  });

  it("answers a request to its own MAC, as a client sends it that checks an old entry", async () => {
    expect(await packetsFor(requestTo({ destination: leaderMac(testLab()) }))).to.have.length(1);
  });

  it("defends the address against a probe, which has no sender address", async () => {
    const answers = await packetsFor(buildArpProbe(asker.host.mac, ADDRESS));
    expect(answers.map(({ destination }) => destination)).to.deep.equal([asker.host.mac]);
  });

  it("makes arping's duplicate address detection find the address in use", async () => {
    const arping = inNamespace(asker.host.namespace, ["arping", "-D", "-c", "2", "-w", "8", "-I", "eth0", ADDRESS]);
    // Exit code 1: somebody answered.
    const result = await runCommand(arping).catch(({ cause }: { cause: { code: number } }) => cause.code);
    expect(result).to.equal(1);
  });

  for (const { name, fields } of [
    { name: "a frame for another host's MAC", fields: { destination: FOREIGN_MAC } },
    { name: "a request of another VLAN", fields: { destination: BROADCAST_MAC, vlan: vlanTag(42) } },
    { name: "a reply", fields: { destination: BROADCAST_MAC, operation: "reply" } },
  ] as const) {
    it(`does not answer ${name}`, async () => expect(await packetsFor(requestTo(fields))).to.deep.equal([]));
  }

  it("does not answer for an address that is no Service's", async () => {
    expect(await asker.ask("192.0.2.110" as Ip, 200)).to.equal(undefined);
  });

  async function packetsFor(frame: Uint8Array) {
    const answers = await asker.answersTo(frame, ADDRESS);
    return answers.map(({ source, destination, packet }) => ({ source, destination, packet }));
  }
});

function leaderMac(testLab: TestLab): Mac {
  return testLab.node("n1").mac;
}

function vlanTag(id: number): VlanTag {
  return { id, priority: 0, isDropEligible: false };
}
