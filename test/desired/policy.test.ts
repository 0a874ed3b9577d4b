import { expect } from "chai";
import { derive } from "../../src/desired/derive.ts";
import { policyOf } from "../../src/desired/policy.ts";
import { advertisementFacts } from "../../src/desired/resource-facts.ts";
import { pool, service, slice, snapshot } from "./facts.ts";

const NEITHER = { isSticky: false, isStrict: false };

/** The policy of one address that advertisements with these annotations advertise. */
function policyUnder(...annotations: readonly (Readonly<Record<string, string>> | undefined)[]) {
  const advertisements = annotations.map((each, index) =>
    advertisementFacts({
      apiVersion: "metallb.io/v1beta1",
      kind: "L2Advertisement",
      metadata: { name: `a${index}`, ...(each === undefined ? {} : { annotations: each }) },
    }),
  );
  const [group] = derive(
    snapshot({
      pools: [pool("main", ["192.0.2.0/24"])],
      advertisements,
      services: [service("web", ["192.0.2.1"])],
      endpointSlices: [slice("web", [{ nodeName: "n1", ready: true }])],
    }),
    { loadBalancerClass: "", checksAdmission: true },
  ).groups;
  return group === undefined ? undefined : policyOf(group);
}

describe("policyOf", () => {
  for (const { name, annotations, policy } of [
    { name: "no annotation", annotations: [undefined], policy: NEITHER },
    { name: "sticky", annotations: [{ "arpeggio.dev/sticky": "true" }], policy: { ...NEITHER, isSticky: true } },
    { name: "sticky said not to be", annotations: [{ "arpeggio.dev/sticky": "false" }], policy: NEITHER },
    { name: "another value", annotations: [{ "arpeggio.dev/sticky": "yes" }], policy: NEITHER },
    { name: "strict", annotations: [{ "arpeggio.dev/uniqueness": "strict" }], policy: { ...NEITHER, isStrict: true } },
    { name: "available", annotations: [{ "arpeggio.dev/uniqueness": "available" }], policy: NEITHER },
    {
      name: "two advertisements of which each asks for one",
      annotations: [{ "arpeggio.dev/sticky": "true" }, { "arpeggio.dev/uniqueness": "strict" }],
      policy: { isSticky: true, isStrict: true },
    },
  ]) {
    it(`reads ${name}`, () => expect(policyUnder(...annotations)).to.deep.equal(policy));
  }
});
