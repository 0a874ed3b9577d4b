/** What one speaker alone answers to Neighbor Solicitations (RFC 4861 §7.2.4), on real links; ndisc6 as the truth from outside. */
import { expect } from "chai";
import { inNamespace, runCommand } from "../../hack/netlab/run-command.ts";
import type { Ip } from "../../src/net/ip.ts";
import type { Mac } from "../../src/net/mac.ts";
import { ETHERTYPE_IPV6, encodeEthernet } from "../../src/packet/ethernet.ts";
import { encodeNdp, type NdpOption, writeIcmpv6Checksum } from "../../src/packet/ndp.ts";
import { ALL_NODES, multicastMacOf, solicitedNodeGroupOf } from "../../src/packet/solicited-node.ts";
import { useLab, waitForQuiet } from "../support/lab.ts";
import { SegmentHost } from "../support/lab-packets.ts";

const ADDRESS = "2001:db8::100" as Ip;
const GROUP = solicitedNodeGroupOf(ADDRESS);
const FOREIGN_MAC = "02:00:00:00:00:99" as Mac;
const UNSPECIFIED = "::" as Ip;
const HOP_LIMIT_OFFSET = 7;

interface SolicitationFields {
  readonly source?: Ip;
  readonly destination?: Ip;
  readonly destinationMac?: Mac;
  readonly options?: readonly NdpOption[];
  readonly hopLimit?: number;
  readonly vlanId?: number;
}

describe("a speaker alone, asked by Neighbor Discovery", () => {
  const testLab = useLab(1);
  let asker: SegmentHost;
  let leader: Mac;

  before(async function () {
    this.timeout(60_000);
    asker = await SegmentHost.open(testLab().lab.topology.client);
    leader = testLab().node("n1").mac;
    await waitForQuiet(testLab());
  });
  after(() => asker?.close());

  function solicitation(fields: SolicitationFields = {}): Uint8Array {
    const { mac, ipv6 } = asker.host;
    const { source = ipv6, destination = GROUP, options = [{ kind: "source-link-layer", mac }] } = fields;
    const payload = encodeNdp({ kind: "solicitation", source, destination, target: ADDRESS, options });
    payload[HOP_LIMIT_OFFSET] = fields.hopLimit ?? 255;
    writeIcmpv6Checksum(payload, 0);
    const header = { destination: fields.destinationMac ?? multicastMacOf(GROUP), source: mac };
    const vlan = fields.vlanId === undefined ? {} : { vlan: { id: fields.vlanId, priority: 0, isDropEligible: false } };
    return encodeEthernet({ ...header, ...vlan, etherType: ETHERTYPE_IPV6, payload });
  }

  async function answersTo(fields: SolicitationFields = {}) {
    const answers = await asker.answersTo(solicitation(fields), ADDRESS);
    return answers.map(({ source, destination, packet }) => ({ source, destination, packet }));
  }

  function advertisement(destination: Ip, isSolicited: boolean) {
    const flags = { isRouter: false, isSolicited, isOverride: true };
    const options = [{ kind: "target-link-layer", mac: leader }];
    return { kind: "advertisement", source: ADDRESS, destination, target: ADDRESS, ...flags, options };
  }

  it("answers a solicitation to the group: from the address, with Solicited, Override and the target option", async () => {
    expect(await answersTo()).to.deep.equal([
      { source: leader, destination: asker.host.mac, packet: advertisement(asker.host.ipv6, true) },
    ]);
  });

  it("is seen by ndisc6 as one MAC, the leader's", async () => {
    const ndisc6 = inNamespace(asker.host.namespace, ["ndisc6", "-m", "-r", "3", "-w", "1000", ADDRESS, "eth0"]);
    const macs = (await runCommand(ndisc6)).match(/(?:[0-9A-F]{2}:){5}[0-9A-F]{2}/gi);
    expect(new Set(macs?.map((mac) => mac.toLowerCase()))).to.deep.equal(new Set([leader]));
  });

  it("answers a solicitation without source link-layer option to the frame's source", async () => {
    expect(await answersTo({ options: [] })).to.deep.equal([
      { source: leader, destination: asker.host.mac, packet: advertisement(asker.host.ipv6, true) },
    ]);
  });

  it("answers a unicast solicitation to the address, as a router sends it that checks an old entry", async () => {
    expect(await answersTo({ destination: ADDRESS, destinationMac: leader })).to.deep.equal([
      { source: leader, destination: asker.host.mac, packet: advertisement(asker.host.ipv6, true) },
    ]);
  });

  it("defends the address against duplicate address detection, to all nodes and not Solicited", async () => {
    const answers = await answersTo({ source: UNSPECIFIED, options: [] });
    expect(answers.map(({ packet }) => packet)).to.deep.equal([advertisement(ALL_NODES, false)]);
  });

  it("makes the kernel's duplicate address detection refuse the address", async () => {
    const { namespace } = testLab().lab.topology.watcher;
    // Asked three times, a second apart, so that a machine that stands still for a moment has no say in it.
    const settings = "cd /proc/sys/net/ipv6/conf/eth0 && echo 1 > accept_dad && echo 3 > dad_transmits";
    await runCommand(inNamespace(namespace, ["sh", "-c", settings]));
    await runCommand(["ip", "-n", namespace, "addr", "add", `${ADDRESS}/64`, "dev", "eth0"]);
    const flags = await waitForDadResult(namespace);
    await runCommand(["ip", "-n", namespace, "addr", "del", `${ADDRESS}/64`, "dev", "eth0"]);
    expect(flags).to.include("dadfailed");
  });

  for (const { name, fields } of [
    { name: "with hop limit 64, which came through a router", fields: { hopLimit: 64 } },
    { name: "in a frame for another host's MAC", fields: { destination: ADDRESS, destinationMac: FOREIGN_MAC } },
    { name: "of another VLAN", fields: { vlanId: 42 } },
    { name: "from :: with a source link-layer option", fields: { source: UNSPECIFIED } },
    { name: "from :: to the address itself", fields: { source: UNSPECIFIED, destination: ADDRESS, options: [] } },
  ] satisfies { name: string; fields: SolicitationFields }[]) {
    it(`does not answer a solicitation ${name}`, async () => expect(await answersTo(fields)).to.deep.equal([]));
  }
});

/** The address's line once it is no longer tentative, or has failed. */
async function waitForDadResult(namespace: string): Promise<string> {
  for (;;) {
    const text = await runCommand(["ip", "-n", namespace, "-6", "addr", "show", "dev", "eth0", "to", ADDRESS]);
    if (text.includes("dadfailed") || !text.includes("tentative")) return text;
  }
}
