/** What happens on the wire between speakers and members of Go's kind, as stories. */
import { expect } from "chai";
import type { Ip } from "../../src/net/ip.ts";
import { metallbLeaders, metallbTenant } from "./metallb-tenant.ts";
import { speakerTenant } from "./speaker-tenant.ts";
import { World } from "./world.ts";
import { planOf } from "./world-plan.ts";

const GO = "n1";

describe("simulation: beside Go members", () => {
  it("an address that both sides of a partition answered is left to the Go member when they meet, though it announces nothing again", () => {
    // It had led all the time, and so had nothing to say; and it sends no claims: a speaker waited for ever, and both answered.
    const plan = planOf({ nodes: 3, services: 6, closeLookMs: 20 });
    const speaker = speakerTenant();
    const world = new World({ ...plan, metallb: new Set([GO]) }, (ports) =>
      ports.name === GO ? metallbTenant(ports) : speaker(ports),
    );
    const ours = new Map<Ip, readonly string[]>();
    world.witnesses.push({
      answered: (_atMs, ip, answerers) =>
        void ours.set(
          ip,
          answerers.map(({ node }) => node),
        ),
    });
    for (const machine of world.machines) world.start(machine);
    world.run(20_000);
    const ledByGo = [...metallbLeaders(plan.snapshot, plan.nodes)].flatMap(([ip, node]) => (node === GO ? [ip] : []));
    expect(ledByGo.length).to.be.greaterThan(0);
    const answering = (): string[] => ledByGo.flatMap((ip) => ours.get(ip) ?? []);
    expect(answering()).to.deep.equal([]);
    const others = plan.nodes.filter((node) => node !== GO);
    const ways = others.flatMap((node) => [`${GO}>${node}`, `${node}>${GO}`]);
    const cuts = ways.flatMap((way) => [`${way}:udp`, `${way}:tcp`]);
    for (const cut of cuts) world.network.cuts.add(cut);
    world.run(50_000);
    expect(answering()).to.have.length(ledByGo.length);
    for (const cut of cuts) world.network.cuts.delete(cut);
    world.run(70_000);
    expect(answering()).to.deep.equal([]);
  }).timeout(120_000);
});
