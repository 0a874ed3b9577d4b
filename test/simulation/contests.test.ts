/** Stories of two that hold themselves elected, each with what the speakers did wrong in it: whose claim stands, and how soon. */
import { expect } from "chai";
import { withNode, withOnlyNode } from "./cluster.ts";
import { isUnsolicited } from "./frames.ts";
import type { Machine } from "./machine.ts";
import { leaderOf, ledAddress, settledWorld } from "./settled-world.ts";
import { speakerTenant } from "./speaker-tenant.ts";
import { isUserMessage } from "./user-messages.ts";
import { World } from "./world.ts";
import { planOf } from "./world-plan.ts";

/** Long after each story has ended. */
const NEVER_MS = 1e9;

describe("simulation: stories of contests", () => {
  it("of two that take an address over at the same instant one stops within 50 ms", () => {
    // The first claimed from the old leader; the second never knew that the first had answered, and claimed nothing from it.
    const { world, heard, overlapsMs } = settledWorld(7, 10);
    const cordonAll = (isOn: boolean, lagMs: (machine: Machine) => number) =>
      world.change(
        isOn ? "cordon" : "uncordon",
        (snapshot) =>
          world.machines.reduce(
            (next, { name }) => withNode(next, name, (node) => ({ ...node, isUnschedulable: isOn })),
            snapshot,
          ),
        lagMs,
      );
    const before = new Map(heard);
    for (let round = 0; round < 10; round++) {
      cordonAll(true, ({ name }) => Number(name.slice(1)) * 50);
      world.run(world.clock.nowMs() + 3_000);
      // Everybody hears of the end within less than a datagram takes.
      cordonAll(false, ({ name }) => 10 + Number(name.slice(1)) * 0.04);
      world.run(world.clock.nowMs() + 3_000);
    }
    expect(Math.max(0, ...overlapsMs.values())).to.be.at.most(50);
    expect(new Map(heard)).to.deep.equal(before);
  }).timeout(120_000);

  it("a leader that lost to a fresher view does not come back when the winner cannot say any more how fresh its view is", () => {
    // Unknown compared as not comparable, and the better hash won after all: there and back within a second.
    const { world, heard, ip, other } = ledAddress();
    world.change(
      "only one node may lead",
      (snapshot) => withOnlyNode(snapshot, other.name),
      ({ name }) => (name === other.name ? 0 : NEVER_MS),
    );
    world.run(20_500);
    expect(heard.get(ip)).to.deep.equal([other.name]);
    // A kind that is listed anew has no revision: its claim is of before, its answers to the loser's questions are of after.
    world.edit(other, (snapshot) => ({ ...snapshot }));
    world.run(40_000);
    expect(heard.get(ip)).to.deep.equal([other.name]);
  }).timeout(120_000);

  it("of two that both hold themselves elected for a sticky address by views that differ for good one answers, and no term follows", () => {
    // Each learned of the other's term and took the address in the next one, as often as records came.
    const { world, heard, ip, old, other } = ledAddress({ isSticky: true });
    const termOf = (machine: Machine): number => machine.tenant?.view().holders.get(ip)?.[0]?.term ?? 0;
    let bursts = 0;
    world.witnesses.push({ sent: (_atMs, _machine, _card, frame) => void (bursts += Number(isUnsolicited(frame))) });
    world.edit(other, (snapshot) => withOnlyNode(snapshot, other.name));
    world.edit(old, (snapshot) => withOnlyNode(snapshot, old.name));
    world.run(30_000);
    expect(heard.get(ip)).to.have.length(1);
    const terms = world.machines.map(termOf);
    bursts = 0;
    world.run(90_000);
    expect(heard.get(ip)).to.have.length(1);
    expect(world.machines.map(termOf)).to.deep.equal(terms);
    expect(bursts).to.equal(0);
  }).timeout(120_000);

  it("a sticky address goes where the newer objects want it, and comes not back to who has not read them yet", () => {
    // The claim said how new the objects before were; and the loser took the address back in the term after the winner's.
    const { world, other } = ledAddress({ isSticky: true });
    world.change(
      "only one node may lead",
      (snapshot) => withOnlyNode(snapshot, other.name),
      ({ name }) => (name === other.name ? 0 : 2_000),
    );
    const later: string[] = [];
    world.witnesses.push({
      answered: (atMs, _ip, answerers) => {
        if (atMs > 20_300) later.push(...answerers.map(({ node }) => node));
      },
    });
    world.run(30_000);
    expect(new Set(later)).to.deep.equal(new Set([other.name]));
  }).timeout(120_000);

  it("of two that take an address from a third, one by older and one by newer objects, one stops within 50 ms", () => {
    // Neither knew of the other; who heard the other's announcement waited 200 ms for news of its own before it claimed.
    const { world, heard, overlapsMs } = settledWorld(3, 1);
    const [ip] = world.addresses;
    if (ip === undefined) throw new Error("no address");
    const old = leaderOf(world, heard, ip);
    const [first, second] = world.machines.filter((machine) => machine !== old);
    if (first === undefined || second === undefined) throw new Error("no others");
    const onlyNode = ({ name }: Machine, othersLagMs: number): void =>
      world.change(
        `only ${name} may lead`,
        (snapshot) => withOnlyNode(snapshot, name),
        (machine) => (machine.name === name ? 0 : othersLagMs),
      );
    onlyNode(first, NEVER_MS);
    world.run(20_040);
    expect(heard.get(ip)).to.deep.equal([first.name]);
    onlyNode(second, 190);
    world.run(20_150);
    expect(heard.get(ip)).to.deep.equal([second.name]);
    world.run(30_000);
    expect(heard.get(ip)).to.deep.equal([second.name]);
    expect(Math.max(0, ...overlapsMs.values())).to.be.at.most(50);
  }).timeout(120_000);

  it("an address that newer objects moved does not go back while it is handed on to a node that has not read them", () => {
    // Asked by the one before, which waits for its word, the one that handed it on said that the address was free.
    const { world, heard, ip, old } = ledAddress();
    const [, next, last] = (old.tenant?.view().decisions[0]?.candidates ?? []).map((name) => world.machine(name));
    if (next === undefined || last === undefined) throw new Error("no others");
    const onlyNodes = (...names: readonly string[]): void =>
      world.change(
        `only ${names.join(" and ")} may lead`,
        (snapshot) => withOnlyNode(snapshot, ...names),
        (machine) => (machine === last ? 0 : NEVER_MS),
      );
    onlyNodes(last.name);
    world.run(20_900);
    expect(heard.get(ip)).to.deep.equal([last.name]);
    // Shortly before the old leader asks.
    onlyNodes(last.name, next.name);
    const later: string[] = [];
    world.witnesses.push({
      answered: (_atMs, _ip, answerers) => void later.push(...answerers.map(({ node }) => node)),
    });
    world.run(60_000);
    expect(last.tenant?.view().decisions[0]?.leader).to.equal(next.name);
    expect(new Set(later)).to.deep.equal(new Set([last.name]));
  }).timeout(120_000);

  it("two that take a sticky address in one term settle it at once, and not when their memories meet half a minute later", () => {
    // Each told who held it in its eyes, and nobody that it had taken it itself: the leader learned of it from a push/pull.
    const plan = planOf({ nodes: 5, services: 1, closeLookMs: 5, isSticky: true });
    const world = new World({ ...plan, snapshot: withOnlyNode(plan.snapshot, "n2", "n3") }, speakerTenant());
    for (const name of ["n1", "n4", "n5"]) world.start(world.machine(name));
    world.run(500);
    world.start(world.machine("n2"));
    world.run(800);
    // What it is handed when it joins is of before the other led.
    world.start(world.machine("n3"));
    const said: string[] = [];
    world.witnesses.push({
      datagram: (atMs, from, _to, bytes) => {
        if (atMs > 15_000 && isUserMessage(bytes)) said.push(`${from} at ${atMs.toFixed(0)} ms`);
      },
    });
    world.run(90_000);
    const records = world.machines.map(({ tenant }) => [...(tenant?.view().holders.values() ?? [])][0]?.[0]);
    expect(new Set(records.map((record) => JSON.stringify(record))).size).to.equal(1);
    expect(records[0]?.term).to.equal(2);
    expect(said).to.deep.equal([]);
  }).timeout(120_000);
});
