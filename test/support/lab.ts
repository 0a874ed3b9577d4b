/** Labs for tests: each `describe` that needs one has its own, under names that no other process uses. */
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { after, before } from "mocha";
import { SwitchFaults } from "../../hack/netlab/faults.ts";
import { createLab, destroyLab, findLab, type Lab, labNames, SPEAKER_BUNDLE } from "../../hack/netlab/lab.ts";
import { runCommand } from "../../hack/netlab/run-command.ts";
import { restartFresh } from "../../hack/netlab/run-drill.ts";
import { waitUntilSettled } from "../../hack/netlab/status.ts";
import { ADDRESSES, type Host } from "../../hack/netlab/topology.ts";
import type { Ip } from "../../src/net/ip.ts";
import { type Mac, parseMac } from "../../src/net/mac.ts";
import { beginTogether, type TogetherOptions } from "./begin-together.ts";
import { isAlive } from "./netns.ts";

export interface TestLab {
  readonly lab: Lab;
  readonly faults: SwitchFaults;
  /** The lab's node of that name. */
  readonly node: (name: string) => Host;
}

/** Agreeing: its speakers run, and name one leader for each address. Bare: none runs yet. */
type LabStart = "agreeing" | "bare";

/** Longer than a lab of three needs on a busy machine. */
const START_TIMEOUT_MS = 60_000;

/** Bursts are 1.1 s apart; one that a busy machine delays for another second still counts. */
const QUIET_MS = 2_500;

const PREFIX = "test-";
let labs = 0;
let leftOversRemoved: Promise<void> | undefined;

/**
 * A lab of that many nodes around the tests of the `describe` that calls. Its speakers run and agree, unless it is "bare".
 * Without root or bundle the tests are skipped, aloud.
 */
export function useLab(nodes: number, start: LabStart = "agreeing"): () => TestLab {
  let testLab: TestLab | undefined;
  before(async function () {
    this.timeout(START_TIMEOUT_MS);
    if (isWithoutLabs()) this.skip();
    testLab = await openLab(nodes, start);
  });
  after(async function () {
    this.timeout(START_TIMEOUT_MS);
    if (testLab !== undefined) await closeLab(testLab);
  });
  return () => {
    if (testLab === undefined) throw new Error("the lab is not up");
    return testLab;
  };
}

export interface OwnLabsOptions extends TogetherOptions {
  readonly nodes: number;
  readonly start: LabStart;
}

/** Tests that wait most of the time, each in a lab of its own: they run at the same time, one `it` for each, in this order. */
export function inOwnLabs(
  { nodes, start, ...options }: OwnLabsOptions,
  tests: Readonly<Record<string, (testLab: TestLab) => Promise<void>>>,
): void {
  before(function () {
    if (isWithoutLabs()) this.skip();
  });
  const bodies = Object.entries(tests).map(([name, body]) => {
    return [name, () => inNewLab(nodes, start, body)] as const;
  });
  beginTogether(Object.fromEntries(bodies), options);
}

async function inNewLab(nodes: number, start: LabStart, body: (testLab: TestLab) => Promise<void>): Promise<void> {
  const testLab = await openLab(nodes, start);
  try {
    await body(testLab);
  } finally {
    await closeLab(testLab);
  }
}

async function openLab(nodes: number, start: LabStart): Promise<TestLab> {
  leftOversRemoved ??= removeLeftOvers();
  await leftOversRemoved;
  const lab = await createLab(`${PREFIX}${process.pid}-${++labs}`, nodes);
  const testLab = { lab, faults: new SwitchFaults(lab.topology), node: (name: string) => nodeOf(lab, name) };
  if (start === "bare") return testLab;
  try {
    await restartFresh(lab, testLab.faults);
    return testLab;
  } catch (error) {
    await closeLab(testLab);
    throw error;
  }
}

async function closeLab({ faults, lab }: TestLab): Promise<void> {
  faults.close();
  await destroyLab(lab);
}

/** Labs of test processes that were killed; one with our own id was another's, for we have made none yet. */
async function removeLeftOvers(): Promise<void> {
  for (const name of labNames()) {
    const pid = Number(new RegExp(`^${PREFIX}(\\d+)-\\d+$`).exec(name)?.[1]);
    if (Number.isNaN(pid) || (pid !== process.pid && isAlive(pid))) continue;
    const lab = findLab(name);
    if (lab !== undefined) await destroyLab(lab);
  }
}

/** Says why, for a skipped test proves nothing. */
function isWithoutLabs(): boolean {
  const obstacle = obstacleToLabs();
  if (obstacle !== undefined) process.stdout.write(`    skipped: ${obstacle}\n`);
  return obstacle !== undefined;
}

function obstacleToLabs(): string | undefined {
  if (process.getuid?.() !== 0) return "network namespaces need root";
  return existsSync(SPEAKER_BUNDLE) ? undefined : "there is no bundled speaker: npm run bundle";
}

/** The MAC that the host's kernel has in its neighbour entry for the address. */
export async function neighbourOf(host: Host, address: Ip): Promise<Mac | undefined> {
  const text = await runCommand(["ip", "-n", host.namespace, "-j", "neigh", "show", address]);
  const [entry] = JSON.parse(text || "[]") as readonly { readonly lladdr?: string }[];
  return entry?.lladdr === undefined ? undefined : parseMac(entry.lladdr);
}

/** Until the five announcements that follow a change are over: what is heard afterwards was asked for. */
export async function waitForQuiet({ lab }: Pick<TestLab, "lab">): Promise<void> {
  const documents = await waitUntilSettled(lab, ADDRESSES, START_TIMEOUT_MS);
  const addresses = documents.flatMap((document) => document?.addresses ?? []);
  const newestMs = Math.max(...addresses.map(({ since, lastAnnouncement }) => Date.parse(lastAnnouncement ?? since)));
  await sleep(Math.max(0, newestMs + QUIET_MS - Date.now()));
  // Another came meanwhile, until none does.
  const again = await waitUntilSettled(lab, ADDRESSES, START_TIMEOUT_MS);
  const isQuiet = again
    .flatMap((document) => document?.addresses ?? [])
    .every(({ since, lastAnnouncement }) => Date.parse(lastAnnouncement ?? since) <= newestMs);
  if (!isQuiet) await waitForQuiet({ lab });
}

function nodeOf(lab: Lab, name: string): Host {
  const node = lab.topology.nodes.find((one) => one.name === name);
  if (node === undefined) throw new Error(`the lab has no node ${name}`);
  return node;
}
