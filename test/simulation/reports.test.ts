/** What speakers say of Services while the cluster changes: the notes from which statuses and events are written. */
import { expect } from "chai";
import type { SpeakerNote } from "../../speaker/speaker-ports.ts";
import type { ServiceReport } from "../../src/kube/write/service-report.ts";
import { EXCLUDE_LABEL, withLabel, withNode, withOnlyNode } from "./cluster.ts";
import { isolate } from "./faults-leader.ts";
import { speakerTenant } from "./speaker-tenant.ts";
import { World } from "./world.ts";
import { planOf } from "./world-plan.ts";

interface Told {
  readonly atMs: number;
  readonly node: string;
  readonly note: SpeakerNote;
}

function begin(
  reportsServices: boolean,
  electionCap: "auto" | "metallb" = "auto",
  size: { readonly isStrict?: true } = {},
) {
  const told: Told[] = [];
  const tenant = speakerTenant({
    settings: (settings) => ({ ...settings, reportsServices, electionCap }),
    note: (node, note) => told.push({ atMs: world.clock.nowMs(), node, note }),
  });
  const world: World = new World(planOf({ nodes: 3, services: 4, closeLookMs: 50, ...size }), tenant);
  for (const machine of world.machines) world.start(machine);
  world.run(20_000);
  return { world, told };
}

/** What everybody's notes add up to: who says what of each Service. */
function reports(told: readonly Told[]): ReadonlyMap<string, readonly (readonly [string, ServiceReport])[]> {
  const by = new Map<string, Map<string, ServiceReport>>();
  for (const { node, note } of told) {
    if (note.kind !== "services") continue;
    for (const { service, report } of note.changes) {
      const ofService = by.get(service) ?? new Map<string, ServiceReport>();
      if (report === undefined) ofService.delete(node);
      else ofService.set(node, report);
      by.set(service, ofService);
    }
  }
  return new Map([...by].map(([service, ofService]) => [service, [...ofService]]));
}

