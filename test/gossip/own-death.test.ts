import { expect } from "chai";
import { effectsOf, endpointOf, pushPullOf, recordOf, SingleSwim } from "./single-swim.ts";

describe("a swim member that was held dead", () => {
  it("hears of a death that its refuting of the suspicion has overtaken, once", () => {
    const single = new SingleSwim().meet(2);
    const message = pushPullOf(recordOf(1, { state: "suspect", incarnation: 7 }));
    single.tell({ kind: "request", connection: 1, from: endpointOf(2), message });
    const late = { kind: "dead", node: "n1", incarnation: 7, from: "n2" } as const;
    const tell = () => effectsOf(single.tell({ kind: "datagram", from: endpointOf(2), messages: [late] }), "refuted");
    expect(tell().map(({ verdict, incarnation }) => [verdict, incarnation])).to.deep.equal([["dead", 8]]);
    expect(tell()).to.deep.equal([]);
  });

  it("learns from a peer's table that it was held dead", () => {
    const single = new SingleSwim().meet(2);
    const message = pushPullOf(recordOf(1, { state: "dead", incarnation: 7 }));
    const effects = single.tell({ kind: "request", connection: 1, from: endpointOf(2), message });
    const refuted = effectsOf(effects, "refuted").map(({ verdict, incarnation }) => [verdict, incarnation]);
    expect(refuted).to.deep.equal([["dead", 8]]);
  });
});
