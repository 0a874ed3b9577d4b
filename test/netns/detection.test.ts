/** What a leader is accused of, on real links: the gossip port, the addresses and the node address fall silent each on its own. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { Instruments } from "../../hack/netlab/instruments.ts";
import { monotonicMs } from "../../hack/netlab/monotonic-ms.ts";
import { inNamespace, runCommand } from "../../hack/netlab/run-command.ts";
import { restartFresh } from "../../hack/netlab/run-drill.ts";
import { callSpeaker, commonLeader, fetchStatuses } from "../../hack/netlab/status.ts";
import { DRILL_ADDRESS, type Host, POOL_IPV4 } from "../../hack/netlab/topology.ts";
import { useLab } from "../support/lab.ts";

const GOSSIP_PORT = 7946;
/** The pool's IPv6 addresses as nftables compares the target of a solicitation or advertisement. */
const POOL_IPV6_TARGETS = "0x20010db8000000000000000000000100-0x20010db800000000000000000000011f";
const GOSSIP_DATAGRAMS = [`udp sport ${GOSSIP_PORT}`, `udp dport ${GOSSIP_PORT}`];
/** More than the latest deadline, 1,000 ms, and less than memberlist's own detection takes, which wants an answer of the port. */
const UNHEARD_MS = 2_500;
/** More than memberlist's own detection takes. */
const MEMBERLIST_MS = 8_000;
/** memberlist's own detection takes longer. */
const TAKE_OVER_MS = 4_500;
/** A hung process is accused 1,000 ms after its last sign of life, which comes every 100 ms. */
const HUNG_AT_LEAST_MS = 850;

describe("a leader of three", function () {
  this.timeout(90_000);
  const testLab = useLab(3, "bare");
  let leader: Host;

  /** Every drill of the lab begins so: no fault, fresh speakers. */
  beforeEach(async () => {
    const { lab, faults, node } = testLab();
    await restartFresh(lab, faults);
    leader = node(commonLeader(await fetchStatuses(lab), DRILL_ADDRESS) ?? "no leader");
  });

  afterEach(async () =>
    runCommand(inNamespace(leader.namespace, ["nft", "-f", "-"]), "table inet faults\ndelete table inet faults\n"),
  );

  /** At the leader's port of the switch: frames in both directions that match one of `matches` are dropped. */
  function drop(matches: readonly string[]): Promise<string> {
    const rules = matches.flatMap((match) => [
      `iifname "${leader.name}" ${match} drop`,
      `oifname "${leader.name}" ${match} drop`,
    ]);
    return runCommand(
      inNamespace(testLab().lab.topology.switchNamespace, ["nft", "-f", "-"]),
      `table bridge faults { chain forward { type filter hook forward priority 0; ${rules.join("; ")}; }; }\n`,
    );
  }

  function refuseConnections(): Promise<string> {
    return runCommand(
      inNamespace(leader.namespace, ["nft", "-f", "-"]),
      `table inet faults { chain input { type filter hook input priority 0; tcp dport ${GOSSIP_PORT} reject with tcp reset; }; }\n`,
    );
  }

  /** Sum over the others of what their metric of that name, and with that label, counts. */
  async function counted(series: string): Promise<number> {
    const { lab } = testLab();
    const others = lab.topology.nodes.filter((node) => node !== leader);
    const pages = await Promise.all(others.map((node) => callSpeaker(lab, node, "GET", "/metrics")));
    const values = pages.map((page) => {
      const line = page?.body.split("\n").find((one) => one.startsWith(`${series} `));
      return line === undefined ? Number.NaN : Number(line.slice(series.length + 1));
    });
    return values.reduce((sum, value) => sum + value, 0);
  }

  function accusedAs(evidence: "silent" | "hung" | "refused"): Promise<number> {
    return counted(`arpeggio_gossip_accusations_total{evidence="${evidence}"}`);
  }

  /** Milliseconds from the fault to the first probe that another node answers; undefined: none did. */
  async function takenOverMs(fault: () => Promise<unknown>): Promise<number | undefined> {
    const instruments = new Instruments(testLab().lab.topology);
    try {
      await instruments.begin(DRILL_ADDRESS, 80, leader.mac, leader.name);
      const faultMs = monotonicMs();
      await fault();
      const answer = await instruments.waitForProbeAnswer(({ mac }) => mac !== leader.mac, TAKE_OVER_MS);
      return answer === undefined ? undefined : answer.atMs - faultMs;
    } finally {
      instruments.close();
    }
  }

  /** It leads on after `ms`, and nobody found it dead; what proved last that it lives, to each of the others. */
  async function proofsAfter(ms: number): Promise<readonly (string | undefined)[]> {
    const { lab } = testLab();
    await sleep(ms);
    const documents = await fetchStatuses(lab);
    expect(await counted("arpeggio_gossip_fast_verdicts_total"), "verdicts").to.equal(0);
    expect(commonLeader(documents, DRILL_ADDRESS)).to.equal(leader.name);
    return documents.flatMap((document) =>
      document?.node === leader.name
        ? []
        : [document?.members.find(({ name }) => name === leader.name)?.watch?.lastProof],
    );
  }

  it("whose gossip port is cut off leads on while it answers ARP for its addresses, which proves that its process lives", async () => {
    await drop([`tcp dport ${GOSSIP_PORT}`, ...GOSSIP_DATAGRAMS]);
    expect(await proofsAfter(UNHEARD_MS)).to.deep.equal(["neighbour", "neighbour"]);
  });

  it("that no datagram reaches leads on for as long as it answers over TCP", async () => {
    await drop(GOSSIP_DATAGRAMS);
    expect(await proofsAfter(MEMBERLIST_MS)).to.deep.equal(["tcp", "tcp"]);
  });

  it("whose process says nothing while its kernel answers for the node address is replaced as hung, after a second", async () => {
    const tookMs = await takenOverMs(() => drop(silenceOfTheProcess([`tcp dport ${GOSSIP_PORT}`])));
    expect([await accusedAs("silent"), await accusedAs("refused")]).to.deep.equal([0, 0]);
    expect(await accusedAs("hung"), "hung").to.be.greaterThan(0);
    expect(tookMs).to.be.within(HUNG_AT_LEAST_MS, TAKE_OVER_MS);
  });

  it("whose gossip port refuses, though it had accepted, is replaced at once", async () => {
    const tookMs = await takenOverMs(async () => {
      await refuseConnections();
      await drop(silenceOfTheProcess([]));
    });
    expect([await accusedAs("silent"), await accusedAs("hung")]).to.deep.equal([0, 0]);
    expect(await accusedAs("refused"), "refused").to.be.greaterThan(0);
    expect(tookMs).to.be.lessThan(TAKE_OVER_MS);
  });
});

/** Everything that only a speaker that lives could say. */
function silenceOfTheProcess(more: readonly string[]): readonly string[] {
  return [
    ...GOSSIP_DATAGRAMS,
    `arp daddr ip ${POOL_IPV4}`,
    `arp saddr ip ${POOL_IPV4}`,
    `icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } @th,64,128 ${POOL_IPV6_TARGETS}`,
    ...more,
  ];
}
