/**
 * What fast detection costs a node of 100 that all lead something: datagrams, bytes and processor time, with it and without. First all of
 * them on a memory network and a virtual clock, then one real process whose 99 peers live in another, over loopback. Encrypted, in
 * memberlist's LAN timing. Prints, judges nothing: `node dist/bench/detector/cost.js [SECONDS]`
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { GossipDriver } from "../../src/gossip/driver.ts";
import type { WatchView } from "../../src/gossip/fast/fast-event.ts";
import type { Endpoint } from "../../src/gossip/message.ts";
import { parseIp } from "../../src/net/ip.ts";
import { formed } from "../../test/gossip/cluster.ts";
import { OurNode } from "../../test/interop/our-node.ts";

const NODES = 100;
const KEY = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const WARM_UP_MS = 5_000;
/** What runs a hundred times a second V8 has compiled only after a minute or two. */
const COMPILED_MS = 100_000;

const NAMES = Array.from({ length: NODES }, (_, index) => `n${index + 1}`);
/** Each leads, and the next one is second for it. */
const EVERYBODY_LEADS: WatchView = {
  leaders: NAMES.map((node, index) => ({ node, seconds: [NAMES[(index + 1) % NODES] ?? node] })),
  watchers: NAMES,
  goMembers: [],
  hasLink: true,
};

interface Cost {
  readonly sent: number;
  readonly received: number;
  readonly bytesSent: number;
  readonly processorMs: number;
}

/** Sums over drivers, and the processor time of this process. */
function costOf(drivers: readonly GossipDriver[]): Cost {
  const { user, system } = process.cpuUsage();
  const sum = (of: "datagramsSent" | "datagramsReceived" | "bytesSent"): number =>
    drivers.reduce((total, driver) => total + driver.counters()[of], 0);
  return {
    sent: sum("datagramsSent"),
    received: sum("datagramsReceived"),
    bytesSent: sum("bytesSent"),
    processorMs: (user + system) / 1_000,
  };
}

/** Per node and second. */
function difference(before: Cost, after: Cost, nodes: number, seconds: number): Cost {
  const per = (of: keyof Cost): number => (after[of] - before[of]) / nodes / seconds;
  return {
    sent: per("sent"),
    received: per("received"),
    bytesSent: per("bytesSent"),
    processorMs: per("processorMs"),
  };
}

function print(what: string, { sent, received, bytesSent, processorMs }: Cost): void {
  const cells = [sent.toFixed(0), received.toFixed(0), (bytesSent / 1_024).toFixed(1), (processorMs / 10).toFixed(2)];
  process.stdout.write(`${what.padEnd(44)}${cells.map((cell) => cell.padStart(10)).join("")}\n`);
}

function simulated(detectsFast: boolean, seconds: number): Cost {
  const cluster = formed(NODES, { detectsFast, key: Buffer.from(KEY, "hex") });
  const drivers = cluster.nodes.map(({ driver }) => driver);
  for (const driver of drivers) driver.command({ kind: "watch", view: EVERYBODY_LEADS });
  cluster.run(WARM_UP_MS);
  const before = costOf(drivers);
  cluster.run(seconds * 1_000);
  return difference(before, costOf(drivers), NODES, seconds);
}

async function startNode(index: number, peers: readonly Endpoint[]): Promise<OurNode> {
  const ip = parseIp(`127.0.75.${index + 1}`);
  if (ip === undefined) throw new Error("no address");
  return OurNode.start({ name: NAMES[index] ?? "", ip, key: KEY, peers, detectsFast: true });
}

/** The next message of another process. */
async function messageOf<Message>(other: ChildProcess | NodeJS.Process): Promise<Message> {
  const [message] = (await once(other, "message")) as [Message];
  return message;
}

/** In the process whose cost counts: the first node of all, without anybody who leads, then with all, and so once more. */
async function serveOneNode(): Promise<void> {
  const { peers, seconds } = await messageOf<{ peers: readonly Endpoint[]; seconds: number }>(process);
  const node = await startNode(0, peers);
  while (node.driver.members().length < NODES) await sleep(100);
  const measured = async (warmUpMs: number): Promise<Cost> => {
    await sleep(warmUpMs);
    const before = costOf([node.driver]);
    await sleep(seconds * 1_000);
    return difference(before, costOf([node.driver]), 1, seconds);
  };
  const goesOn = messageOf<object>(process);
  process.send?.(await measured(WARM_UP_MS));
  await goesOn;
  node.driver.command({ kind: "watch", view: EVERYBODY_LEADS });
  process.send?.(await measured(WARM_UP_MS));
  process.send?.(await measured(COMPILED_MS));
  process.exit();
}

async function real(seconds: number): Promise<void> {
  const first = await startNode(1, []);
  const others: OurNode[] = [first];
  for (let index = 2; index < NODES; index++) others.push(await startNode(index, [first.endpoint]));
  const child = fork(new URL(import.meta.url), ["one-node"]);
  child.send({ peers: [first.endpoint], seconds });
  print("one real node, nobody leads", await messageOf<Cost>(child));
  for (const { driver } of others) driver.command({ kind: "watch", view: EVERYBODY_LEADS });
  child.send({});
  print("one real node, all 100 lead, at first", await messageOf<Cost>(child));
  print("one real node, all 100 lead, 2 minutes later", await messageOf<Cost>(child));
  await Promise.all(others.map((node) => node.close()));
}

if (process.argv[2] === "one-node") await serveOneNode();
else {
  const seconds = Number(process.argv[2] ?? 20);
  process.stdout.write(
    `${"per node and second".padEnd(44)}${["sent", "received", "KiB sent", "% core"].map((cell) => cell.padStart(10)).join("")}\n`,
  );
  print("100 in memory, memberlist's detection alone", simulated(false, seconds));
  print("100 in memory, all 100 lead", simulated(true, seconds));
  await real(seconds);
  process.exit();
}
