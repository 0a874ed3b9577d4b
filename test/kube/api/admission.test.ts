/** What the API server refuses, with our CustomResourceDefinitions and with ones that have MetalLB's shape alone. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { parseAllDocuments, stringify } from "yaml";
import { type ControlPlane, useControlPlane } from "../../support/control-plane.ts";

const ROOT = join(import.meta.dirname, "../../../..");
const MANIFESTS = join(ROOT, "manifests");
const SAMPLES = join(MANIFESTS, "samples");
const ENFORCED_TIMEOUT_MS = 60_000;
const POLL_MS = 500;

interface Refusal {
  readonly name: string;
  readonly kind?: "L2Advertisement";
  readonly namespace?: string;
  readonly spec: object;
  readonly says: string;
}

const pool = (...addresses: readonly string[]) => ({ addresses });
const nodes = (...nodeSelectors: readonly object[]) => ({ nodeSelectors });
const expression = (operator: string, values?: readonly string[]) => ({
  matchExpressions: [{ key: "zone", operator, ...(values === undefined ? {} : { values }) }],
});
const neither = (entry: string) =>
  `"${entry}" is neither a CIDR such as 192.0.2.0/24 nor a range such as 192.0.2.10-192.0.2.20`;
const clash = (entry: string, name: string, other: string) =>
  `"${entry}" of pool "${name}" overlaps with already defined CIDR "${other}"`;

/** All of the policies' rules; pool `first` is there. */
const FIRST = pool("192.0.2.100-192.0.2.119", "198.51.100.77/26", "2001:db8::/64", " 203.0.113.1 - 203.0.113.9 ");
/** An entry within another one. */
const OLD = pool("10.9.0.0/24", "10.9.0.0/25");
const REFUSED: readonly Refusal[] = [
  { name: "bare", spec: pool("10.0.0.0/24", "10.0.0.5"), says: neither("10.0.0.5") },
  { name: "word", spec: pool("garbage"), says: neither("garbage") },
  { name: "zeros", spec: pool("10.0.00.0/24"), says: neither("10.0.00.0/24") },
  { name: "mapped", spec: pool("::ffff:10.0.0.0/120"), says: neither("::ffff:10.0.0.0/120") },
  { name: "zone", spec: pool("fe80::1%eth0-fe80::2%eth0"), says: neither("fe80::1%eth0-fe80::2%eth0") },
  { name: "spaces", spec: pool(" 10.0.0.0/24"), says: neither(" 10.0.0.0/24") },
  { name: "dashes", spec: pool("10.0.0.1-10.0.0.2-10.0.0.3"), says: neither("10.0.0.1-10.0.0.2-10.0.0.3") },
  {
    name: "families",
    spec: pool("10.0.0.1-2001:db8:1::1"),
    says: '"10.0.0.1-2001:db8:1::1" is a range of two families',
  },
  {
    name: "backwards",
    spec: pool("10.0.1.0-10.0.0.255"),
    says: '"10.0.1.0-10.0.0.255" is a range that ends before it starts',
  },
  { name: "empty", spec: pool(), says: "spec.addresses" },
  { name: "twice", spec: pool("10.0.0.0/24", "10.0.0.0/24"), says: 'spec.addresses names "10.0.0.0/24" twice' },
  {
    name: "inner",
    spec: pool("10.0.0.0/24", "10.0.0.7-10.0.0.9"),
    says: `${clash("10.0.0.7-10.0.0.9", "inner", "10.0.0.0/24")} of the same pool`,
  },
  {
    name: "inner6",
    spec: pool("2001:db8:1::/64", "2001:db8:1::/48"),
    says: `${clash("2001:db8:1::/48", "inner6", "2001:db8:1::/64")} of the same pool`,
  },
  {
    name: "smaller",
    spec: pool("192.0.2.119/32"),
    says: `${clash("192.0.2.119/32", "smaller", "192.0.2.100-192.0.2.119")} of pool "first"`,
  },
  {
    name: "larger",
    spec: pool("192.0.2.0/24"),
    says: `${clash("192.0.2.0/24", "larger", "192.0.2.100-192.0.2.119")} of pool "first"`,
  },
  {
    name: "host-bits",
    spec: pool("198.51.100.127-198.51.100.130"),
    says: `${clash("198.51.100.127-198.51.100.130", "host-bits", "198.51.100.77/26")} of pool "first"`,
  },
  {
    name: "range4",
    spec: pool("192.0.2.119-192.0.2.120"),
    says: `${clash("192.0.2.119-192.0.2.120", "range4", "192.0.2.100-192.0.2.119")} of pool "first"`,
  },
  {
    name: "spaced",
    spec: pool("203.0.113.9/32"),
    says: `${clash("203.0.113.9/32", "spaced", " 203.0.113.1 - 203.0.113.9 ")} of pool "first"`,
  },
  {
    name: "smaller6",
    spec: pool("2001:db8:0:0:1::/80"),
    says: `${clash("2001:db8:0:0:1::/80", "smaller6", "2001:db8::/64")} of pool "first"`,
  },
  {
    name: "larger6",
    spec: pool("2001:db8::/32"),
    says: `${clash("2001:db8::/32", "larger6", "2001:db8::/64")} of pool "first"`,
  },
  {
    name: "range6",
    spec: pool("2001:db8::ff-2001:db8:1::"),
    says: `${clash("2001:db8::ff-2001:db8:1::", "range6", "2001:db8::/64")} of pool "first"`,
  },
  {
    name: "elsewhere",
    namespace: "default",
    spec: pool("10.0.0.0/24"),
    says: 'metadata.namespace is "default": resource must be created in metallb-system namespace',
  },
  {
    name: "namespaces",
    spec: { ...pool("10.0.0.0/24"), serviceAllocation: { namespaces: ["a", "b", "a"] } },
    says: 'spec.serviceAllocation.namespaces names "a" twice',
  },
  {
    name: "namespace-selectors",
    spec: { ...pool("10.0.0.0/24"), serviceAllocation: { namespaceSelectors: [{}, {}] } },
    says: "spec.serviceAllocation.namespaceSelectors[1] repeats an entry before it",
  },
  {
    name: "service-selectors",
    spec: { ...pool("10.0.0.0/24"), serviceAllocation: { serviceSelectors: [expression("Exists", ["a"])] } },
    says: 'spec.serviceAllocation.serviceSelectors[].matchExpressions: values of "zone" must be empty with Exists',
  },
  {
    name: "adv-elsewhere",
    kind: "L2Advertisement",
    namespace: "default",
    spec: {},
    says: "resource must be created in metallb-system namespace",
  },
  {
    name: "pools",
    kind: "L2Advertisement",
    spec: { ipAddressPools: ["a", "b", "b"] },
    says: 'spec.ipAddressPools names "b" twice',
  },
  {
    name: "labels",
    kind: "L2Advertisement",
    spec: nodes({ matchLabels: { a: "1", b: "2" } }, {}, { matchLabels: { b: "2", a: "1" } }),
    says: "spec.nodeSelectors[2] repeats an entry before it",
  },
  {
    name: "values",
    kind: "L2Advertisement",
    spec: nodes(expression("In", ["a", "b"]), expression("In", ["b", "a"])),
    says: "spec.nodeSelectors[1] repeats an entry before it",
  },
  {
    name: "operator",
    kind: "L2Advertisement",
    spec: nodes({}, expression("Equals", ["a"])),
    says: 'spec.nodeSelectors[].matchExpressions: operator "Equals" must be In, NotIn, Exists or DoesNotExist',
  },
  {
    name: "no-values",
    kind: "L2Advertisement",
    spec: { ipAddressPoolSelectors: [expression("NotIn")] },
    says: 'spec.ipAddressPoolSelectors[].matchExpressions: values of "zone" must not be empty with NotIn',
  },
  {
    name: "services",
    kind: "L2Advertisement",
    spec: { serviceSelectors: [{ matchLabels: { a: "1" } }, { matchLabels: { a: "1" } }] },
    says: "spec.serviceSelectors[1] repeats an entry before it",
  },
  {
    name: "preference",
    kind: "L2Advertisement",
    spec: { preferredNodeSelectors: [{ weight: 1, preference: expression("In") }] },
    says: 'spec.preferredNodeSelectors[].preference.matchExpressions: values of "zone" must not be empty with In',
  },
];

