/**
 * Ten thousand addresses are decided in many turns, by every node at its own pace. What a node decides in one turn is known to the
 * others only after theirs: in planned moves somebody answers all the time all the same, and in the end all have decided alike.
 */
import { expect } from "chai";
import { type Ip, parseIp } from "../../src/net/ip.ts";
import { parsePrefix } from "../../src/net/prefix.ts";
import { initialSnapshot, type ServicePlan, withNode } from "./cluster.ts";
import { speakerTenant } from "./speaker-tenant.ts";
import type { StartTenant } from "./tenant.ts";
import type { Answerer } from "./witness.ts";
import { World } from "./world.ts";
import { planOf } from "./world-plan.ts";

const ADDRESSES = 10_000;
/** So many are looked at from outside; the others are moved as well. */
const OBSERVED = 200;
/** RFC 2544 */
const POOL = "198.18.0.0/15";
/**
 * From one turn with decisions to the next: of a machine on which a turn takes 2 to 3 ms (bench/README.md, 10,000 Services), and of two that
 * are slower or do other things as well.
 */
const TURN_MS: Readonly<Record<string, number>> = { n1: 2, n2: 4, n3: 6 };
/** As invariant 5 has it, and one turn of the slowest. */
const OVERLAP_MS = 50 + 6;

const startPaced: StartTenant = (ports) =>
  speakerTenant({
    speaker: ({ council, gossip }, { clock }) => {
      if (gossip === undefined) return;
      const afterDrain = gossip.afterDrain.bind(gossip);
      gossip.afterDrain = (callback) => {
        if (!council.isDeciding) return afterDrain(callback);
        clock.schedule(TURN_MS[ports.name] ?? 0, () => afterDrain(callback));
      };
    },
  })(ports);

function planOfMany() {
  const plan = planOf({ nodes: 3, services: 1, closeLookMs: 10 });
  const services = Array.from({ length: ADDRESSES }, (_, index): ServicePlan => {
    const address = parseIp(`198.18.${index >> 8}.${index & 255}`) as Ip;
    return { name: `s${index}`, addresses: [address], policy: "Cluster", isShared: false, endpoints: plan.nodes };
  });
  const observed = services.filter((_, index) => index % (ADDRESSES / OBSERVED) === 0);
  return { ...plan, services: observed, snapshot: initialSnapshot({ nodes: plan.nodes, services, pools: [POOL] }) };
}

/** Who answers for each address, and the longest time in which two did, or nobody. */
class Watcher {
  readonly leaders = new Map<Ip, string>();
  readonly #since = new Map<Ip, { readonly count: number; readonly atMs: number }>();
  longestOverlapMs = 0;
  longestGapMs = 0;
  moves = 0;

  answered(atMs: number, ip: Ip, answerers: readonly Answerer[]): void {
    const count = answerers.length;
    const [only] = answerers;
    if (count === 1 && only !== undefined) {
      const before = this.leaders.get(ip);
      if (before !== undefined && before !== only.node) this.moves++;
      this.leaders.set(ip, only.node);
    }
    const since = this.#since.get(ip);
    if (since?.count !== count) this.#since.set(ip, { count, atMs });
    // Before the first answer there is nothing to hand over.
    if (since === undefined || !this.leaders.has(ip)) return;
    if (since.count > 1) this.longestOverlapMs = Math.max(this.longestOverlapMs, atMs - since.atMs);
    if (count === 0) this.longestGapMs = Math.max(this.longestGapMs, atMs - since.atMs, Number.MIN_VALUE);
  }

  forget(): void {
    this.longestOverlapMs = this.longestGapMs = this.moves = 0;
  }
}

describe("simulation: ten thousand addresses", function () {
  this.timeout(600_000);
  const world = new World(planOfMany(), startPaced);
  const watcher = new Watcher();

  before("all have met and settled", () => {
    const held = parsePrefix(POOL) ?? expect.fail(POOL);
    for (const card of world.machines.flatMap(({ cards }) => cards)) card.prefixes = [...card.prefixes, held];
    world.witnesses.push(watcher);
    for (const machine of world.machines) world.start(machine);
    world.run(40_000);
    expect(new Set(watcher.leaders.values())).to.have.lengthOf(3);
    expect(watcher.leaders.size).to.equal(OBSERVED);
  });

  beforeEach(() => watcher.forget());

  function expectPlannedMove(): void {
    expect(watcher.moves, "addresses that moved").to.be.above(OBSERVED / 6);
    expect(watcher.longestGapMs, "time without an answerer").to.equal(0);
    expect(watcher.longestOverlapMs, "time with two of them").to.be.at.most(OVERLAP_MS);
  }

  function expectOneMind(): void {
    const views = world.machines.flatMap(({ tenant }) => tenant?.view() ?? []);
    const [first, ...others] = views.map(({ decisions }) => decisions.map(({ whole }) => whole).join("\n"));
    expect(first).to.be.a("string");
    for (const other of others) expect(other === first, "all decide alike").to.equal(true);
    const [view] = views;
    for (const { key, leader } of view?.decisions ?? []) {
      const answerer = watcher.leaders.get(key);
      if (answerer !== undefined) expect(answerer).to.equal(leader);
    }
  }

  function cordon(name: string, isOn: boolean): void {
    world.change(
      "cordon",
      (snapshot) => withNode(snapshot, name, (node) => ({ ...node, isUnschedulable: isOn })),
      () => 10,
    );
  }

  for (const name of ["n3"]) {
    it(`moves those of ${name} when it is cordoned, and none is without an answerer`, () => {
      cordon(name, true);
      world.run(world.clock.nowMs() + 10_000);
      expectPlannedMove();
      expect([...watcher.leaders.values()]).not.to.include(name);
      expectOneMind();
    });

    it(`moves them back to ${name} when it is uncordoned`, () => {
      cordon(name, false);
      world.run(world.clock.nowMs() + 10_000);
      expectPlannedMove();
      expectOneMind();
    });
  }

  it("hands over those of a node that ends, before it ends", () => {
    const leaving = world.machine("n2");
    leaving.leave();
    world.run(world.clock.nowMs() + 10_000);
    expect(leaving.isRunning).to.equal(false);
    expectPlannedMove();
    expectOneMind();
  });
});
