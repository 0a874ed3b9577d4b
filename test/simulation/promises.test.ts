/** Stories that seeds once told, each with what the speaker did wrong in it. Written out, because a seed draws another world when the drawing changes. */
import { expect } from "chai";
import { EXCLUDE_LABEL, withLabel, withNode, withOnlyNode } from "./cluster.ts";
import { requestFrame } from "./frames.ts";
import type { Machine } from "./machine.ts";
import { leaderOf, ledAddress, rankedAddress, settledWorld } from "./settled-world.ts";

describe("simulation: stories", () => {
  it("a leader that stood still for nine seconds comes back behind, and one node answers within half a second", () => {
    // It refuted the suspicion before it read the verdict: so it did not settle, and both answered for ever.
    const { world, heard } = settledWorld(3, 4);
    const [ip] = world.addresses;
    if (ip === undefined) throw new Error("no address");
    const old = leaderOf(world, heard, ip);
    old.stand({ durationMs: 9_000, keepsQueues: true, isGapVisible: true });
    world.run(28_900);
    const next = leaderOf(world, heard, ip);
    expect(next.name).to.not.equal(old.name);
    world.run(29_500);
    expect(heard.get(ip)).to.deep.equal([next.name]);
    // Settled again: it takes its addresses back, in a planned move.
    world.run(45_000);
    expect(heard.get(ip)).to.deep.equal([old.name]);
  }).timeout(120_000);

  it("a leader that is still the best after it stood still announces itself once more, because another did so meanwhile", () => {
    // All three had been in trouble so often that coming back put it behind nobody: it went on leading, and clients knew the other's MAC.
    const { world, heard } = settledWorld(3, 4);
    for (let round = 1; round <= 4; round++) {
      for (const [index, machine] of world.machines.entries()) {
        machine.kill();
        world.start(machine);
        world.run(20_000 + (3 * (round - 1) + index + 1) * 15_000);
      }
    }
    expect(world.machines.map(({ tenant }) => tenant?.flags().isDamped)).to.deep.equal([true, true, true]);
    const [ip] = world.addresses;
    if (ip === undefined) throw new Error("no address");
    const announcers: string[] = [];
    world.witnesses.push({
      sent: (_atMs, { name }, _card, { senderIp }) => {
        if (senderIp === ip && announcers.at(-1) !== name) announcers.push(name);
      },
    });
    const old = leaderOf(world, heard, ip);
    old.stand({ durationMs: 6_000, keepsQueues: true, isGapVisible: true });
    world.run(210_000);
    expect(heard.get(ip)).to.deep.equal([old.name]);
    expect(announcers.at(-1)).to.equal(old.name);
    expect(announcers.length).to.be.greaterThan(1);
  }).timeout(120_000);

  it("a leader that is stopped with an answer in hand does not give it when it goes on two seconds later", () => {
    // It had looked at the clock for the last time a few microseconds before it handed the answer to the kernel.
    const { world, heard } = settledWorld(3, 4);
    const [ip] = world.addresses;
    const old = leaderOf(world, heard, ip ?? expect.fail("no address"));
    const [card] = world.machines.find((machine) => machine !== old)?.cards ?? [];
    const [own] = card?.addresses ?? [];
    if (card === undefined || own === undefined) throw new Error("nobody to ask");
    const said: string[] = [];
    world.witnesses.push({
      sent: (atMs, machine, _card, { form, senderIp }) => {
        if (machine === old && senderIp === ip) said.push(`${form} at ${atMs.toFixed(0)} ms`);
      },
    });
    old.standAtSend(2_000);
    card.transmit(requestFrame({ mac: card.mac, ip: own }, ip ?? own));
    world.run(20_100);
    expect(old.isAwake).to.equal(false);
    world.run(25_000);
    expect(old.isAwake).to.equal(true);
    expect(said).to.deep.equal([]);
  }).timeout(120_000);

  it("a leader whose machine was paused while it lost an election hears of it at once, though nobody held it dead", () => {
    // What it missed came with the next periodic push/pull only, up to 30 s later; until then two answered.
    const { world, heard } = settledWorld(3, 4);
    const [ip] = world.addresses;
    if (ip === undefined) throw new Error("no address");
    const best = leaderOf(world, heard, ip);
    const cordon = (isOn: boolean): void =>
      world.change(
        "cordon",
        (snapshot) => withNode(snapshot, best.name, (node) => ({ ...node, isUnschedulable: isOn })),
        () => 0,
      );
    cordon(true);
    world.run(25_000);
    const old = leaderOf(world, heard, ip);
    expect(old.name).to.not.equal(best.name);
    old.stand({ durationMs: 2_500, keepsQueues: false, isGapVisible: true });
    cordon(false);
    world.run(27_400);
    expect(heard.get(ip)).to.deep.equal([best.name]);
    world.run(28_000);
    expect(heard.get(ip)).to.deep.equal([best.name]);
  }).timeout(120_000);

  it("a speaker that crashes again and again leads again after 10 s, and from the third crash on only after a minute", () => {
    // It took its addresses back ten seconds after each crash, for as long as it went on crashing.
    const { world, heard } = settledWorld(3, 4);
    const [ip] = world.addresses;
    if (ip === undefined) throw new Error("no address");
    const best = leaderOf(world, heard, ip);
    const secondsUntilItLeadsAgain = (): number => {
      best.kill();
      world.run(world.clock.nowMs() + 10_000);
      expect(heard.get(ip)).to.not.include(best.name);
      world.start(best);
      const startedMs = world.clock.nowMs();
      while (heard.get(ip)?.[0] !== best.name) world.run(world.clock.nowMs() + 1_000);
      const seconds = (world.clock.nowMs() - startedMs) / 1_000;
      world.run(world.clock.nowMs() + 90_000);
      return seconds;
    };
    const waits = [1, 2, 3, 4].map(secondsUntilItLeadsAgain);
    expect(waits[0]).to.be.within(10, 12);
    expect(waits[1]).to.be.within(10, 12);
    expect(waits[2]).to.be.within(60, 62);
    expect(waits[3]).to.be.within(120, 122);
  }).timeout(240_000);

  it("an address whose leader counts itself alone, and then not even itself, is taken by the next in rank", () => {
    // Those whom it did not count any more were not told that it leads no longer; nobody answered for ever.
    const { world, heard, ip, old, other } = ledAddress();
    world.edit(old, (snapshot) => withOnlyNode(snapshot, old.name));
    world.run(30_000);
    expect(heard.get(ip)).to.deep.equal([old.name]);
    world.edit(old, (snapshot) => withOnlyNode(snapshot, other.name));
    world.run(32_000);
    expect(leaderOf(world, heard, ip).name).to.not.equal(old.name);
  }).timeout(120_000);

  it("whoever comes next takes nothing from a leader while the two alone are cut off from each other", () => {
    // It asked, heard nothing of member and address, and answered beside the leader that everybody else reached.
    const { world, first, second: leader, third: next, answered } = rankedAddress(5);
    for (const { from, to } of [
      { from: leader, to: next },
      { from: next, to: leader },
    ]) {
      for (const protocol of ["udp", "tcp"]) world.network.cuts.add(`${from.name}>${to.name}:${protocol}`);
      for (const segment of world.segments) segment.cuts.add(`${from.cards[0]?.name}>${to.cards[0]?.name}`);
    }
    world.change(
      "cordon",
      (snapshot) => withNode(snapshot, first.name, (node) => ({ ...node, isUnschedulable: true })),
      () => 0,
    );
    world.run(21_000);
    expect(answered()).to.include(leader.name);
    world.run(40_000);
    expect(answered()).to.deep.equal([leader.name]);
  }).timeout(120_000);

  it("an address that its leader took back and gives up again is taken anew, though nobody comes next in the leader's eyes", () => {
    // Its claim made others believe that it leads; but it told those alone who came next by its own files, and they named nobody.
    const { world, first, second, answered } = rankedAddress(3);
    const onlyMayLead = ({ name }: Machine): void => world.edit(first, (snapshot) => withOnlyNode(snapshot, name));
    onlyMayLead(second);
    world.run(25_000);
    onlyMayLead(first);
    world.run(30_000);
    answered();
    world.run(31_000);
    expect(answered()).to.deep.equal([first.name]);
    onlyMayLead(second);
    world.run(36_000);
    answered();
    world.run(37_000);
    expect(answered()).to.deep.equal([second.name]);
  }).timeout(120_000);

  it("a strict address goes back to a leader that got no lease for some seconds, after ten and not at once", () => {
    // Whoever had taken it gave it up as soon as the leader was heard: there and back as often as a lease ended.
    const { world, first, second, third, answered } = rankedAddress(3, { isStrict: true });
    for (const { name } of [second, third]) world.network.cuts.add(`${name}>${first.name}:udp`);
    let takenMs = world.clock.nowMs();
    while (!answered().includes(second.name)) world.run((takenMs += 10));
    world.network.cuts.clear();
    world.run(takenMs + 9_900);
    expect(answered()).to.deep.equal([second.name]);
    world.run(takenMs + 13_000);
    answered();
    world.run(takenMs + 30_000);
    expect(answered()).to.deep.equal([first.name]);
  }).timeout(120_000);

  it("a link that counts whole again does so for everybody at once, though the node's word has changed a moment ago", () => {
    // The second change within a second waited, and this node decided by what the others did not know yet.
    const { world } = settledWorld(3, 1);
    const [returning, other] = world.machines;
    const [card] = returning?.cards ?? [];
    if (returning === undefined || other === undefined || card === undefined) throw new Error("no machine");
    const tierAt = (holder: Machine): number | undefined =>
      holder.tenant?.view().decisions[0]?.tiers.find(({ node }) => node === returning.name)?.tier;
    const wordAt = (holder: Machine): string | undefined =>
      holder.tenant?.view().members.find(({ name }) => name === returning.name)?.meta;
    returning.changeCard(card, (changed) => changed.setCarrier(false));
    world.run(20_700);
    returning.changeCard(card, (changed) => changed.setCarrier(true));
    world.run(29_900);
    const before = wordAt(other);
    world.run(30_600);
    // It says that it has been ready for 30 s: of no weight in a decision.
    expect(wordAt(other)).to.not.equal(before);
    expect([returning, other].map(tierAt)).to.deep.equal([2, 2]);
    world.run(30_750);
    expect([returning, other].map(tierAt)).to.deep.equal([1, 1]);
  }).timeout(120_000);

  it("whoever leaves last stops within 50 ms when another may lead while it says goodbye", () => {
    // For up to a second it went on answering as the leader that it still was in its own eyes.
    const { world, heard, overlapsMs } = settledWorld(3, 4);
    const [ip] = world.addresses;
    if (ip === undefined) throw new Error("no address");
    const last = leaderOf(world, heard, ip);
    const others = world.machines.filter(({ name }) => name !== last.name);
    const exclude = (isOn: boolean, lagMs: (machine: Machine) => number): void =>
      world.change(
        isOn ? "exclude" : "include",
        (snapshot) =>
          others.reduce(
            (next, { name }) => withNode(next, name, (node) => withLabel(node, EXCLUDE_LABEL, isOn)),
            snapshot,
          ),
        lagMs,
      );
    exclude(true, () => 0);
    world.run(35_000);
    expect([...heard.values()].flat()).to.deep.equal(world.addresses.map(() => last.name));
    last.leave();
    world.run(35_050);
    exclude(false, (machine) => (machine === last ? 600 : 0));
    world.run(37_000);
    expect(last.isRunning).to.equal(false);
    expect([...heard.values()].flat()).to.not.include(last.name);
    expect(overlapsMs.size).to.be.greaterThan(0);
    expect(Math.max(0, ...overlapsMs.values())).to.be.at.most(50);
  }).timeout(120_000);
});
