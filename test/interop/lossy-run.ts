/**
 * Speakers and Go members, half and half, while a switch loses a share of all frames: whether anybody is held dead who is not, and how soon
 * one of each that is killed is gone for all. A member that is suspected and refutes it is memberlist as it is meant to be.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Lab } from "../../hack/netlab/lab.ts";
import { waitUntilReady } from "../../hack/netlab/status.ts";
import { MixedLab } from "./mixed-lab.ts";

export interface LossyRun {
  readonly ours: number;
  readonly theirs: number;
  /** How long frames were lost before anybody was killed. */
  readonly seconds: number;
  readonly percent: number;
  /** "who: whom", while all lived. */
  readonly falseVerdicts: readonly string[];
  /** Speakers that heard that they were held dead. */
  readonly deniedDeaths: readonly string[];
  /** What Go members logged as errors while all lived. */
  readonly errors: readonly string[];
  /** How often Go members suspected somebody while all lived. */
  readonly suspicions: number;
  /** The highest health score that any Go member had; 0 is good. */
  readonly worstScore: number;
  /** From the death of one of each until all others agreed on it, looked at four times a second; frames were lost still. */
  readonly goneMs: number;
  /** Verdicts after it about others than these two. */
  readonly falseVerdictsLater: readonly string[];
}

export interface LossyOptions {
  readonly seconds: number;
  readonly percent: number;
  /** Called now and then. */
  readonly progress?: (sentence: string) => void;
}

const PROGRESS_MS = 30_000;

/** On every node of the bare lab a member; the first half are speakers. Throws when they do not agree before or after. */
export async function runLossy(
  lab: Lab,
  program: string,
  { seconds, percent, progress }: LossyOptions,
): Promise<LossyRun> {
  const mixed = new MixedLab(lab, program);
  try {
    const { ours, theirs } = await startHalfAndHalf(mixed);
    progress?.(`${ours.length} speakers and ${theirs.length} Go members agree`);

    const before = noted(mixed);
    await mixed.faults.loseFrames(percent);
    const endMs = performance.now() + seconds * 1_000;
    for (let leftMs = seconds * 1_000; leftMs > 0; leftMs = endMs - performance.now()) {
      await pause(Math.min(PROGRESS_MS, leftMs));
      const { suspicions, verdicts } = since(before, noted(mixed));
      const leftS = Math.max(0, Math.round((endMs - performance.now()) / 1_000));
      progress?.(`${leftS} s left, ${suspicions} suspicions, verdicts: ${verdicts.join(", ") || "none"}`);
    }
    await mixed.agree();
    const calm = noted(mixed);
    const { verdicts: falseVerdicts, ...others } = since(before, calm);

    const victims = [ours.at(-1) ?? "", theirs.at(-1) ?? ""];
    const killedMs = performance.now();
    await Promise.all(victims.map((name) => mixed.kill(name)));
    await mixed.agree();
    const goneMs = Math.round(performance.now() - killedMs);
    const { verdicts } = since(calm, noted(mixed));
    const falseVerdictsLater = verdicts.filter((verdict) => !victims.some((name) => verdict.endsWith(`: ${name}`)));
    const sizes = { ours: ours.length, theirs: theirs.length, seconds, percent };
    return { ...sizes, falseVerdicts, ...others, worstScore: mixed.worstScore(), goneMs, falseVerdictsLater };
  } finally {
    await mixed.faults.repair();
    await mixed.close();
  }
}

/** One after the other: a machine on which all of them start at once has no time for any, and they hold each other dead for that. */
async function startHalfAndHalf(
  mixed: MixedLab,
): Promise<{ readonly ours: readonly string[]; readonly theirs: readonly string[] }> {
  const names = mixed.lab.topology.nodes.map(({ name }) => name);
  const half = Math.floor(names.length / 2);
  const [ours, theirs] = [names.slice(0, half), names.slice(half)];
  for (const name of ours) {
    mixed.startOurs(name);
    await waitUntilReady(mixed.lab, mixed.node(name));
  }
  for (const name of theirs) await mixed.startGoAndJoin(name);
  await mixed.agree();
  return { ours, theirs };
}

interface Noted {
  readonly verdicts: readonly string[];
  readonly deniedDeaths: readonly string[];
  readonly errors: readonly string[];
  readonly suspicions: number;
}

function noted(mixed: MixedLab): Noted {
  return {
    verdicts: mixed.verdicts(),
    deniedDeaths: mixed.deniedDeaths(),
    errors: mixed.errors(),
    suspicions: mixed.suspicions(),
  };
}

function since(before: Noted, now: Noted): Noted {
  return {
    verdicts: without(now.verdicts, before.verdicts),
    deniedDeaths: without(now.deniedDeaths, before.deniedDeaths),
    errors: without(now.errors, before.errors),
    suspicions: now.suspicions - before.suspicions,
  };
}

/** What is more often in the list than in the other. */
function without(list: readonly string[], other: readonly string[]): readonly string[] {
  const left = [...other];
  return list.filter((one) => {
    const at = left.indexOf(one);
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
}
