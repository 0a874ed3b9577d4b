/**
 * The rule in force (DESIGN D5) while Go members come and go. One speaker was asked to step down, which MetalLB's rule knows nothing of:
 * so the address moves with each change of rule as well.
 */
import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { Instruments } from "../../hack/netlab/instruments.ts";
import { bothAnswerMs, measure } from "../../hack/netlab/measure.ts";
import { monotonicMs } from "../../hack/netlab/monotonic-ms.ts";
import { callSpeaker } from "../../hack/netlab/status.ts";
import { DRILL_ADDRESS, type Host } from "../../hack/netlab/topology.ts";
import { RULE_HOLD_MS } from "../../src/election/rule-in-force.ts";
import { GoAnnouncer } from "./go-announcer.ts";
import type { MixedLab } from "./mixed-lab.ts";
import { type Story, story } from "./stories.ts";

const PORT = 80;
const POLL_MS = 100;
const OVERLAP_MS = 1_000;
/** What a busy machine may be late, and `/status` be old. */
const LATE_MS = 2_000;
const TAKE_OVER_MS = 20_000;

interface Scene {
  readonly mixed: MixedLab;
  readonly instruments: Instruments;
  /** Five nodes by their rank for the address; the first and the last run Go members. */
  readonly ranked: readonly [Host, Host, Host, Host, Host];
  readonly announcers: GoAnnouncer[];
  /** When each step that moves the address began. */
  readonly steps: number[];
}

export function ruleInForceStory(makeLab: () => MixedLab): Story {
  return story("the rule in force while Go members come and go", () => beginWith(makeLab()), {
    "speakers alone follow arpeggio-1, and an address keeps clear of a node that steps down": async (scene) => {
      const { mixed, instruments, ranked } = scene;
      await expectRule(mixed, "arpeggio-1");
      await callSpeaker(mixed.lab, ranked[1], "POST", "/step-down");
      await leads(scene, ranked[2]);
      await instruments.begin(DRILL_ADDRESS, PORT, ranked[2].mac, ranked[2].name);
    },
    "a Go member comes: metallb-1, and the leader is who MetalLB's election says": async (scene) => {
      const { mixed, ranked, announcers } = begin(scene);
      const peer = await mixed.startGoAndJoin(ranked[0].name);
      announcers.push(new GoAnnouncer(peer, ranked[0], DRILL_ADDRESS));
      await mixed.agree();
      await expectRule(mixed, "metallb-1");
      await answers(scene, ranked[0]);
    },
    "another comes and the first one leaves: still metallb-1": async (scene) => {
      const { mixed, ranked, announcers } = begin(scene);
      await mixed.startGoAndJoin(ranked[4].name);
      await mixed.agree();
      await mixed.go(ranked[0].name).command("leave");
      await Promise.all([mixed.kill(ranked[0].name), announcers[0]?.end()]);
      await mixed.agree();
      await expectRule(mixed, "metallb-1");
      await answers(scene, ranked[1]);
    },
    "the last one leaves: 30 s later all follow arpeggio-1 again, within a second of each other": async (scene) => {
      const { mixed, ranked } = begin(scene);
      await mixed.go(ranked[4].name).command("leave");
      const leftMs = Date.now();
      await mixed.kill(ranked[4].name);
      await mixed.agree();
      await expectRule(mixed, "metallb-1");
      const sinceMs = await backToOurs(mixed, leftMs);
      for (const ms of sinceMs) expect(ms - leftMs).to.be.within(RULE_HOLD_MS - LATE_MS, RULE_HOLD_MS + LATE_MS);
      expect(Math.max(...sinceMs) - Math.min(...sinceMs)).to.be.at.most(OVERLAP_MS);
      await answers(scene, ranked[2]);
    },
    "never did two answer together for more than a second, and no request went unanswered": async (scene) => {
      const { instruments, ranked, steps } = scene;
      const noted = await instruments.finish();
      const [deedMs = 0] = steps;
      const figures = measure({ deedMs, oldNode: ranked[2].name, oldMac: ranked[2].mac, ...noted });
      expect(figures.lost).to.equal(0);
      expect(figures.macs).to.have.members([ranked[0].mac, ranked[1].mac, ranked[2].mac]);
      // One move each.
      const overlaps = steps.map((fromMs, step) =>
        bothAnswerMs(noted.frames.filter(({ atMs }) => atMs >= fromMs && atMs < (steps[step + 1] ?? Infinity))),
      );
      for (const overlapMs of overlaps) expect(overlapMs).to.be.at.most(OVERLAP_MS);
    },
  });
}

async function beginWith(mixed: MixedLab): Promise<Scene> {
  const ranked = byRank(mixed.lab.topology.nodes);
  for (const { name } of ranked.slice(1, 4)) mixed.startOurs(name);
  await mixed.agree();
  const instruments = new Instruments(mixed.lab.topology);
  mixed.whenClosed(() => instruments.close());
  return { mixed, instruments, ranked, announcers: [], steps: [] };
}

function begin(scene: Scene): Scene {
  scene.steps.push(monotonicMs());
  return scene;
}

function rankOf({ name }: Host): string {
  return createHash("sha256").update(`${name}#${DRILL_ADDRESS}`).digest("hex");
}

function byRank(nodes: readonly Host[]): Scene["ranked"] {
  const [a, b, c, d, e] = nodes.toSorted((one, other) => (rankOf(one) < rankOf(other) ? -1 : 1));
  if (a === undefined || b === undefined || c === undefined || d === undefined || e === undefined)
    throw new Error("the story needs five nodes");
  return [a, b, c, d, e];
}

async function expectRule(mixed: MixedLab, rule: string): Promise<void> {
  const statuses = await mixed.statuses();
  expect(statuses.map(({ election }) => election.rule)).to.deep.equal([rule, rule, rule]);
}

/** Until every speaker names this node. */
async function leads({ mixed }: Scene, node: Host): Promise<void> {
  const endMs = monotonicMs() + TAKE_OVER_MS;
  for (;;) {
    const statuses = await mixed.statuses();
    const leaders = statuses.map(({ addresses }) => addresses.find(({ address }) => address === DRILL_ADDRESS)?.leader);
    if (leaders.length === 3 && leaders.every((leader) => leader === node.name)) return;
    if (monotonicMs() > endMs) throw new Error(`${node.name} ought to lead, and the speakers name ${leaders.join()}`);
    await pause(POLL_MS);
  }
}

/** Until this node has taken over from another and answers probes and requests. */
async function answers({ instruments, steps: [deedMs = 0] }: Scene, node: Host): Promise<void> {
  const probe = await instruments.waitForProbeAnswer(
    ({ mac, atMs }) => mac === node.mac && atMs >= deedMs,
    TAKE_OVER_MS,
  );
  const reply = await instruments.waitForReply((one) => one.node === node.name && one.atMs >= deedMs, TAKE_OVER_MS);
  expect(probe, `${node.name} answers probes`).to.not.equal(undefined);
  expect(reply, `${node.name} answers requests`).to.not.equal(undefined);
}

/** Since when each follows arpeggio-1, by wall time. */
async function backToOurs(mixed: MixedLab, leftMs: number): Promise<readonly number[]> {
  for (;;) {
    const statuses = await mixed.statuses();
    if (statuses.length === 3 && statuses.every(({ election }) => election.rule === "arpeggio-1"))
      return statuses.map(({ election }) => Date.parse(election.since));
    if (Date.now() - leftMs > RULE_HOLD_MS + TAKE_OVER_MS) throw new Error("metallb-1 is in force for ever");
    await pause(POLL_MS);
  }
}
