/** Named mixtures of worlds and faults; a seed draws one world and a random subset of the faults (swarm testing). */
import { type Random, shuffled } from "../../src/base/random.ts";
import type { Fault } from "./fault.ts";
import { bigFloodFault, kernelFault, proxyArpFault, strangerFault } from "./faults-claimants.ts";
import { cordonFault, endpointFault, excludeFault, linkFault } from "./faults-cluster.ts";
import { keyRotationFault } from "./faults-keys.ts";
import { isolationFault, leaderFreezeFault, leaderHostFault, leaderProcessFault } from "./faults-leader.ts";
import { metallbFault } from "./faults-mixed.ts";
import {
  burstLossFault,
  constantCutFault,
  cutFault,
  lossFault,
  mildLossFault,
  reorderFault,
} from "./faults-network.ts";
import { serviceFault, waveFault } from "./faults-objects.ts";
import {
  clockFault,
  crashFault,
  freezeFault,
  mildStallFault,
  seenFreezeFault,
  stallFault,
  terminateFault,
} from "./faults-process.ts";
import { flapFault, manyLinksFault, sendErrorFault } from "./faults-sending.ts";
import { floodFault, garbageFault } from "./faults-strangers.ts";
import { leaderCutFault } from "./faults-strict.ts";
import { apiLagFault, fileEditFault } from "./faults-views.ts";
import type { PlanLimits } from "./world-plan.ts";

export interface Scenario {
  readonly name: string;
  readonly limits: PlanLimits;
  readonly faults: readonly Fault[];
  /** Faults drawn per run, at most; one kind may be drawn several times. */
  readonly mostFaults: number;
  /** Nobody vanishes and nothing is lost: invariant 5 is judged throughout. */
  readonly isPlannedOnly: boolean;
  /**
   * What is judged beside the rest: 4 every failover, 6 nothing may move, 12 nobody's view of others may change; 10 in place of the rest:
   * how often something moves while a cut lasts; 9 in place of all that
   * wants equal views: views differ for good; 17 that strict addresses are; 14 in place of all that
   * wants our own rule: MetalLB's speakers, or ours that follow its rule, are members.
   */
  readonly judges?: 4 | 6 | 9 | 10 | 12 | 14 | 17;
  /** How long faults may be active. */
  readonly activeMs: number;
  /** One seed in `oneIn` (1, 1 + oneIn, …) is as large or lasts as long as the promise says; the others less, so that many are seen. */
  readonly whole?: { readonly oneIn: number; readonly limits?: PlanLimits; readonly activeMs?: number };
}

/** Everybody has started (2 s) and settled (10 s) when faults begin. */
export const FAULTS_FROM_MS = 13_000;

/** Most faults show in small worlds, which are cheap: in the time of a big one, many are seen. */
const SMALL: PlanLimits = { nodes: [3, 3, 3, 3, 3, 3, 5, 5, 7], services: [1, 1, 1, 2, 2, 4, 10], closeLookMs: 50 };
/** Where more nodes and addresses make more of what is looked for. */
const WIDER: PlanLimits = { nodes: [3, 3, 3, 5, 5, 7], services: [1, 1, 2, 4, 10], closeLookMs: 50 };

