/** Two nodes that both hold themselves elected (DESIGN D9): how their claims are weighed, and what each knows of the other. */
import { expect } from "chai";
import type { HandoverMessage } from "../../src/announcer/ports.ts";
import { buildArpAnnouncement } from "../../src/packet/arp.ts";
import { BASIS, claim, duty, leadingRig, link, mac, Rig, say, VIP, winnerOf } from "./rig.ts";

const TO_OURS = { node: "n2", sendsClaims: true };
const worse = { hash: "60" };
const better = { hash: "40" };

const MEMBER = mac("02:00:00:00:00:b1");

function heard(rig: Rig): string {
  return rig.receive(1, buildArpAnnouncement(MEMBER, VIP, "request")).verdict;
}

/** Took the address from n3 so long ago. */
function takingRig(agoMs: number, term = 0): Rig {
  const rig = new Rig();
  rig.links(link(1));
  rig.on({ kind: "members", members: [{ node: "n2", macs: [MEMBER] }] });
  rig.duties(duty(VIP, "lead", { previousLeader: "n3", basis: { ...BASIS, term } }));
  say(rig, { kind: "yielded", group: "g", addresses: [VIP], node: "n3" });
  rig.pass(agoMs);
  return rig;
}

function leads(node: string, isLeading: boolean): HandoverMessage {
  const why = isLeading ? { reason: "" } : { reason: "other-leader" };
  return { kind: "lead", group: "g", addresses: [VIP], node, leads: isLeading, ...why, freshness: 0 };
}

describe("a leader that another has silenced", () => {
  it("asks it soon when it says that it does not lead, and answers again when it says so once more", () => {
    const rig = leadingRig();
    say(rig, claim("n2", better));
    expect(say(rig, leads("n3", false))).to.deep.equal([]);
    expect(say(rig, leads("n2", false))).to.deep.equal([]);
    expect(rig.pass(150)).to.include("100: lead-question to n2: 192.0.2.10");
    expect(say(rig, leads("n2", false))).to.include("armed 192.0.2.10");
  });
});

describe("another member that is heard as a holder of what is led here", () => {
  it("gets our claim a little later, once a second and never a frame", () => {
    const rig = leadingRig();
    rig.on({ kind: "members", members: [{ node: "n2", macs: [MEMBER] }] });
    expect(heard(rig)).to.equal("holder-heard");
    heard(rig);
    expect(rig.pass(210)).to.deep.equal(["200: claim to n2: 192.0.2.10"]);
    rig.pass(500);
    heard(rig);
    expect(rig.pass(300)).to.deep.equal([]);
    rig.pass(500);
    heard(rig);
    expect(rig.pass(210)).to.deep.equal(["200: claim to n2: 192.0.2.10"]);
  });
  it("gets it soon where both have just taken it, if how new a view is tells which of the two stays", () => {
    for (const { name, freshness, rig, claims } of [
      { name: "both just now", freshness: 40, rig: takingRig(100), claims: ["25: claim to n2: 192.0.2.10"] },
      { name: "we a while ago", freshness: 40, rig: takingRig(250), claims: ["200: claim to n2: 192.0.2.10"] },
      { name: "sticky", freshness: 40, rig: takingRig(100, 3), claims: ["200: claim to n2: 192.0.2.10"] },
      { name: "views of files", freshness: 0, rig: takingRig(100), claims: ["200: claim to n2: 192.0.2.10"] },
    ]) {
      fresh(rig, freshness);
      heard(rig);
      const said = rig.pass(210).filter((line) => line.includes(" claim to n2"));
      expect(said, name).to.deep.equal(claims);
    }
  });
  it("gets no further claim soon where it is claimed from already", () => {
    const rig = takingRig(10);
    fresh(rig, 40);
    rig.duties(duty(VIP, "lead", { previousLeader: "n2" }));
    heard(rig);
    const series = [0, 20, 60, 180].map((offsetMs) => `${offsetMs}: claim to n2: 192.0.2.10`);
    expect(rig.pass(190).filter((line) => line.includes(" claim to n2"))).to.deep.equal(series.slice(1));
  });
  it("gets none of a race when its own claim, which its frame has overtaken, comes and stands", () => {
    const rig = takingRig(100);
    fresh(rig, 40);
    heard(rig);
    rig.pass(1);
    say(rig, claim("n2", { ...better, freshness: 40 }));
    expect(rig.pass(200).filter((line) => line.includes(" claim to"))).to.deep.equal([]);
    expect(rig.states()[0]?.phase).to.equal("stopped");
  });
  it("gets it, too, when it says that it leads", () => {
    const rig = leadingRig();
    expect(say(rig, leads("n2", false))).to.deep.equal([]);
    expect(rig.pass(210)).to.deep.equal([]);
    say(rig, leads("n2", true));
    say(rig, leads("n2", true));
    expect(rig.pass(210)).to.deep.equal(["200: claim to n2: 192.0.2.10"]);
  });
  it("gets none when the news of its leading has come meanwhile", () => {
    const rig = leadingRig();
    say(rig, leads("n2", true));
    rig.pass(100);
    rig.duties(duty(VIP, "moved", { nextLeader: TO_OURS }));
    expect(rig.pass(200).filter((line) => line.includes(" claim to"))).to.deep.equal([]);
  });
  it("gets none while we are mute, and a stranger never", () => {
    const rig = leadingRig();
    expect(heard(rig)).to.equal("holder-heard");
    expect(rig.pass(10)).to.deep.equal([]);
    rig.on({ kind: "mute" });
    expect(say(rig, leads("n2", true))).to.deep.equal([]);
  });
});

