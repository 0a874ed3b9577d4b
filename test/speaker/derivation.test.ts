import { expect } from "chai";
import { Derivation } from "../../speaker/derivation.ts";
import type { ClusterSnapshot } from "../../src/desired/snapshot.ts";
import type { Rule } from "../../src/election/word.ts";
import { type Ip, parseIp } from "../../src/net/ip.ts";
import { advertisement, pool, service, snapshot } from "../desired/facts.ts";

const VIP = parseIp("192.0.2.1") ?? expect.fail();
const NOTHING: ReadonlySet<Ip> = new Set();
const WEB = service("web", ["192.0.2.1"]);
const WITH_POOL = snapshot({
  source: "files",
  pools: [pool("a", ["192.0.2.0/24"])],
  advertisements: [advertisement("all")],
  services: [WEB],
});
const WITHOUT_POOL: ClusterSnapshot = { ...WITH_POOL, pools: new Map() };

function judgement(rule: Rule, answering: ReadonlySet<Ip> = NOTHING) {
  return { rule, answering };
}

function led(derivation: Derivation): readonly Ip[] {
  return derivation.derived.groups.flatMap(({ addresses }) => addresses);
}

/** Has read all of a first snapshot. */
function reader(first: ClusterSnapshot, rule: Rule, turnBudget = 100): Derivation {
  const derivation = new Derivation({ loadBalancerClass: "", turnBudget });
  derivation.applySnapshot(first, judgement(rule), 0);
  while (derivation.isReading) derivation.goOnReading(0);
  return derivation;
}

describe("Derivation", () => {
  it("reads the first snapshot some objects a turn, and says once that it is read", () => {
    const services = ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map((address) => service(`s${address}`, [address]));
    const derivation = new Derivation({ loadBalancerClass: "", turnBudget: 2 });
    expect([derivation.isReading, derivation.goOnReading(0), derivation.snapshot]).to.deep.equal([
      false,
      false,
      undefined,
    ]);
    derivation.applySnapshot(
      { ...WITH_POOL, services: new Map(services.map((one) => [`default/${one.name}`, one])) },
      judgement("arpeggio-1"),
      0,
    );
    expect([derivation.isReading, led(derivation).length]).to.deep.equal([true, 0]);
    expect([derivation.goOnReading(0), derivation.isReading, led(derivation).length]).to.deep.equal([false, true, 2]);
    expect([derivation.goOnReading(0), derivation.isReading, led(derivation).length]).to.deep.equal([true, false, 3]);
    expect(derivation.goOnReading(0)).to.equal(false);
  });

  it("reads every configuration under arpeggio-1, whatever is answered", () => {
    const derivation = reader(WITH_POOL, "arpeggio-1");
    derivation.applySnapshot(WITHOUT_POOL, judgement("arpeggio-1", new Set([VIP])), 1);
    expect([derivation.refusal, led(derivation), derivation.poolPrefixes]).to.deep.equal([undefined, [], []]);
  });

  it("takes a refused configuration once the address is given up that it took the pool from", () => {
    const derivation = reader(WITH_POOL, "metallb-1");
    derivation.applySnapshot(WITHOUT_POOL, judgement("metallb-1", new Set([VIP])), 1);
    expect(derivation.refusal).to.match(/192\.0\.2\.1/);
    expect(led(derivation)).to.deep.equal([VIP]);
    derivation.answeringChanged();
    derivation.refresh(judgement("metallb-1"), 2);
    expect([derivation.refusal, led(derivation), derivation.snapshot]).to.deep.equal([undefined, [], WITHOUT_POOL]);
  });

  it("reads the configuration anew when another rule comes into force", () => {
    const derivation = reader(WITH_POOL, "metallb-1");
    derivation.applySnapshot(WITHOUT_POOL, judgement("metallb-1", new Set([VIP])), 1);
    derivation.refresh(judgement("arpeggio-1", new Set([VIP])), 2);
    expect([derivation.refusal, led(derivation)]).to.deep.equal([undefined, []]);
  });
});
