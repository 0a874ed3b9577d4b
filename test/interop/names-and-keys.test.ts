/** Names that move to another address, names that two use, and keys that are exchanged, among our members and the Go library's. */
import { expect } from "chai";
import { bytesOfHex, hexOf } from "../../src/base/bytes.ts";
import { VirtualClock } from "../../src/base/clock.ts";
import { LINGER_MS, SEND_AFTER_MS } from "../../src/gossip/key-rotation.ts";
import { RotatingKeys } from "../../src/gossip/rotating-keys.ts";
import { parseIp } from "../../src/net/ip.ts";
import { GoPeer, isBuilt, LIBRARIES, type PeerOptions } from "./go-peer.ts";
import { type NodeOptions, OurNode } from "./our-node.ts";
import { type Story, story, tellTogether } from "./stories.ts";

const KEY = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const NEXT_KEY = "ff0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const LIMIT_MS = 60_000;

const ip = (text: string) => parseIp(text) ?? expect.fail(text);
const hex = (text: string) => bytesOfHex(text) ?? expect.fail(text);

describe("names and keys", () => {
  const nodes: OurNode[] = [];
  const peers: GoPeer[] = [];

  before(function () {
    const missing = LIBRARIES.find(({ program }) => !isBuilt(program));
    if (missing === undefined) return;
    process.stdout.write(`    skipped: ${missing.program} is missing; hack/test builds it where Go is installed\n`);
    this.skip();
  });
  after(async () => {
    await Promise.all(peers.map((peer) => peer.kill()));
    await Promise.all(nodes.map((node) => node.close()));
  });

  async function ours(options: NodeOptions): Promise<OurNode> {
    const node = await OurNode.start({ key: KEY, ...options });
    nodes.push(node);
    return node;
  }

  tellTogether(
    LIMIT_MS,
    LIBRARIES.flatMap(({ name, program }, index) => storiesBeside(name, program, index)),
  );

  function storiesBeside(library: string, program: string, index: number): readonly Story[] {
    /** Each library has addresses of its own. */
    const at = (address: string) => ip(`127.0.${78 + index}.${address}`);

    async function theirs(options: PeerOptions): Promise<GoPeer> {
      const peer = await GoPeer.start(program, { key: KEY, ...options });
      peers.push(peer);
      return peer;
    }

    return [
      story(
        `a name that comes back with another address, beside ${library}`,
        async () => {
          const g = await theirs({ name: "g", ip: at("11") });
          const a = await ours({ name: "a", ip: at("12"), peers: [g.endpoint] });
          await a.sees("g", "joined");
          return { a, g };
        },
        {
          "after a goodbye is taken by all at once": async ({ a, g }) => {
            const left = await ours({ name: "b", ip: at("13"), peers: [g.endpoint] });
            await told(g, "join", "b", at("13"));
            left.driver.command({ kind: "leave" });
            await told(g, "leave", "b", at("13"));
            await left.close();
            await ours({ name: "b", ip: at("14"), peers: [g.endpoint] });
            await told(g, "join", "b", at("14"));
            await a.news.until("b at its new address", () => endpointAt(a, "b") === at("14"));
          },
          "after a crash is taken by ours at once, and by Go when it has forgotten the dead one": async ({ a, g }) => {
            const crashed = await ours({ name: "c", ip: at("15"), peers: [g.endpoint] });
            await told(g, "join", "c", at("15"));
            await a.sees("c", "joined");
            await crashed.close();
            await told(g, "leave", "c", at("15"));
            await a.sees("c", "dead");
            await ours({ name: "c", ip: at("16"), peers: [g.endpoint, a.endpoint] });
            await a.news.until("c at its new address", () => endpointAt(a, "c") === at("16"));
            await told(g, "join", "c", at("16"));
          },
          "of a Go member that crashed is taken by ours at once": async ({ a, g }) => {
            const crashed = await theirs({ name: "h", ip: at("17") });
            await crashed.join(g.endpoint);
            await a.sees("h", "joined");
            await crashed.kill();
            await a.sees("h", "dead");
            const back = await theirs({ name: "h", ip: at("18") });
            await back.join(a.endpoint);
            await a.news.until("h at its new address", () => endpointAt(a, "h") === at("18"));
          },
        },
      ),

      story(
        `two hosts with one name, beside ${library}`,
        async () => {
          const g = await theirs({ name: "g", ip: at("21") });
          const a = await ours({ name: "a", ip: at("22"), peers: [g.endpoint] });
          await a.sees("g", "joined");
          return { a, g };
        },
        {
          "the speaker that was there first stays, and both kinds say that another wants its name": async ({
            a,
            g,
          }) => {
            await ours({ name: "twin", ip: at("23"), peers: [g.endpoint] });
            await told(g, "join", "twin", at("23"));
            await a.sees("twin", "joined");
            const other = await theirs({ name: "twin", ip: at("24") });
            await other.join(g.endpoint);
            await other.join(a.endpoint);
            await g.events.until("conflict", ({ event, name }) => event === "conflict" && name === "twin");
            await a.news.until("conflict", (one) => one.kind === "name-conflict" && one.other.ip === at("24"));
            expect(endpointAt(a, "twin")).to.equal(at("23"));
            expect(await g.whereIs("twin")).to.equal(at("23"));
            await other.kill();
          },
          "the Go member that was there first stays": async ({ a, g }) => {
            const first = await theirs({ name: "double", ip: at("25") });
            await first.join(g.endpoint);
            await a.sees("double", "joined");
            await ours({ name: "double", ip: at("26"), peers: [g.endpoint, a.endpoint] });
            await g.events.until("conflict", ({ event, name }) => event === "conflict" && name === "double");
            await a.news.until("conflict", (one) => one.kind === "name-conflict" && one.other.ip === at("26"));
            expect(endpointAt(a, "double")).to.equal(at("25"));
            expect(await g.whereIs("double")).to.equal(at("25"));
          },
        },
      ),

      story(
        `keys that are exchanged while all run, beside ${library}`,
        async () => {
          const clock = new VirtualClock();
          const keys = ["a", "b"].map(() => new RotatingKeys({ current: hex(KEY) }, clock, () => undefined));
          const g = await theirs({ name: "g", ip: at("31") });
          const h = await theirs({ name: "h", ip: at("32") });
          await h.join(g.endpoint);
          const rings = keys.map(({ keyring }) => keyring);
          const a = await ours({ name: "a", ip: at("33"), peers: [g.endpoint], ...ringOf(rings[0]) });
          const b = await ours({ name: "b", ip: at("34"), peers: [g.endpoint], ...ringOf(rings[1]) });
          for (const name of ["g", "h", "b"]) await a.sees(name, "joined");
          await b.sees("a", "joined");
          for (const peer of [g, h]) {
            await told(peer, "join", "a", at("33"));
            await told(peer, "join", "b", at("34"));
          }
          return { clock, keys, g, h, a, b, sent: 0 };
        },
        {
          "who has both keys understands who has the old one alone": async (scene) => {
            // The Secret's files reach the nodes one after the other.
            scene.keys[0]?.change({ current: hex(NEXT_KEY), previous: hex(KEY) });
            await scene.g.command(`add-key ${NEXT_KEY}`);
            await allHear(scene);
          },
          "when all have both, each may send with the new one": async (scene) => {
            scene.keys[1]?.change({ current: hex(NEXT_KEY), previous: hex(KEY) });
            await scene.h.command(`add-key ${NEXT_KEY}`);
            await scene.g.command(`use-key ${NEXT_KEY}`);
            await allHear(scene);
            scene.clock.advance(SEND_AFTER_MS);
            for (const { keyring } of scene.keys) expect(hexOf(keyring.primary)).to.equal(NEXT_KEY);
            await allHear(scene);
            await scene.h.command(`use-key ${NEXT_KEY}`);
            await allHear(scene);
          },
          "when the old one is gone, who has it alone gets nowhere, and who has the new one comes in": async (
            scene,
          ) => {
            const { clock, keys, g, h, a } = scene;
            for (const each of keys) each.change({ current: hex(NEXT_KEY) });
            for (const peer of [g, h]) await peer.command(`remove-key ${KEY}`);
            clock.advance(LINGER_MS);
            await allHear(scene);
            const stranger = await theirs({ name: "stranger", ip: at("35") });
            expect((await stranger.join(a.endpoint)).event).to.equal("failed");
            const newcomer = await theirs({ name: "newcomer", ip: at("36"), key: NEXT_KEY });
            expect((await newcomer.join(a.endpoint)).event).to.equal("done");
            await a.sees("newcomer", "joined");
          },
          "meanwhile nobody suspected anybody": ({ g, h, a, b, keys }) => {
            for (const peer of [g, h])
              expect(
                peer.events.all.filter(({ event, text = "" }) => event === "leave" || text.includes("Suspect")),
              ).to.deep.equal([]);
            for (const { news } of [a, b])
              expect(
                news.all.filter((one) => one.kind === "member-changed" && one.change === "suspected"),
              ).to.deep.equal([]);
            for (const each of keys) each.close();
            return Promise.resolve();
          },
        },
      ),
    ];
  }
});