describe("simulation: reports of Services", () => {
  it("each Service has one that leads it, and the first words come when a speaker is ready", () => {
    const { told } = begin(true);
    const all = reports(told);
    expect(all.size).to.equal(4);
    for (const said of all.values()) expect(said.map(([, { kind }]) => kind)).to.deep.equal(["leading"]);
    for (const node of ["n1", "n2", "n3"]) {
      const kinds = told.filter((one) => one.node === node).map(({ note }) => note.kind);
      const readyAt = told.findIndex((one) => one.node === node && one.note.kind === "readiness");
      expect(kinds).to.include("services");
      expect(told.findIndex((one) => one.node === node && one.note.kind === "services")).to.be.above(readyAt);
    }
  }).timeout(30_000);

  it("nothing is said in a turn that decides", () => {
    const { world, told } = begin(true);
    world.change(
      "cordon",
      (snapshot) => withNode(snapshot, "n1", (node) => ({ ...node, isUnschedulable: true })),
      () => 0,
    );
    world.run(world.clock.nowMs() + 5_000);
    const turnsThatSay = (kind: SpeakerNote["kind"]): ReadonlySet<string> =>
      new Set(told.flatMap(({ atMs, node, note }) => (note.kind === kind ? [`${node} at ${atMs} ms`] : [])));
    const decided = turnsThatSay("leaders");
    expect(decided.size).to.be.above(3);
    expect([...turnsThatSay("services")].filter((turn) => decided.has(turn))).to.deep.equal([]);
  }).timeout(30_000);

  it("nothing is said while nobody writes it down", () => {
    const { told } = begin(false);
    expect(told.filter(({ note }) => note.kind === "services")).to.deep.equal([]);
  }).timeout(30_000);

  it("with the exclude label on every node one speaker for each Service says so within 1 s, by node and label", () => {
    const { world, told } = begin(true);
    const nowMs = world.clock.nowMs();
    world.change(
      "exclude",
      (snapshot) =>
        world.machines.reduce(
          (next, { name }) => withNode(next, name, (node) => withLabel(node, EXCLUDE_LABEL, true)),
          snapshot,
        ),
      () => 0,
    );
    world.run(nowMs + 1_000);
    const sentence = `every candidate excluded by label ${EXCLUDE_LABEL}: n1, n2, n3`;
    for (const said of reports(told).values()) {
      expect(said).to.have.lengthOf(1);
      expect(said[0]?.[1]).to.deep.include({ kind: "not-announced", reason: "excluded", sentence });
    }
    // Calm: nothing more is said.
    const count = told.length;
    world.run(nowMs + 20_000);
    expect(told.length).to.equal(count);
  }).timeout(30_000);

  it("of views that differ, whoever answers speaks for each Service, and nobody else", () => {
    const { world, told } = begin(true);
    const answerers = new Map<string, readonly string[]>();
    world.witnesses.push({
      answered: (_atMs, ip, heard) =>
        answerers.set(
          ip,
          heard.map(({ node }) => node),
        ),
    });
    const reasons = new Set<string>();
    let contests = 0;
    const expectOneVoice = (): void => {
      for (const said of reports(told).values()) {
        const [[node, report] = ["nobody", undefined], ...others] = said;
        expect(others).to.deep.equal([]);
        if (report?.kind !== "leading") expect.fail(`${node} says ${report?.kind}`);
        expect(answerers.get(report.addresses[0] ?? "")).to.deep.equal([node]);
        reasons.add(report.reason);
      }
    };
    // Each in turn counts itself alone, then the next alone, then all again.
    for (const machine of world.machines) {
      for (const { name } of [machine, ...world.machines.filter((other) => other !== machine)]) {
        world.edit(machine, (snapshot) => withOnlyNode(snapshot, name));
        world.run(world.clock.nowMs() + 6_000);
        contests += world.machines.flatMap(({ tenant }) => tenant?.view().contested ?? []).length;
        expectOneVoice();
      }
      world.edit(machine, () => world.snapshot);
      world.run(world.clock.nowMs() + 6_000);
      expectOneVoice();
    }
    expect(contests).to.be.above(0);
    expect(reasons).to.include("orphan");
  }).timeout(60_000);

  it("the leader of strict addresses that is cut off stops to say that it leads within a second and a half, and is right again after it", () => {
    const { world, told } = begin(true, "auto", { isStrict: true });
    const speakersFor = (node: string): number =>
      [...reports(told).values()].filter((said) => said.some(([who, { kind }]) => who === node && kind === "leading"))
        .length;
    const [first] = [...reports(told).values()][0]?.[0] ?? [];
    const leader = world.machine(first ?? expect.fail("nobody leads"));
    const ledBefore = speakersFor(leader.name);
    isolate(world, leader, 0, true);
    world.run(world.clock.nowMs() + 1_500);
    expect(speakersFor(leader.name)).to.equal(0);
    world.run(world.clock.nowMs() + 3_000);
    for (const said of reports(told).values()) {
      expect(said.map(([node, { kind }]) => [node === leader.name, kind])).to.deep.equal([[false, "leading"]]);
    }
    isolate(world, leader, 0, false);
    world.run(world.clock.nowMs() + 40_000);
    expect(speakersFor(leader.name)).to.equal(ledBefore);
  }).timeout(60_000);

  it("metallb-1: says that a configuration is refused, and when it counts again", () => {
    const { world, told } = begin(true, "metallb");
    const original = world.snapshot;
    world.change(
      "no pools",
      (snapshot) => ({ ...snapshot, pools: new Map() }),
      () => 0,
    );
    world.run(world.clock.nowMs() + 1_000);
    const configurations = () =>
      told.flatMap(({ node, note }) => (note.kind === "configuration" ? [[node, note.refusal?.slice(0, 12)]] : []));
    const refusedBy = configurations().map(([node]) => node);
    expect(refusedBy.length).to.be.above(0);
    expect(configurations()).to.deep.equal(refusedBy.map((node) => [node, "no pool hold"]));
    world.change(
      "pools",
      () => original,
      () => 0,
    );
    world.run(world.clock.nowMs() + 1_000);
    const accepted = configurations().slice(refusedBy.length);
    expect(accepted).to.have.deep.members(refusedBy.map((node) => [node, undefined]));
  }).timeout(30_000);
});
