/** What a leader says to those who come after it, and what it answers when it does not lead. */
import { expect } from "chai";
import { OrphanWatch } from "../../speaker/orphan-watch.ts";
import type { AddressState, HandoverMessage } from "../../src/announcer/ports.ts";
import type { Decision, Refusal } from "../../src/election/decision.ts";
import { type Ip, parseIp } from "../../src/net/ip.ts";
import { BASIS } from "../announcer/rig.ts";

const ip = (text: string): Ip => parseIp(text) ?? expect.fail(text);
const [A, B] = [ip("192.0.2.10"), ip("192.0.2.11")];
const V6 = ip("2001:db8::10");
const NODES = ["n1", "n2", "n3", "n4", "n5", "n6", "go"];

/** Candidates best first; nobody leads when there is none. */
function decision(nodes: readonly string[], refusals: readonly Refusal[], ...addresses: readonly Ip[]): Decision {
  const [leader] = nodes;
  const [key = A] = addresses;
  return {
    group: { key, addresses, services: [] },
    rule: "arpeggio-1",
    candidates: nodes.map((node) => ({ node, tier: 1, score: 0, endpointClass: "any" })),
    refusals,
    reason: leader === undefined ? "no-serving-endpoint" : "lowest-hash",
    ...(leader === undefined ? {} : { leader }),
  };
}

class Rig {
  leaseProspect: "in-reach" | "out-of-reach" | "unknown" = "unknown";
  readonly said: string[] = [];
  readonly touched: Ip[] = [];
  readonly states = new Map<Ip, Partial<AddressState>>();
  readonly decisions = new Map<Ip, Decision>();
  readonly watch = new OrphanWatch("n1", {
    council: {
      isDeciding: false,
      decisionOf: (address) => this.decisions.get(address),
      dutyChanged: (address) => this.touched.push(address),
    },
    isOurs: (node) => node !== "go",
    leaseProspect: () => this.leaseProspect,
    stateOf: (address) => this.states.get(address) as AddressState | undefined,
    send: (to, messages) => this.said.push(...messages.map((message) => `${to} ${textOf(message)}`)),
    probe: (probed) => this.said.push(...probed.map(({ leader, ip: address }) => `${leader} probed for ${address}`)),
  });

  decide(...decisions: readonly Decision[]): void {
    const gone = [...new Set(this.decisions.values())];
    this.decisions.clear();
    for (const one of decisions) for (const address of one.group.addresses) this.decisions.set(address, one);
    this.watch.follow({ gone, come: decisions }, 0);
  }

  lead(...addresses: readonly Ip[]): void {
    for (const address of addresses) {
      this.states.set(address, { phase: "leading", answeredOn: [1] });
      this.watch.noted({ kind: "armed", ip: address }, 0);
    }
  }

  stop(address: Ip, cause: "withdrawn" | "claimed"): void {
    this.states.delete(address);
    this.watch.noted({ kind: "stopped", ip: address, cause }, 0);
  }

  /** What is said until then. */
  run(untilMs: number): string[] {
    for (let nowMs = 0; nowMs <= untilMs; nowMs += 10) this.watch.tick(nowMs);
    return this.said.splice(0);
  }
}

function textOf(message: HandoverMessage): string {
  const about = message.addresses.join(" ");
  if (message.kind !== "lead") return `${message.kind} ${about}`;
  return `${message.leads ? "leads" : "no"} ${about} ${message.reason} ${message.leader ?? ""}`.trimEnd();
}

function asked(rig: Rig, ...addresses: readonly Ip[]): string[] {
  rig.watch.answer("n2", [{ kind: "lead-question", group: "g", addresses, node: "n2" }]);
  return rig.said.splice(0);
}