/** Until the Go member was told that this one joined, or left, at this address. */
async function told(peer: GoPeer, event: "join" | "leave", name: string, address: string): Promise<void> {
  await peer.events.until(
    `${event} of ${name} at ${address}`,
    (one) => one.event === event && one.name === name && one.address === address,
  );
}

const endpointAt = (node: OurNode, name: string): string | undefined =>
  node.driver.members().find((member) => member.name === name)?.endpoint.ip;

interface KeyScene {
  readonly g: GoPeer;
  readonly h: GoPeer;
  readonly a: OurNode;
  readonly b: OurNode;
  sent: number;
}

/** A message from each of ours to each of Go's arrives, and one from each of Go's to each of ours. */
async function allHear(scene: KeyScene): Promise<void> {
  const { g, h, a, b } = scene;
  const mark = (++scene.sent).toString(16).padStart(4, "0");
  for (const node of [a, b]) {
    const payload = bytesOfHex(`${hexOf(new TextEncoder().encode(node.name))}${mark}`) ?? expect.fail();
    node.driver.command({ kind: "send-user", to: ["g", "h"], payload });
    for (const peer of [g, h]) await peer.events.until(hexOf(payload), (one) => one.hex === hexOf(payload));
  }
  for (const peer of [g, h]) {
    const text = `${hexOf(new TextEncoder().encode(peer.name))}${mark}`;
    for (const node of [a, b]) {
      expect(await peer.command(`send ${node.name} ${text}`)).to.deep.include({ event: "done" });
      await node.news.until(text, (one) => one.kind === "user-message" && hexOf(one.payload) === text);
    }
  }
}

function ringOf(keyring: NodeOptions["keyring"]): Pick<NodeOptions, "keyring"> {
  return keyring === undefined ? {} : { keyring };
}