/** What was claimed, with how fresh. */
function claimed(rig: Rig): string[] {
  return rig.done.flatMap(({ effect }) =>
    effect.kind === "message" && effect.message.kind === "claim" ? [`${effect.message.basis.freshness}`] : [],
  );
}

function fresh(rig: Rig, freshness: number): string[] {
  return rig.on({ kind: "freshness", freshness });
}

/** What `node` asks once a second while a better claim keeps it silent. */
function contesting(node: string, changes: Partial<typeof BASIS>): HandoverMessage {
  return { kind: "lead-question", group: "g", addresses: [VIP], node, basis: { ...BASIS, ...changes } };
}

describe("views that differ", () => {
  it("are known to the loser as the claims were sent", () => {
    const rig = leadingRig();
    fresh(rig, 40);
    say(rig, claim("n2", { ...worse, freshness: 41 }));
    fresh(rig, 90);
    expect(rig.states()[0]?.contest).to.deep.equal({
      winner: { node: "n2", basis: { ...BASIS, ...worse, freshness: 41 } },
      losers: [{ node: "n1", basis: { ...BASIS, freshness: 40 } }],
    });
  });
  it("are told to the winner with every question", () => {
    const rig = leadingRig();
    fresh(rig, 40);
    say(rig, claim("n2", { ...worse, freshness: 41 }));
    rig.pass(1_000);
    const asked = rig.done.flatMap(({ effect }) => (effect.kind === "message" ? [effect.message] : [])).at(-1);
    expect(asked).to.deep.equal(contesting("n1", { freshness: 40 }));
  });
  it("are known to the winner while the loser asks, and a little longer", () => {
    const rig = leadingRig();
    expect(say(rig, contesting("n2", worse))).to.deep.equal(["claim to n2: 192.0.2.10"]);
    rig.pass(1_000);
    say(rig, contesting("n2", { ...worse, score: -1 }));
    expect(rig.states()[0]?.contest).to.deep.equal({
      winner: { node: "n1", basis: BASIS },
      losers: [{ node: "n2", basis: { ...BASIS, ...worse, score: -1 } }],
    });
    expect(rig.pass(3_400)).to.deep.equal([]);
    expect(winnerOf(rig)).to.equal("n1");
    rig.pass(100);
    expect(rig.states()[0]).not.to.have.property("contest");
  });
  it("are no matter of who hands over, or asks without a view of its own", () => {
    const rig = leadingRig();
    const { basis: _, ...question } = contesting("n2", worse) as Extract<HandoverMessage, { kind: "lead-question" }>;
    say(rig, question);
    expect(rig.states()[0]).not.to.have.property("contest");
    say(rig, contesting("n2", worse));
    rig.duties(duty(VIP, "moved", { nextLeader: TO_OURS }));
    expect(rig.states()[0]).not.to.have.property("contest");
  });
});

/** It gives the address to n3, by a fresher view than `OLDER`. */
function handingOver(tier: number): Rig {
  const rig = leadingRig();
  fresh(rig, 40);
  rig.duties(duty(VIP, "moved", { nextLeader: { node: "n3", sendsClaims: true }, basis: { ...BASIS, tier } }));
  return rig;
}

const OLDER = { hash: "10", freshness: 39 };

describe("one that hands over", () => {
  it("keeps the address from whom it silenced by a fresher view, and does not say that it is free", () => {
    expect(say(handingOver(1), contesting("n2", OLDER))).to.deep.equal(["claim to n2: 192.0.2.10"]);
  });
  it("yields to the next leader, to a better claim, and to anybody who stands in a better tier", () => {
    expect(say(handingOver(1), contesting("n3", OLDER))).to.deep.equal(["yielded to n3: 192.0.2.10"]);
    expect(say(handingOver(1), contesting("n2", { ...OLDER, freshness: 40 }))).to.deep.equal([
      "yielded to n2: 192.0.2.10",
    ]);
    expect(say(handingOver(3), contesting("n2", OLDER))).to.deep.equal(["yielded to n2: 192.0.2.10"]);
  });
  it("says that it is free to whom it refused before only when it stops", () => {
    const rig = leadingRig();
    say(rig, claim("n2", worse));
    expect(rig.duties(duty(VIP, "moved", { nextLeader: { node: "n3", sendsClaims: true } }))).to.deep.equal([]);
    expect(rig.duties()).to.include("yielded to n2: 192.0.2.10");
  });
});

