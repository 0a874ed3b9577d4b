/** What `kubectl apply -k` and `delete -k` do on a real API server, and what speaker and controller may do there afterwards. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { parseAllDocuments } from "yaml";
import {
  CONTROLLER_GRANTS,
  CONTROLLER_METRICS_GRANTS,
  type Grants,
  MAKE_KEY_GRANTS,
  METRICS_GRANTS,
  NAMESPACE,
  SPEAKER_GRANTS,
  TAKEOVER_GRANTS,
} from "../../../api/rbac.ts";
import { useControlPlane } from "../../support/control-plane.ts";

const ROOT = join(import.meta.dirname, "../../../..");
const MANIFESTS = join(ROOT, "manifests");
const OVERLAYS = readdirSync(join(MANIFESTS, "overlays"));
const COMPONENTS = readdirSync(join(MANIFESTS, "components"));
const APPLY = ["apply", "--server-side", "--field-manager=arpeggio"];

/** Ours have names of ours, but for those that the speakers share with MetalLB's. */
const SHARED_NAMES = ["ConfigMap metallb-excludel2"];

interface KubeObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

interface Controller {
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: readonly [{ readonly args: readonly string[] }] } };
  };
}

describe("overlays and components", function () {
  this.timeout(120_000);
  const plane = useControlPlane();
  const scratch: string[] = [];

  before(async () => {
    await plane().kubectl([...APPLY, "-f", join(MANIFESTS, "crd")]);
    await plane().kubectl(["wait", "--for=condition=Established", "crd", "--all", "--timeout=30s"]);
  });
  after(() => {
    for (const folder of scratch) rmSync(folder, { recursive: true });
  });

  /** A kustomization of a user's own. */
  function kustomization(components: readonly string[], overlay = "standalone"): string {
    const cache = join(ROOT, ".cache");
    mkdirSync(cache, { recursive: true });
    const folder = mkdtempSync(join(cache, "kustomization-"));
    scratch.push(folder);
    const text = {
      resources: [`../../manifests/overlays/${overlay}`],
      components: components.map((component) => `../../manifests/components/${component}`),
    };
    writeFileSync(join(folder, "kustomization.yaml"), JSON.stringify(text));
    return folder;
  }

  async function rendered(folder: string): Promise<readonly KubeObject[]> {
    const documents = parseAllDocuments(await plane().kubectl(["kustomize", folder]));
    return documents.map((document) => document.toJS() as KubeObject);
  }

  async function controllerArgs(components: readonly string[]): Promise<readonly string[]> {
    const objects = await rendered(kustomization(components));
    const controller = objects.find(
      ({ metadata: { name }, kind }) => kind === "Deployment" && name === "arpeggio-controller",
    );
    return (controller as unknown as Controller).spec.template.spec.containers[0].args;
  }

  it("are all known here", () => {
    expect(OVERLAYS).to.have.members(["standalone", "beside-metallb", "beside-metallb-helm", "controller-only"]);
    expect(COMPONENTS).to.have.members([
      "validation",
      "prometheus",
      "prometheus-controller",
      "takeover",
      "tolerate-all",
      "network-policy",
    ]);
  });

  for (const overlay of OVERLAYS) {
    it(`overlay ${overlay} holds objects of ours alone, no definition and no namespace`, async () => {
      const objects = await rendered(join(MANIFESTS, "overlays", overlay));
      const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
      const foreign = names.filter((name) => !/^\w+ arpeggio-/.test(name) && !SHARED_NAMES.includes(name));
      expect(foreign).to.deep.equal([]);
      const clusterWide = /^(ClusterRole|ValidatingAdmissionPolicy)/;
      const stray = objects.filter(({ kind, metadata }) => !clusterWide.test(kind) && metadata.namespace !== NAMESPACE);
      expect(stray).to.deep.equal([]);
    });

    it(`overlay ${overlay} is applied and deleted`, async () => {
      const folder = join(MANIFESTS, "overlays", overlay);
      await plane().kubectl([...APPLY, "--dry-run=server", "-k", folder]);
      await plane().kubectl([...APPLY, "-k", folder]);
      await plane().kubectl(["delete", "-k", folder, "--wait=false"]);
    });
  }

  for (const components of [...COMPONENTS.map((component) => [component]), COMPONENTS]) {
    const others = components.filter((component) => component !== "validation");
    it(`components ${components.join(", ")} are applied with an overlay, and deleted`, async () => {
      const folder = kustomization(others);
      await plane().kubectl([...APPLY, "--dry-run=server", "-k", folder]);
      await plane().kubectl([...APPLY, "-k", folder]);
      await plane().kubectl(["delete", "-k", folder, "--wait=false"]);
    });
  }

  it("component tolerate-all tolerates every taint", async () => {
    const daemonSets = (await rendered(kustomization(["tolerate-all"]))).filter(({ kind }) => kind === "DaemonSet");
    expect(daemonSets)
      .to.have.nested.property("[0].spec.template.spec.tolerations")
      .deep.equal([{ operator: "Exists" }]);
  });

  it("component takeover adds one option to the controller's", async () => {
    const [takingOver, usual] = await Promise.all([controllerArgs(["takeover"]), controllerArgs([])]);
    expect(takingOver).to.deep.equal([...usual, "--takeover"]);
  });

  it("overlay controller-only is the controller of standalone, with takeover and without speakers", async () => {
    const only = await rendered(join(MANIFESTS, "overlays/controller-only"));
    const others = await rendered(kustomization(["takeover"]));
    const names = only.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(names).to.include.members(["Deployment arpeggio-controller", "ValidatingAdmissionPolicy arpeggio-pools"]);
    expect(names.filter((name) => /speaker|make-key|excludel2/.test(name))).to.deep.equal([]);
    for (const object of only) expect(others).to.deep.include(object);
  });

  it("grants each ServiceAccount what api/rbac.ts says, and no more", async () => {
    await plane().kubectl([...APPLY, "-k", join(MANIFESTS, "overlays/standalone")]);
    for (const grants of [SPEAKER_GRANTS, MAKE_KEY_GRANTS, CONTROLLER_GRANTS]) {
      expect(await grantedTo(grants.serviceAccount)).to.have.members(verbsOf([grants]));
    }
  });

  for (const { component, grants } of [
    { component: "prometheus", grants: [SPEAKER_GRANTS, METRICS_GRANTS] },
    { component: "prometheus-controller", grants: [CONTROLLER_GRANTS, CONTROLLER_METRICS_GRANTS] },
    { component: "takeover", grants: [CONTROLLER_GRANTS, TAKEOVER_GRANTS] },
  ] as const) {
    it(`grants what it says of component ${component}, where that is applied`, async () => {
      const folder = kustomization([component]);
      await plane().kubectl([...APPLY, "-k", folder]);
      expect(await grantedTo(grants[0].serviceAccount)).to.have.members(verbsOf(grants));
      await plane().kubectl(["delete", "-k", folder, "--wait=false"]);
    });
  }

  /** `resource verb`, less what every new ServiceAccount may do. */
  async function grantedTo(account: string): Promise<readonly string[]> {
    const everybody = await rulesOf("new");
    return (await rulesOf(account)).filter((rule) => !everybody.includes(rule));
  }

  async function rulesOf(account: string): Promise<readonly string[]> {
    const as = `--as=system:serviceaccount:${NAMESPACE}:${account}`;
    const table = await plane().kubectl(["auth", "can-i", "--list", "-n", NAMESPACE, as]);
    return table.split("\n").flatMap((line) => {
      const [, resource = "", urls = "", names = "", verbs = ""] =
        /^(\S*) +\[(.*?)\] +\[(.*?)\] +\[(.*?)\]$/.exec(line) ?? [];
      return verbs.split(" ").flatMap((verb) => (verb === "" ? [] : [`${resource}${urls}${names} ${verb}`]));
    });
  }
});

function verbsOf(grants: readonly Grants[]): readonly string[] {
  return grants
    .flatMap(({ cluster, namespace }) => [...cluster, ...namespace])
    .flatMap(({ apiGroup, resources, names = [""], verbs }) => {
      const objects = resources.flatMap((resource) => names.map((name) => `${qualified(resource, apiGroup)}${name}`));
      return objects.flatMap((object) => verbs.map((verb) => `${object} ${verb}`));
    });
}

/** As kubectl writes it: `servicel2statuses.metallb.io/status`. */
function qualified(resource: string, apiGroup: string): string {
  const [name = "", ...subresource] = resource.split("/");
  return [apiGroup === "" ? name : `${name}.${apiGroup}`, ...subresource].join("/");
}
