/** Our members and the Go library's in one cluster, on loopback addresses. */
import { expect } from "chai";
import { bytesOfHex, hexOf } from "../../src/base/bytes.ts";
import { createCodec } from "../../src/gossip/codec.ts";
import { Keyring } from "../../src/gossip/keyring.ts";
import { encodeMessage } from "../../src/gossip/message-codec.ts";
import { parseIp } from "../../src/net/ip.ts";
import { openGossipTransport } from "../../src/sys/gossip-transport.ts";
import { SystemRandom } from "../../src/sys/system-random.ts";
import { GoPeer, isBuilt, LIBRARIES, type PeerOptions } from "./go-peer.ts";
import { type NodeOptions, OurNode, TIMING } from "./our-node.ts";

const KEY = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const OTHER_KEY = "ff0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const META = bytesOfHex("a70102020001") ?? expect.fail();

const ip = (text: string) => parseIp(text) ?? expect.fail(text);
const incarnationAt = (node: OurNode, name: string) =>
  node.driver.members().find((one) => one.name === name)?.incarnation ?? 0;
const hex = (text: string) => bytesOfHex(text) ?? expect.fail(text);

for (const { name: library, program } of LIBRARIES) {
  describe(`interop with ${library}`, function () {
    this.timeout(90_000);
    const nodes: OurNode[] = [];
    const peers: GoPeer[] = [];

    before(function () {
      if (isBuilt(program)) return;
      process.stdout.write(`    skipped: ${program} is missing; hack/test builds it where Go is installed\n`);
      this.skip();
    });
    after(async () => {
      await Promise.all(peers.map((peer) => peer.kill()));
      await Promise.all(nodes.map((node) => node.close()));
    });

    async function ours(options: NodeOptions): Promise<OurNode> {
      const node = await OurNode.start(options);
      nodes.push(node);
      return node;
    }

    async function theirs(options: PeerOptions): Promise<GoPeer> {
      const peer = await GoPeer.start(program, options);
      peers.push(peer);
      return peer;
    }

    /** Two of ours and two of Go's, all of which know each other. */
    describe("one encrypted cluster", () => {
      const cluster = {} as { a: OurNode; b: OurNode; g: GoPeer; h: GoPeer };

      before(async () => {
        if (!isBuilt(program)) return;
        const userState = new Uint8Array(200_000).fill(0xcd);
        cluster.g = await theirs({ name: "g", ip: ip("127.0.71.3"), key: KEY, meta: "6767", stateBytes: 100_000 });
        cluster.a = await ours({ name: "a", ip: ip("127.0.71.1"), key: KEY, meta: META, userState });
        cluster.b = await ours({ name: "b", ip: ip("127.0.71.2"), key: KEY, peers: [cluster.g.endpoint] });
        cluster.h = await theirs({ name: "h", ip: ip("127.0.71.4"), key: KEY, isUncompressed: true });
      });

      it("Go joins us, and each learns what the other says", async () => {
        const { a, g } = cluster;
        expect(await g.join(a.endpoint)).to.deep.include({ event: "done" });
        await a.sees("g", "joined");
        const joined = await g.events.until("join of a", ({ event, name }) => event === "join" && name === "a");
        expect(joined.meta).to.equal(hexOf(META));
        expect(a.driver.members().find(({ name }) => name === "g")?.meta).to.deep.equal(hex("6767"));
      });

      it("states of 100 and 200 kB pass in a push/pull, compressed and encrypted", async () => {
        const { a, g } = cluster;
        const state = await g.events.until("state", ({ event }) => event === "state");
        expect(state).to.deep.include({ bytes: 200_000, first: 0xcd });
        const news = await a.news.until("state of g", (one) => one.kind === "user-state" && one.bytes.length > 0);
        expect(news).to.have.property("bytes").that.deep.equals(new Uint8Array(100_000).fill(0xab));
      });

      it("we join Go, and both sides learn of everybody through it", async () => {
        const { a, b, g } = cluster;
        await b.sees("g", "joined");
        await b.sees("a", "joined");
        await a.sees("b", "joined");
        await g.events.until("join of b", ({ event, name }) => event === "join" && name === "b");
      });

      it("a Go peer that does not compress joins by gossip alone", async () => {
        const { a, b, g, h } = cluster;
        await h.join(g.endpoint);
        await Promise.all([a.sees("h", "joined"), b.sees("h", "joined")]);
        for (const name of ["a", "b"]) {
          await h.events.until(`join of ${name}`, (one) => one.event === "join" && one.name === name);
        }
      });

      it("new metadata reaches the other side, both ways", async () => {
        const { a, b, g } = cluster;
        const word = new Uint8Array(512).fill(7);
        b.driver.command({ kind: "set-meta", meta: word, isUrgent: true });
        await g.events.until("update of b", (one) => one.event === "update" && one.meta === hexOf(word));
        expect(await g.command("meta 676732")).to.deep.include({ event: "done" });
        await a.sees("g", "updated");
        expect(a.driver.members().find(({ name }) => name === "g")?.meta).to.deep.equal(hex("676732"));
      });

      it("user messages pass, by datagram and by stream", async () => {
        const { a, g } = cluster;
        a.driver.command({ kind: "send-user", to: ["g"], payload: hex("a7010180") });
        await g.events.until("message", ({ event, hex: text }) => event === "message" && text === "a7010180");
        expect(await g.command("send a 68656c6c6f")).to.deep.include({ event: "done" });
        const news = await a.news.until("message", (one) => one.kind === "user-message");
        expect(news).to.deep.include({ from: "g", payload: hex("68656c6c6f") });
        expect(await g.command(`send-reliable a ${"ab".repeat(2_000)}`)).to.deep.include({ event: "done" });
        await a.news.until("stream message", (one) => one.kind === "user-message" && one.payload.length === 2_000);
      });

      it("each side refutes what is said against it", async () => {
        const { a, b, g } = cluster;
        const incarnation = (name: string) => incarnationAt(a, name);
        const liar = await openGossipTransport({ ip: ip("127.0.71.9"), port: 0 });
        const random = new SystemRandom();
        const codec = createCodec({ keyring: new Keyring(hex(KEY)), label: "", timing: TIMING, random });
        const accuse = (node: string) =>
          encodeMessage({ kind: "suspect", node, from: "liar", incarnation: incarnation(node) });
        const before = { a: incarnation("a"), g: incarnation("g") };
        liar.sendDatagram(g.endpoint, codec.sealDatagram([accuse("a")], false));
        liar.sendDatagram(b.endpoint, codec.sealDatagram([accuse("g")], false));
        await a.news.until("refuted", ({ kind }) => kind === "refuted" && incarnation("a") > before.a);
        await b.sees("g", "suspected");
        await b.news.until("refute of g", () => incarnationAt(b, "g") > before.g);
        expect(g.events.all.filter(({ event }) => event === "leave")).to.deep.equal([]);
        await liar.close();
      });

      it("the Go side logged no error, and we dropped nothing", () => {
        const { a, b, g, h } = cluster;
        expect([...g.errors(), ...h.errors()]).to.deep.equal([]);
        for (const node of [a, b]) expect([...node.driver.counters().drops]).to.deep.equal([]);
      });

      it("our leave is seen at once, and as a leave", async () => {
        const { b, g } = cluster;
        b.driver.command({ kind: "leave" });
        await g.events.until("leave of b", ({ event, name }) => event === "leave" && name === "b");
        const left = await b.news.until("left", ({ kind }) => kind === "left");
        expect(left).to.deep.include({ isComplete: true });
        await cluster.a.sees("b", "left");
      });

      it("Go's leave is seen as a leave", async () => {
        const { a, h } = cluster;
        expect(await h.command("leave")).to.deep.include({ event: "done" });
        await a.sees("h", "left");
      });

      it("we see that a Go member crashed", async () => {
        const { a, g } = cluster;
        await g.kill();
        await a.sees("g", "dead");
      });

      it("Go sees that one of ours crashed, and takes it back", async () => {
        const k = await theirs({ name: "k", ip: ip("127.0.71.5"), key: KEY });
        const { a } = cluster;
        await k.join(a.endpoint);
        await a.close();
        await k.events.until("leave of a", ({ event, name }) => event === "leave" && name === "a");
        const again = await ours({ name: "c", ip: ip("127.0.71.6"), key: KEY, peers: [k.endpoint] });
        await again.sees("k", "joined");
        await k.events.until("join of c", ({ event, name }) => event === "join" && name === "c");
      });
    });

    it("a Go peer with another key gets nowhere, and we count it", async () => {
      const node = await ours({ name: "x", ip: ip("127.0.72.1"), key: KEY });
      const stranger = await theirs({ name: "y", ip: ip("127.0.72.2"), key: OTHER_KEY });
      const answer = await stranger.join(node.endpoint);
      expect(answer.event).to.equal("failed");
      expect(node.driver.counters().drops.get("not-authentic")).to.be.greaterThan(0);
      node.driver.command({ kind: "join", endpoints: [stranger.endpoint] });
      const done = await node.news.until("push/pull", ({ kind }) => kind === "push-pull-done");
      expect(done).to.have.property("outcome").that.is.oneOf(["undecodable", "refused"]);
      expect(node.driver.members().map(({ name }) => name)).to.deep.equal(["x"]);
    });

    it("a Go peer without a key is told why it cannot join", async () => {
      const node = await ours({ name: "x", ip: ip("127.0.73.1"), key: KEY });
      const plain = await theirs({ name: "y", ip: ip("127.0.73.2") });
      // Our answer is encrypted, as Go's would be: it can say no more than that.
      expect((await plain.join(node.endpoint)).event).to.equal("failed");
      expect([...node.driver.counters().drops]).to.deep.equal([["not-encrypted", 1]]);
      const open = await ours({ name: "z", ip: ip("127.0.73.3") });
      const sealed = await theirs({ name: "w", ip: ip("127.0.73.4"), key: KEY });
      const answer = await sealed.join(open.endpoint);
      expect(answer.error).to.match(/remote state is (encrypted and encryption is not configured|not encrypted)/);
    });

    it("clusters of one label meet in the clear, over IPv6 too", async () => {
      for (const address of ["127.0.74.1", "::1"]) {
        const node = await ours({ name: "x", ip: ip(address), label: "blue", meta: META });
        const peer = await theirs({ name: "y", ip: ip(address), label: "blue", stateBytes: 3_000 });
        expect(await peer.join(node.endpoint)).to.deep.include({ event: "done" });
        await node.sees("y", "joined");
        const late = await ours({ name: "z", ip: ip(address), label: "blue", peers: [peer.endpoint] });
        await late.sees("x", "joined");
        await peer.events.until("join of z", ({ event, name }) => event === "join" && name === "z");
        await node.news.until("state", (one) => one.kind === "user-state" && one.bytes.length === 3_000);
        expect(node.driver.members().find(({ name }) => name === "y")?.endpoint).to.deep.equal(peer.endpoint);
        expect(peer.errors()).to.deep.equal([]);
      }
    });

    it("another label gets nowhere", async () => {
      const node = await ours({ name: "x", ip: ip("127.0.75.1"), label: "blue" });
      const peer = await theirs({ name: "y", ip: ip("127.0.75.2"), label: "red" });
      expect((await peer.join(node.endpoint)).event).to.equal("failed");
      expect(node.driver.counters().drops.get("label-mismatch")).to.be.greaterThan(0);
    });
  });
}