describe("a leader", () => {
  it("says so to the second to fifth of ours, of all groups together, and once", () => {
    const rig = new Rig();
    rig.decide(decision(["n1", "n2", "go", "n4", "n5", "n6"], [], A, V6), decision(["n1", "n2"], [], B));
    rig.lead(A, V6, B);
    expect(rig.run(5_000)).to.deep.equal([`n2 leads ${A} ${B}`, `n4 leads ${A}`, `n5 leads ${A}`]);
  });
  it("says so to who becomes one of them", () => {
    const rig = new Rig();
    rig.decide(decision(["n1", "n2"], [], A));
    rig.lead(A);
    rig.run(100);
    rig.decide(decision(["n1", "n3", "n2"], [], A));
    expect(rig.run(100)).to.deep.equal([`n3 leads ${A}`]);
  });
  it("says three times why not, when it ceases and hands over to nobody", () => {
    const rig = new Rig();
    rig.decide(decision(["n1", "n2"], [], A));
    rig.lead(A);
    rig.run(100);
    rig.decide(decision(["n2"], [{ node: "n1", reason: "no-local-endpoint" }], A));
    rig.stop(A, "withdrawn");
    expect(rig.run(5_000)).to.deep.equal(Array.from({ length: 3 }, () => `n2 no ${A} no-local-endpoint n2`));
  });
  it("says why not to everybody who believes that it leads: who came next once, who has asked, who has yielded to it, and who came back", () => {
    const rig = new Rig();
    rig.decide(decision(["n1", "n2"], [], A));
    rig.lead(A);
    rig.run(100);
    rig.decide(decision(["n1"], [], A));
    rig.run(100);
    rig.watch.claimedFrom(["n7"], new Set([A]));
    rig.watch.answer("n6", [{ kind: "lead-question", group: "g", addresses: [A], node: "n6" }]);
    rig.watch.hear("n5", [{ kind: "yielded", group: "g", addresses: [A, B], node: "n5" }], 0);
    rig.decide(decision(["n3"], [{ node: "n1", reason: "not-selected" }], A));
    rig.stop(A, "withdrawn");
    expect(new Set(rig.run(5_000))).to.deep.equal(
      new Set(["n2", "n7", "n6", "n5"].map((node) => `${node} no ${A} not-selected n3`)),
    );
  });
  it("says so again to who came next once and does so again", () => {
    const rig = new Rig();
    rig.decide(decision(["n1", "n2"], [], A));
    rig.lead(A);
    rig.run(100);
    rig.decide(decision(["n1"], [], A));
    rig.run(100);
    rig.decide(decision(["n1", "n2"], [], A));
    expect(rig.run(100)).to.deep.equal([`n2 leads ${A}`]);
  });
  it("names the winner of a contest to those whom it told, for they may not come next in the winner's eyes", () => {
    const rig = new Rig();
    rig.decide(decision(["n1", "n2"], [], A));
    rig.lead(A);
    rig.run(100);
    const contest = { winner: { node: "n6", basis: BASIS }, losers: [] };
    rig.states.set(A, { phase: "stopped", answeredOn: [], contest });
    rig.watch.noted({ kind: "stopped", ip: A, cause: "claimed" }, 0);
    expect(rig.run(50)).to.deep.equal([`n2 no ${A} views-differ n6`]);
  });
  it("says of some hundred addresses a turn that it leads them no longer", () => {
    const rig = new Rig();
    const many = Array.from({ length: 250 }, (_, index) => ip(`198.51.100.${index + 1}`));
    rig.decide(...many.map((address) => decision(["n1", "n2"], [], address)));
    rig.lead(...many);
    rig.run(100);
    for (const address of many) rig.stop(address, "withdrawn");
    const turns = [0, 0, 0, 0].map(() => {
      rig.watch.tick(0);
      return (
        rig.said
          .splice(0)
          .join(" ")
          .match(/198\.51/g)?.length ?? 0
      );
    });
    expect(turns).to.deep.equal([100, 100, 50, 0]);
  });
  it("says nothing when another has claimed it, or it leads again", () => {
    const rig = new Rig();
    rig.decide(decision(["n1", "n2"], [], A));
    rig.lead(A);
    rig.run(100);
    rig.stop(A, "claimed");
    expect(rig.run(5_000)).to.deep.equal([]);
    rig.lead(A);
    rig.run(100);
    rig.stop(A, "withdrawn");
    rig.lead(A);
    expect(rig.run(5_000)).to.deep.equal([`n2 leads ${A}`]);
  });
});

describe("who is asked and does not lead", () => {
  for (const { name, given, state, answer } of [
    { name: "names who leads in its eyes", given: decision(["n3", "n1"], [], A), answer: "other-leader n3" },
    {
      name: "says why it may not",
      given: decision(["n3"], [{ node: "n1", reason: "not-selected" }], A),
      answer: "not-selected n3",
    },
    { name: "says why nobody may", given: decision([], [], A), answer: "no-serving-endpoint" },
    { name: "says that it has no link", given: decision(["n1"], [], A), answer: "no-link" },
    {
      name: "names who keeps it silent",
      given: decision(["n1"], [], A),
      state: { phase: "stopped", answeredOn: [], contest: { winner: { node: "n6", basis: BASIS }, losers: [] } },
      answer: "views-differ n6",
    },
    { name: "knows no such address", given: decision(["n1"], [], B), answer: "unknown-address" },
  ] as const) {
    it(name, () => {
      const rig = new Rig();
      rig.decide(given);
      if (state !== undefined) rig.states.set(A, state);
      expect(asked(rig, A)).to.deep.equal([`n2 no ${A} ${answer}`]);
    });
  }
  for (const { prospect, answers } of [
    { prospect: "in-reach", answers: [`n2 leads ${A}`] },
    { prospect: "unknown", answers: [] },
    { prospect: "out-of-reach", answers: [`n2 no ${A} no-lease`] },
  ] as const) {
    it(`whose lease is missing, and ${prospect}, says so`, () => {
      const rig = new Rig();
      rig.decide(decision(["n1"], [], A));
      rig.states.set(A, { phase: "leading", answeredOn: [], lease: "missing" });
      rig.leaseProspect = prospect;
      expect(asked(rig, A)).to.deep.equal(answers);
    });
  }

  it("leaves the answer to a claim where it does", () => {
    const rig = new Rig();
    rig.decide(decision(["n1"], [], A), decision(["n3"], [], B));
    rig.lead(A);
    expect(asked(rig, A, B)).to.deep.equal([`n2 no ${B} other-leader n3`]);
  });
});

describe("who comes next in rank", () => {
  it("takes what its leader does not lead, under our rule and of one of ours alone", () => {
    for (const { leader, rule, isTaken } of [
      { leader: "n3", rule: "arpeggio-1", isTaken: true },
      { leader: "n3", rule: "metallb-1", isTaken: false },
      { leader: "go", rule: "arpeggio-1", isTaken: false },
    ] as const) {
      const rig = new Rig();
      rig.decide({ ...decision([leader, "n1"], [], A, V6), rule });
      rig.run(400);
      rig.watch.hear(
        leader,
        [{ kind: "lead", group: "g", addresses: [A], node: leader, leads: false, reason: "no-link-yet", freshness: 0 }],
        400,
      );
      rig.run(500);
      expect([...rig.watch.taken.keys()], `${leader} ${rule}`).to.deep.equal(isTaken ? [A, V6] : []);
      expect(rig.touched).to.deep.equal(isTaken ? [A, V6] : []);
    }
  });
  it("does not come next below the fifth", () => {
    const rig = new Rig();
    rig.decide(decision([...NODES.slice(1, 6), "n1"], [], A));
    expect(rig.run(10_000)).to.deep.equal([]);
  });
});
