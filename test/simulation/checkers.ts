/** Which invariants are judged in a world, and what they may ask of it. */
import { isSameList } from "../../src/base/same-list.ts";
import type { Ip } from "../../src/net/ip.ts";
import { Agreement } from "./agreement.ts";
import { CutMoveChecker } from "./check-cut.ts";
import { FailoverChecker } from "./check-failover.ts";
import { FenceChecker } from "./check-fence.ts";
import { LeaderChecker } from "./check-leader.ts";
import { MessageChecker } from "./check-messages.ts";
import { MixedChecker } from "./check-mixed.ts";
import { MoveChecker } from "./check-moves.ts";
import { OrphanChecker } from "./check-orphans.ts";
import { OverlapChecker } from "./check-overlap.ts";
import { PlannedMoveChecker } from "./check-planned.ts";
import { RateChecker } from "./check-rates.ts";
import { SilenceChecker } from "./check-silence.ts";
import { SteadyChecker } from "./check-steady.ts";
import { StickyChecker } from "./check-sticky.ts";
import { StrictChecker } from "./check-strict.ts";
import { TruthChecker } from "./check-truth.ts";
import { UnitChecker } from "./check-units.ts";
import { VerdictChecker } from "./check-verdicts.ts";
import { ViewChecker } from "./check-views.ts";
import { WireOrderChecker } from "./check-wire.ts";
import { WordChecker } from "./check-words.ts";
import type { Machine } from "./machine.ts";
import { FAULTS_FROM_MS, type Scenario } from "./scenario.ts";
import type { TenantView } from "./tenant.ts";
import { claimsIn, isUserMessage } from "./user-messages.ts";
import type { Findings } from "./witness.ts";
import type { World } from "./world.ts";

/** A node that may not lead any more has heard so, and everybody else too, within a delivery (200 ms) and the API's 10 s. */
const STOP_WINDOW_MS = 11_000;
/** One seed in so many waits for the longest that agreeing may take, be it agreed already: what comes late is seen there. */
const WAITS_LONGEST = 30;

export function installCheckers(world: World, scenario: Scenario, findings: Findings): void {
  const { judges } = scenario;
  if (judges === 14) return installMixedCheckers(world, findings);
  // A cut that lasts is the only fault of such a world, and views stay apart as long.
  if (judges === 10) return world.witnesses.push(new CutMoveChecker(() => world.calm.isDisturbed, findings));
  const settledFromMs = () => (world.pendingDeliveries > 0 || judges === 9 ? undefined : world.calm.settledFromMs());
  const leader = new LeaderChecker(
    { machines: world.machines, snapshot: () => world.snapshot, nowMs: () => world.clock.nowMs(), settledFromMs },
    findings,
  );
  if (judges !== 9 && world.plan.seed % WAITS_LONGEST !== 0) {
    world.witnesses.push(
      new Agreement({
        machines: world.machines,
        isDelivering: () => world.pendingDeliveries > 0,
        agreed: (atMs) => world.calm.agreed(atMs),
        disagreed: () => world.calm.disagreed(),
      }),
    );
  }
  let lastStopMs = Number.NEGATIVE_INFINITY;
  world.witnesses.push({
    disturbed: (atMs, what, kind) => {
      if (kind === "contradicted" || what.startsWith("endpoints")) lastStopMs = atMs;
    },
  });
  const planned = new PlannedMoveChecker(
    {
      isBegun: (atMs) => atMs >= FAULTS_FROM_MS,
      hasCandidate: (ip: Ip) => leader.hasCandidate(ip),
      mayStop: (atMs) => atMs - lastStopMs < STOP_WINDOW_MS,
    },
    findings,
  );
  const views = new ViewChecker(
    {
      machines: world.machines,
      reunitedFromMs: () => world.calm.reunitedFromMs(),
      isSettled: () => (settledFromMs() ?? Number.POSITIVE_INFINITY) <= world.clock.nowMs(),
      claimsIn,
    },
    findings,
  );
  const viewsText = new ViewsText(world.machines);
  const silence = new SilenceChecker(
    {
      settledFromMs,
      views: () => viewsText.read(),
      carriesUserMessage: isUserMessage,
      mayContest: () => judges === 9 || judges === 17 || world.calm.isReaddressing(world.clock.nowMs()),
      needsLease: judges === 17,
    },
    findings,
  );
  const wire = new WireOrderChecker(
    {
      isPlannedOnly: () => scenario.isPlannedOnly && world.clock.nowMs() >= FAULTS_FROM_MS,
      claimsIn,
      addresses: world.addresses.length,
    },
    findings,
  );
  const overlap = new OverlapChecker(() => world.calm.connectedFromMs(), findings);
  world.witnesses.push(leader, views, silence, wire, overlap);
  world.witnesses.push(
    new VerdictChecker(world.machines, findings, (one, other) => areApart(world, one, other)),
    new FenceChecker(world.machines, findings),
  );
  world.witnesses.push(new MessageChecker(new Set(world.plan.nodes), findings));
  const isSettled = () => (settledFromMs() ?? Number.POSITIVE_INFINITY) <= world.clock.nowMs();
  const { machines } = world;
  world.witnesses.push(
    new WordChecker(machines, findings),
    new RateChecker({ machines, isSettled }, findings),
    new TruthChecker({ machines, addresses: new Set(world.addresses), isSettled }, findings),
    new UnitChecker({ machines, snapshot: () => world.snapshot }, findings),
  );
  if (scenario.limits.hasSticky === true) world.witnesses.push(new StickyChecker({ machines, isSettled }, findings));
  if (scenario.isPlannedOnly) world.witnesses.push(planned);
  if (judges === 9) {
    const rules = { machines: world.machines, connectedFromMs: () => world.calm.connectedFromMs() };
    world.witnesses.push(new OrphanChecker(rules, findings));
  }
  if (judges === 4 || judges === 9) world.witnesses.push(new MoveChecker(() => world.lastInputMs, findings));
  if (judges === 4) {
    world.witnesses.push(new FailoverChecker({ hasCandidate: (ip) => leader.hasCandidate(ip) }, findings));
  }
  if (judges === 17) world.witnesses.push(new StrictChecker({ machines, network: world.network }, findings));
  if (judges === 6 || judges === 12) {
    const rules = {
      machines: world.machines,
      isBegun: (atMs: number) => atMs >= FAULTS_FROM_MS,
      isolated: () => world.isolated,
      invariant: judges,
    };
    world.witnesses.push(new SteadyChecker(rules, findings));
  }
}

