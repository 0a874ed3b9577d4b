import { expect } from "chai";
import { VirtualClock } from "../../../src/base/clock.ts";
import type { Verdict } from "../../../src/kube/write/answers.ts";
import { SubjectEvents } from "../../../src/kube/write/subject-events.ts";

const WEB = { apiVersion: "v1", kind: "Service", namespace: "default", name: "web", uid: "u1" };

class Said {
  readonly clock = new VirtualClock(0);
  readonly marked: string[] = [];
  maySay = true;
  readonly events = new SubjectEvents({
    reporter: { component: "metallb-controller", instance: "c1" },
    clock: this.clock,
    nonce: "n",
    maySay: () => this.maySay,
    mark: (subject) => this.marked.push(subject),
  });

  say(message: string): void {
    this.events.say(WEB, { type: "Normal", reason: "IPAllocated", message });
  }

  /** What is sent next, and answered so. */
  next(verdict: Verdict = "done"): string | undefined {
    const { write } = this.events.next("u1", this.clock.nowMs());
    write?.answered(verdict, undefined, this.clock.nowMs());
    return (write?.request.body as { readonly message?: string } | undefined)?.message;
  }
}

describe("SubjectEvents", () => {
  it("says everything once, in order, as MetalLB's controller would", () => {
    const said = new Said();
    said.say("a");
    said.say("b");
    expect(said.marked).to.deep.equal(["u1", "u1"]);
    const { write } = said.events.next("u1", 0);
    expect(write?.request.path).to.equal("/api/v1/namespaces/default/events");
    expect(write?.request.body).to.deep.include({
      involvedObject: WEB,
      source: { component: "metallb-controller" },
      reportingInstance: "c1",
      reason: "IPAllocated",
    });
    expect([said.next(), said.next(), said.next()]).to.deep.equal(["a", "b", undefined]);
  });

  it("says it again when nobody answered, under the same name; a 409 says that it is there", () => {
    const said = new Said();
    said.say("a");
    const nameOf = (): string => {
      const { write } = said.events.next("u1", 0);
      return (write?.request.body as { readonly metadata: { readonly name: string } } | undefined)?.metadata.name ?? "";
    };
    const name = nameOf();
    expect(said.next("busy")).to.equal("a");
    expect(nameOf()).to.equal(name);
    expect(said.next("conflict")).to.equal("a");
    expect(said.next()).to.equal(undefined);
  });

  it("keeps one subject to five at once, then one in two minutes; of more that wait the oldest are dropped", () => {
    const said = new Said();
    for (let count = 0; count < 5; count++) {
      said.say(`${count}`);
      expect(said.next()).to.equal(`${count}`);
    }
    for (const message of ["a", "b", "c", "d", "e", "f", "g"]) said.say(message);
    expect(said.events.dropped).to.equal(2);
    expect(said.events.next("u1", 0)).to.deep.equal({ againAtMs: 120_000 });
    said.clock.advance(120_000);
    expect([said.next(), said.next()]).to.deep.equal(["c", undefined]);
  });

  it("says nothing while it may not, and nothing of what was forgotten", () => {
    const said = new Said();
    said.say("a");
    said.maySay = false;
    expect(said.next()).to.equal(undefined);
    said.maySay = true;
    said.events.clear();
    expect(said.next()).to.equal(undefined);
  });
});