describe("a term that is higher because of the winner's own", () => {
  it("wins nothing back from the winner: what else its claim is made of decides", () => {
    for (const { freshness, isBack } of [
      { freshness: 40, isBack: false },
      { freshness: 42, isBack: true },
    ]) {
      const rig = leadingRig();
      fresh(rig, 40);
      say(rig, claim("n2", { ...worse, term: 4, freshness: 41 }));
      fresh(rig, freshness);
      // The winner's record was heard: whoever would take the address from it would do so in the next term.
      rig.duties(duty(VIP, "lead", { basis: { ...BASIS, term: 5 } }));
      say(rig, claim("n2", { ...worse, term: 4, freshness: 41 }));
      expect(rig.states()[0]?.phase, `freshness ${freshness}`).to.equal(isBack ? "leading" : "stopped");
    }
  });
});

describe("how fresh a view is", () => {
  it("goes into claims as it is when they are made, the same in a whole series", () => {
    const rig = new Rig();
    rig.links(link(1));
    expect(fresh(rig, 40)).to.deep.equal([]);
    rig.duties(duty(VIP, "lead", { previousLeader: "n2" }));
    rig.pass(50);
    fresh(rig, 41);
    rig.pass(400);
    expect(claimed(rig)).to.deep.equal(["40", "40", "40", "40"]);
  });
  it("decides before tier and hash, as long as both are known", () => {
    for (const { own, theirs, isStopped } of [
      { own: 40, theirs: 41, isStopped: true },
      { own: 41, theirs: 40, isStopped: false },
      { own: 0, theirs: 41, isStopped: false },
      { own: 40, theirs: 0, isStopped: false },
    ]) {
      const rig = leadingRig();
      fresh(rig, own);
      say(rig, claim("n2", { ...worse, freshness: theirs }));
      expect(rig.states()[0]?.phase, `${own} against ${theirs}`).to.equal(isStopped ? "stopped" : "leading");
    }
  });
  it("is judged as it was said: what comes to know more within a second loses all the same", () => {
    const rig = leadingRig();
    fresh(rig, 40);
    say(rig, claim("n3", { ...worse, freshness: 39 }));
    fresh(rig, 50);
    expect(say(rig, claim("n2", { ...worse, freshness: 41 }))).to.include("stopped 192.0.2.10 claimed");
    fresh(rig, 90);
    rig.pass(1_500);
    expect(say(rig, claim("n2", { ...worse, freshness: 42 }))).to.deep.equal(["yielded to n2: 192.0.2.10"]);
    expect(winnerOf(rig)).to.equal("n2");
  });
  it("brings a silenced leader back when its view has changed and the winner's answer is older", () => {
    const rig = leadingRig();
    fresh(rig, 40);
    say(rig, claim("n2", { ...worse, freshness: 41 }));
    fresh(rig, 90);
    const lines = rig.duties(duty(VIP, "lead", { basis: { ...BASIS, incarnation: 2 } }));
    expect(lines).to.deep.equal(["lead-question to n2: 192.0.2.10"]);
    expect(say(rig, claim("n2", { ...worse, freshness: 42 }))).to.include("armed 192.0.2.10");
  });
  it("leaves it silent when the winner's answer is fresher still", () => {
    const rig = leadingRig();
    fresh(rig, 40);
    say(rig, claim("n2", { ...worse, freshness: 41 }));
    fresh(rig, 90);
    rig.duties(duty(VIP, "lead", { basis: { ...BASIS, incarnation: 2 } }));
    say(rig, claim("n2", { ...worse, freshness: 91 }));
    expect(rig.states()[0]?.phase).to.equal("stopped");
  });
  it("leaves it silent when the winner's answer says no more how fresh it is", () => {
    const rig = leadingRig();
    fresh(rig, 40);
    say(rig, claim("n2", { ...worse, freshness: 41 }));
    rig.pass(1_500);
    expect(say(rig, claim("n2", { ...worse, freshness: 0 }))).to.deep.equal(["yielded to n2: 192.0.2.10"]);
    expect(rig.states()[0]?.phase).to.equal("stopped");
    // And its own view has become the fresher one.
    fresh(rig, 90);
    rig.duties(duty(VIP, "lead", { basis: { ...BASIS, incarnation: 2 } }));
    expect(say(rig, claim("n2", { ...worse, freshness: 0 }))).to.include("armed 192.0.2.10");
  });
});