const ACCEPTED: readonly Omit<Refusal, "says">[] = [
  { name: "beside", spec: pool("192.0.2.98/31", "192.0.2.120-192.0.2.127", "198.51.100.128/25", "2001:db8:0:1::/64") },
  { name: "range-of-one", spec: pool("10.1.0.1-10.1.0.1", "10.1.0.255/32") },
  {
    name: "allocation",
    spec: {
      ...pool("10.2.0.0/24"),
      serviceAllocation: { priority: 5, namespaces: ["a", "b"], namespaceSelectors: [{}, expression("Exists")] },
    },
  },
  { name: "range6-over-range6", spec: pool("2001:db8:2::1-2001:db8:2::10") },
  { name: "range6-over-range6-too", spec: pool("2001:db8:2::8-2001:db8:2::20") },
  { name: "all", kind: "L2Advertisement", spec: {} },
  {
    name: "everything",
    kind: "L2Advertisement",
    spec: {
      ipAddressPools: ["a", "b"],
      ipAddressPoolSelectors: [expression("In", ["a"]), expression("In", ["b"])],
      nodeSelectors: [expression("Exists"), expression("DoesNotExist")],
      interfaces: ["eth0", "eth0"],
      serviceSelectors: [{}],
      preferredNodeSelectors: [1, 1].map((weight) => ({ weight, preference: {} })),
    },
  },
];

