import { expect } from "chai";
import fc from "fast-check";
import { Deriver } from "../../src/desired/derive.ts";
import { FreshEndpoints } from "../../src/desired/fresh-endpoints.ts";
import type { Derived } from "../../src/desired/group.ts";
import { advertisement, pool, service, slice, snapshot } from "./facts.ts";

const RULES = { loadBalancerClass: "", checksAdmission: true };
const FRESH_MS = 2_000;

interface Turned {
  readonly ready: ReadonlySet<string>;
  readonly served: ReadonlySet<string>;
  readonly untilMs: ReadonlyMap<string, number>;
}

/** The same rule, walked over every Service at every change. */
class Walked {
  #seen = new Map<string, Turned>();

  fresh({ groups }: Derived, nowMs: number): ReadonlyMap<string, readonly string[]> {
    const seen = new Map<string, Turned>();
    const fresh = new Map<string, readonly string[]>();
    for (const { name, externalTrafficPolicy, readyNodes, terminatingNodes } of groups.flatMap(
      (group) => group.services,
    )) {
      if (externalTrafficPolicy !== "Local") continue;
      const known = this.#seen.get(name);
      const untilMs = new Map<string, number>();
      for (const node of known === undefined ? [] : readyNodes) {
        const until = known?.served.has(node) === true ? known.untilMs.get(node) : nowMs + FRESH_MS;
        if (until !== undefined && until > nowMs) untilMs.set(node, until);
      }
      seen.set(name, { ready: readyNodes, served: new Set([...readyNodes, ...terminatingNodes]), untilMs });
      if (untilMs.size > 0) fresh.set(name, [...untilMs.keys()].toSorted());
    }
    this.#seen = seen;
    return fresh;
  }

  deadlineMs(): number | undefined {
    const ends = [...this.#seen.values()].flatMap(({ untilMs }) => [...untilMs.values()]);
    return ends.length === 0 ? undefined : Math.min(...ends);
  }
}

function freshIn({ groups }: Derived): ReadonlyMap<string, readonly string[]> {
  const services = groups.flatMap((group) => group.services);
  return new Map(
    services.flatMap(({ name, freshNodes }) => (freshNodes === undefined ? [] : [[name, [...freshNodes].toSorted()]])),
  );
}

describe("FreshEndpoints", () => {
  it("marks what a walk over all Services marks, and gives the same value while nothing changes", () => {
    const names = ["a", "b", "c"];
    const step = fc.record({
      name: fc.constantFrom(...names),
      isGone: fc.integer({ max: 5, min: 0 }).map((number) => number === 0),
      address: fc.constantFrom("192.0.2.1", "192.0.2.2"),
      policy: fc.constantFrom("Local" as const, "Local" as const, "Cluster" as const),
      endpoints: fc.array(
        fc.record({ nodeName: fc.constantFrom("n1", "n2", "n3"), ready: fc.boolean(), terminating: fc.boolean() }),
        { maxLength: 3 },
      ),
      waitMs: fc.constantFrom(0, 500, 1_500, 2_000),
    });
    let marks = 0;
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const deriver = new Deriver();
        const fresh = new FreshEndpoints();
        const walked = new Walked();
        let now = snapshot({ pools: [pool("all", ["192.0.2.0/24"])], advertisements: [advertisement("all")] });
        let nowMs = 0;
        for (const { name, isGone, address, policy, endpoints, waitMs } of steps) {
          const services = new Map(now.services);
          const endpointSlices = new Map(now.endpointSlices);
          if (isGone) services.delete(`default/${name}`);
          else services.set(`default/${name}`, service(name, [address], { externalTrafficPolicy: policy }));
          endpointSlices.set(`default/${name}`, slice(name, endpoints));
          now = { ...now, services, endpointSlices };
          nowMs += waitMs;
          const derived = deriver.derive(now, RULES);
          const marked = fresh.mark(derived, nowMs);
          const expected = walked.fresh(derived, nowMs);
          marks += expected.size;
          expect(freshIn(marked)).to.deep.equal(expected);
          expect(fresh.deadlineMs).to.equal(walked.deadlineMs());
          expect(fresh.mark(derived, nowMs)).to.equal(marked);
        }
      }),
    );
    expect(marks, "a run that marks nothing proves nothing").to.be.above(0);
  });
});
