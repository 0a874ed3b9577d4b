/** Fast detection beside the Go library in MetalLB's timing: its members obey our verdicts and hear refutations, and notice nothing else. */
import { expect } from "chai";
import { bytesOfHex } from "../../src/base/bytes.ts";
import { createCodec } from "../../src/gossip/codec.ts";
import { Keyring } from "../../src/gossip/keyring.ts";
import { encodeMessage } from "../../src/gossip/message-codec.ts";
import type { SwimNews } from "../../src/gossip/swim-event.ts";
import { TIMING_PRESETS } from "../../src/gossip/timing.ts";
import { parseIp } from "../../src/net/ip.ts";
import { openGossipTransport } from "../../src/sys/gossip-transport.ts";
import { SystemRandom } from "../../src/sys/system-random.ts";
import { GoPeer, isBuilt, LIBRARIES } from "./go-peer.ts";
import { OurNode } from "./our-node.ts";

const KEY = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const OURS = ["a", "b", "c"];
/** A Go cluster of this size holds a killed member dead after 5 s and more. */
const FAST_MS = 3_000;

const ip = (text: string) => parseIp(text) ?? expect.fail(text);
const later = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));

for (const { name: library, program } of LIBRARIES) {
  describe(`fast detection beside ${library}`, function () {
    this.timeout(60_000);
    const nodes = new Map<string, OurNode>();
    const cluster = {} as { g: GoPeer };
    const node = (name: string): OurNode => nodes.get(name) ?? expect.fail(name);

    const incarnationOfG = (at: string): number =>
      node(at)
        .driver.members()
        .find((member) => member.name === "g")?.incarnation ?? 0;

    /** Everybody is told that this one leads. */
    function lead(leader: string): void {
      const view = { leaders: [{ node: leader, seconds: ["a"] }], watchers: OURS, goMembers: ["g"], hasLink: true };
      for (const { driver } of nodes.values()) driver.command({ kind: "watch", view });
    }

    before(async function () {
      if (!isBuilt(program)) {
        process.stdout.write(`    skipped: ${program} is missing; hack/test builds it where Go is installed\n`);
        this.skip();
      }
      cluster.g = await GoPeer.start(program, { name: "g", ip: ip("127.0.72.9"), key: KEY, isLan: true });
      for (const [index, name] of OURS.entries()) {
        const peers = [cluster.g.endpoint];
        nodes.set(
          name,
          await OurNode.start({ name, ip: ip(`127.0.72.${index + 1}`), key: KEY, peers, detectsFast: true }),
        );
      }
      for (const name of OURS)
        await cluster.g.events.until(`join of ${name}`, (one) => one.event === "join" && one.name === name);
      for (const each of nodes.values())
        for (const name of [...OURS, "g"]) if (name !== each.name) await each.sees(name, "joined");
    });
    after(async () => {
      await cluster.g?.kill();
      await Promise.all([...nodes.values()].map((each) => each.close()));
    });

    it("a Go leader that is pinged ten times a second by each of three suspects nobody, and logs nothing", async () => {
      lead("g");
      await later(3_000);
      expect(cluster.g.errors()).to.deep.equal([]);
      expect(cluster.g.events.all.filter(({ event }) => event === "leave")).to.deep.equal([]);
      expect(cluster.g.worstScore()).to.equal(0);
      for (const { driver } of nodes.values()) {
        expect(driver.fast?.watched("g")?.own?.isAccused).to.equal(false);
        expect(driver.fast?.counters().verdicts).to.equal(0);
      }
    });

    it("a living one that was declared dead refutes it, and is back at the Go member", async () => {
      const liar = await openGossipTransport({ ip: ip("127.0.72.8"), port: 0 });
      const secret = bytesOfHex(KEY) ?? expect.fail();
      const codec = createCodec({
        keyring: new Keyring(secret),
        label: "",
        timing: TIMING_PRESETS.lan,
        random: new SystemRandom(),
      });
      const incarnation = node("c").driver.self.incarnation;
      const dead = encodeMessage({ kind: "dead", node: "c", incarnation, from: "b" });
      const before = cluster.g.events.all.length;
      // To the Go member alone: c, told at once, could refute before it. The Go member tells c when it has believed it.
      liar.sendDatagram(cluster.g.endpoint, codec.sealDatagram([dead], false));
      try {
        await cluster.g.events.until("leave of c", ({ event, name }) => event === "leave" && name === "c");
      } finally {
        await liar.close();
      }
      await cluster.g.events.until(
        "return of c",
        (one) => one.event === "join" && one.name === "c" && cluster.g.events.all.indexOf(one) >= before,
      );
      expect(node("c").driver.self.incarnation).to.be.greaterThan(incarnation);
    });

    it("a living Go member that was declared dead refutes it, and is back with all of us", async () => {
      const before = incarnationOfG("a");
      const counts = new Map(OURS.map((name) => [name, node(name).news.all.length]));
      const liar = await openGossipTransport({ ip: ip("127.0.72.8"), port: 0 });
      const secret = bytesOfHex(KEY) ?? expect.fail();
      const random = new SystemRandom();
      const codec = createCodec({ keyring: new Keyring(secret), label: "", timing: TIMING_PRESETS.lan, random });
      const dead = encodeMessage({ kind: "dead", node: "g", incarnation: before, from: "b" });
      try {
        for (const name of OURS) liar.sendDatagram(node(name).endpoint, codec.sealDatagram([dead], false));
        for (const name of OURS) {
          const { news } = node(name);
          const isNew = (one: SwimNews): boolean => news.all.indexOf(one) >= (counts.get(name) ?? 0);
          for (const change of ["dead", "joined"])
            await news.until(
              `${change} of g`,
              (one) => one.kind === "member-changed" && one.change === change && one.member.name === "g" && isNew(one),
            );
          expect(incarnationOfG(name)).to.be.greaterThan(before);
        }
      } finally {
        await liar.close();
      }
      expect(cluster.g.errors()).to.deep.equal([]);
    });

    it("a leader of ours that is killed is gone at the Go member as soon as two of us have accused it", async () => {
      lead("c");
      await later(1_000);
      const before = cluster.g.events.all.length;
      const killedMs = performance.now();
      await node("c").close();
      nodes.delete("c");
      await cluster.g.events.until(
        "leave of c",
        (one) => one.event === "leave" && one.name === "c" && cluster.g.events.all.indexOf(one) >= before,
      );
      expect(performance.now() - killedMs).to.be.at.most(FAST_MS);
      expect(cluster.g.errors()).to.deep.equal([]);
    });
  });
}