for (const shape of ["ours", "MetalLB's"] as const) {
  describe(`admission, with CustomResourceDefinitions that are ${shape}`, function () {
    this.timeout(120_000);
    const plane = useControlPlane();

    before(async () => {
      const definitions = shape === "ours" ? ourDefinitions() : ourDefinitions().map(withoutRules);
      await plane().kubectl(
        ["apply", "--server-side", "-f", "-"],
        definitions.map((each) => stringify(each)).join("---\n"),
      );
      await plane().kubectl(["wait", "--for=condition=Established", "crd", "--all", "--timeout=30s"]);
      await plane()
        .kubectl(["create", "namespace", "default"])
        .catch(() => "it is there");
      await create(plane(), { name: "old", spec: OLD });
      await plane().kubectl(["apply", "-k", join(MANIFESTS, "overlays/standalone")]);
      await create(plane(), { name: "first", spec: FIRST });
      for (const name of ["twice", "smaller", "pools"]) await untilRefused(plane(), name);
    });

    for (const refusal of REFUSED) {
      it(`refuses ${refusal.kind ?? "IPAddressPool"} ${refusal.name}: ${refusal.says}`, async () => {
        const said = await refusalOf(plane(), refusal);
        expect(said).to.contain(refusal.says).and.to.contain(`"${refusal.name}"`);
      });
    }

    for (const resource of ACCEPTED) {
      it(`accepts ${resource.kind ?? "IPAddressPool"} ${resource.name}`, () => create(plane(), resource));
    }

    it("lets a pool that is older than the policies get labels, though it would be refused today", async () => {
      const said = await plane().kubectl(["label", "ipaddresspool", "old", "-n", "metallb-system", "a=b"]);
      expect(said).to.contain("labeled");
      const patch = JSON.stringify({ spec: OLD, metadata: { annotations: { a: "b" } } });
      await plane().kubectl(["patch", "ipaddresspool", "old", "-n", "metallb-system", "--type=merge", "-p", patch]);
    });

    it("refuses a change of a pool that it would refuse if it were new, and lets it be deleted", async () => {
      const named = ["ipaddresspool", "beside", "-n", "metallb-system"];
      const patch = JSON.stringify({ spec: FIRST });
      const said = await messageOf(plane().kubectl(["patch", ...named, "--type=merge", "-p", patch]));
      expect(said).to.contain('of pool "beside" overlaps with already defined CIDR');
      await plane().kubectl(["delete", ...named]);
    });

    it("accepts pools of 1,000 entries beside each other, and knows a clash with one", async () => {
      await create(plane(), { name: "large", spec: pool(...thousandPrefixes(100)) });
      await create(plane(), { name: "large-too", spec: pool(...thousandPrefixes(110)) });
      const small = { name: "small", spec: pool("10.103.200.0/30") };
      await until(
        async () =>
          (await refusalOf(plane(), small))?.includes(clash("10.103.200.0/30", "small", "10.103.200.0/24")) === true,
      );
    });
  });
}