/** What is asked of speakers that follow MetalLB's rule; gaps and overlaps of its kind are not judged. */
function installMixedCheckers(world: World, findings: Findings): void {
  const { machines, plan } = world;
  const isSettled = () =>
    world.pendingDeliveries === 0 && (world.calm.settledFromMs() ?? Number.POSITIVE_INFINITY) <= world.clock.nowMs();
  const speakers = machines.filter(({ name }) => !plan.metallb.has(name));
  world.witnesses.push(
    new MixedChecker({ ...plan, machines, snapshot: () => world.snapshot, isSettled }, findings),
    new MessageChecker(new Set(speakers.map(({ name }) => name)), findings),
    new FenceChecker(speakers, findings),
  );
}

function areApart({ network }: World, one: string, other: string): boolean {
  return ["udp", "tcp"].some(
    (kind) => network.cuts.has(`${one}>${other}:${kind}`) || network.cuts.has(`${other}>${one}:${kind}`),
  );
}

/** What all nodes hold, as text; the same one as long as nothing of it has changed. */
class ViewsText {
  readonly #machines: readonly Machine[];
  #seen: readonly unknown[] = [];
  #text = "";

  constructor(machines: readonly Machine[]) {
    this.#machines = machines;
  }

  read(): string {
    const seen = this.#machines.flatMap((machine) => [
      machine.view(),
      ...machine.cards.flatMap(({ mac, index, hasCarrier }) => [mac, index, hasCarrier]),
    ]);
    if (isSameList(seen, this.#seen)) return this.#text;
    this.#seen = seen;
    this.#text = this.#machines.map(viewOf).join(";");
    return this.#text;
  }
}

function viewOf(machine: Machine): string {
  const view = machine.view();
  if (view === undefined) return machine.name;
  const links = machine.cards.map(({ mac, index, hasCarrier }) => `${mac} ${index} ${hasCarrier}`);
  return [machine.name, heldText(view), ...links].join(",");
}

const HELD_TEXTS = new WeakMap<TenantView, string>();

function heldText(view: TenantView): string {
  const known = HELD_TEXTS.get(view);
  if (known !== undefined) return known;
  const members = view.members.map(({ name, state, incarnation, meta }) => `${name} ${state} ${incarnation} ${meta}`);
  const text = [...members, ...view.decisions.map(({ leader }) => leader ?? "nobody")].join(",");
  HELD_TEXTS.set(view, text);
  return text;
}