export const SCENARIOS: readonly Scenario[] = [
  {
    name: "planned",
    // An overlap of 50 ms is to be seen.
    limits: { ...SMALL, closeLookMs: 10 },
    faults: [cordonFault, cordonFault, excludeFault, endpointFault, terminateFault([10_000]), clockFault],
    mostFaults: 6,
    isPlannedOnly: true,
    activeMs: 25_000,
  },
  {
    name: "crash",
    limits: SMALL,
    faults: [crashFault, crashFault, freezeFault, stallFault, garbageFault, terminateFault([0, 2_000, 10_000])],
    mostFaults: 4,
    isPlannedOnly: false,
    activeMs: 17_000,
  },
  {
    name: "network",
    limits: SMALL,
    faults: [lossFault, mildLossFault, burstLossFault, reorderFault, cutFault, cutFault, clockFault, mildStallFault],
    mostFaults: 4,
    isPlannedOnly: false,
    activeMs: 17_000,
  },
  {
    name: "links",
    limits: WIDER,
    faults: [linkFault, linkFault, cordonFault, mildStallFault],
    mostFaults: 4,
    isPlannedOnly: false,
    activeMs: 17_000,
  },
  {
    name: "swarm",
    limits: SMALL,
    faults: [
      lossFault,
      burstLossFault,
      reorderFault,
      garbageFault,
      floodFault,
      cutFault,
      crashFault,
      freezeFault,
      stallFault,
      clockFault,
      linkFault,
      cordonFault,
      excludeFault,
      endpointFault,
      terminateFault([0, 2_000, 10_000]),
    ],
    mostFaults: 6,
    isPlannedOnly: false,
    activeMs: 17_000,
  },
  {
    name: "failover",
    limits: { ...SMALL, closeLookMs: 10 },
    faults: [leaderProcessFault, leaderHostFault, leaderFreezeFault],
    mostFaults: 3,
    isPlannedOnly: false,
    judges: 4,
    activeMs: 32_000,
  },
  {
    name: "steady",
    limits: SMALL,
    faults: [mildLossFault, mildLossFault, reorderFault, mildStallFault, mildStallFault, clockFault],
    mostFaults: 6,
    isPlannedOnly: false,
    judges: 6,
    activeMs: 25_000,
  },
  {
    name: "isolated",
    limits: SMALL,
    faults: [isolationFault],
    mostFaults: 1,
    isPlannedOnly: false,
    judges: 12,
    activeMs: 10_000,
  },
  {
    name: "cut",
    // Of three nodes no two can miss a leader that a third hears.
    limits: { nodes: [3, 5, 5, 5, 5], services: [1, 1, 2], closeLookMs: 50 },
    faults: [constantCutFault],
    mostFaults: 1,
    isPlannedOnly: false,
    judges: 10,
    // Verdicts, refutations, rejoins and what follows from them come in its first 45 seconds; no more than three moves are promised in ten.
    activeMs: 45_000,
    whole: { oneIn: 60, activeMs: 600_000 },
  },
  {
    name: "views",
    limits: WIDER,
    faults: [apiLagFault, apiLagFault, fileEditFault, fileEditFault, cordonFault, mildLossFault],
    mostFaults: 5,
    isPlannedOnly: false,
    judges: 9,
    activeMs: 28_000,
  },
  {
    name: "sticky",
    limits: { ...SMALL, hasSticky: true },
    faults: [
      crashFault,
      crashFault,
      cordonFault,
      linkFault,
      endpointFault,
      isolationFault,
      mildLossFault,
      cutFault,
      freezeFault,
      terminateFault([0, 10_000]),
    ],
    mostFaults: 5,
    isPlannedOnly: false,
    activeMs: 40_000,
  },
  {
    name: "strict",
    limits: { ...SMALL, closeLookMs: 10, isStrict: true },
    faults: [
      lossFault,
      burstLossFault,
      reorderFault,
      cutFault,
      cutFault,
      leaderCutFault,
      leaderCutFault,
      crashFault,
      seenFreezeFault,
      stallFault,
      clockFault,
      cordonFault,
      excludeFault,
      terminateFault([0, 2_000, 10_000]),
    ],
    mostFaults: 6,
    isPlannedOnly: false,
    judges: 17,
    activeMs: 20_000,
  },
  {
    name: "changes",
    limits: SMALL,
    faults: [
      waveFault,
      serviceFault,
      serviceFault,
      endpointFault,
      cordonFault,
      sendErrorFault,
      sendErrorFault,
      flapFault,
      manyLinksFault,
      strangerFault,
      proxyArpFault,
      bigFloodFault,
      kernelFault,
    ],
    mostFaults: 6,
    isPlannedOnly: false,
    activeMs: 17_000,
  },
  {
    name: "keys",
    limits: { ...SMALL, keyPace: 20 },
    // One that is read first is sent with last: three minutes later (src/gossip/key-rotation.ts), or twenty times as soon.
    faults: [keyRotationFault],
    mostFaults: 1,
    isPlannedOnly: false,
    judges: 6,
    activeMs: 13_500,
    whole: { oneIn: 60, limits: { ...SMALL, keyPace: 1 }, activeMs: 270_000 },
  },
  {
    name: "mixed",
    limits: { ...SMALL, isMixed: true },
    faults: [metallbFault, metallbFault, crashFault, waveFault, endpointFault, excludeFault, mildLossFault],
    mostFaults: 4,
    isPlannedOnly: false,
    judges: 14,
    activeMs: 20_000,
  },
  {
    name: "large",
    // More members than any of the rest has, at a hundredth of the price of 30.
    limits: { nodes: [8, 9], services: [1], closeLookMs: 200 },
    faults: [cordonFault, crashFault, terminateFault([10_000]), linkFault],
    mostFaults: 3,
    isPlannedOnly: false,
    activeMs: 10_000,
    whole: { oneIn: 300, limits: { nodes: [30], services: [100], closeLookMs: 200 } },
  },
];

export function isWhole({ whole }: Scenario, seed: number): boolean {
  return whole !== undefined && seed % whole.oneIn === 1;
}

/** What the scenario is in this seed. */
export function inSeed(scenario: Scenario, seed: number): Scenario {
  const { whole } = scenario;
  if (whole === undefined || !isWhole(scenario, seed)) return scenario;
  const { limits = scenario.limits, activeMs = scenario.activeMs } = whole;
  return { ...scenario, limits, activeMs };
}

export function scenarioOf(name: string): Scenario | undefined {
  return SCENARIOS.find((scenario) => scenario.name === name);
}

/** A subset of the kinds first, then draws from it: some kinds together, others absent, differently in every run. */
export function drawFaults(scenario: Scenario, random: Random): readonly Fault[] {
  const kinds = shuffled(scenario.faults, random).slice(0, 1 + random.below(scenario.faults.length));
  const count = 1 + random.below(scenario.mostFaults);
  return Array.from({ length: count }, () => kinds[random.below(kinds.length)]).filter((fault) => fault !== undefined);
}