describe("manifests/samples/refused.yaml", function () {
  this.timeout(120_000);
  const plane = useControlPlane();

  it("gives six sentences that name object, field and value", async () => {
    await plane().kubectl(["apply", "--server-side", "-f", join(MANIFESTS, "crd")]);
    await plane().kubectl(["wait", "--for=condition=Established", "crd", "--all", "--timeout=30s"]);
    await plane().kubectl(["apply", "-k", join(MANIFESTS, "overlays/standalone")]);
    const [first = ""] = readFileSync(join(SAMPLES, "first-steps.yaml"), "utf8").split("\n---\n");
    await plane().kubectl(["apply", "-f", "-"], first);
    await untilRefused(plane(), "pools");
    const overlap = { name: "over", spec: pool("192.0.2.100/32") };
    await until(async () => (await refusalOf(plane(), overlap)) !== undefined);
    const apply = ["apply", "--dry-run=server", "-f", join(SAMPLES, "refused.yaml")];
    await until(async () => (await messageOf(plane().kubectl(apply)))?.split("denied request").length === 4);
    const said = (await messageOf(plane().kubectl(apply))) ?? "";
    const sentences = said.split("\n").flatMap((line) => / error when creating "[^"]*": (.*)/.exec(line)?.[1] ?? []);
    const golden = readFileSync(join(ROOT, "test/kube/api/refused.txt"), "utf8").trimEnd().split("\n");
    expect(sentences).to.deep.equal(golden);
  });
});

async function untilRefused(plane: ControlPlane, name: string): Promise<void> {
  const refusal = REFUSED.find((each) => each.name === name);
  if (refusal === undefined) throw new Error(`no such case: ${name}`);
  await until(async () => (await refusalOf(plane, refusal))?.includes(refusal.says) === true);
}

/** Policies are enforced some seconds after they were created, and see a new pool soon after it. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + ENFORCED_TIMEOUT_MS;
  while (!(await holds())) {
    if (performance.now() > deadlineMs) throw new Error("what is waited for does not come");
    await sleep(POLL_MS);
  }
}

function create(
  plane: ControlPlane,
  resource: Omit<Refusal, "says">,
  options: readonly string[] = [],
): Promise<string> {
  const { name, kind = "IPAddressPool", namespace = "metallb-system", spec } = resource;
  const object = { apiVersion: "metallb.io/v1beta1", kind, metadata: { name, namespace }, spec };
  return plane.kubectl(["create", "--validate=false", "-f", "-", ...options], JSON.stringify(object));
}

/** What kubectl says of it; undefined when it is accepted. Nothing is kept. */
function refusalOf(plane: ControlPlane, resource: Omit<Refusal, "says">): Promise<string | undefined> {
  return messageOf(create(plane, resource, ["--dry-run=server"]));
}

function messageOf(attempt: Promise<unknown>): Promise<string | undefined> {
  return attempt.then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

function thousandPrefixes(first: number): readonly string[] {
  return Array.from({ length: 1_000 }, (_entry, index) => `10.${first + (index >> 8)}.${index & 255}.0/24`);
}

function ourDefinitions(): readonly object[] {
  const files = ["ipaddresspools", "l2advertisements"].map((plural) => `metallb.io_${plural}.yaml`);
  return [...files, "namespace.yaml"].flatMap((file) =>
    parseAllDocuments(readFileSync(join(MANIFESTS, "crd", file), "utf8")).map((document) => document.toJS() as object),
  );
}

/** MetalLB's definitions have the same structure (test/manifests/structure.test.ts), but no rules and limits. */
function withoutRules(definition: object): object {
  const added = ["x-kubernetes-validations", "minItems", "maxItems", "maxLength"];
  const isPool = JSON.stringify(definition).includes('"IPAddressPool"');
  return JSON.parse(JSON.stringify(definition), (key, value: unknown) =>
    isPool && added.includes(key) ? undefined : value,
  ) as object;
}
