/** What `kubectl apply -k` and `delete -k` do on a real API server, and what the speaker may do there afterwards. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { parseAllDocuments } from "yaml";
import { type Grants, MAKE_KEY_GRANTS, METRICS_GRANTS, NAMESPACE, SPEAKER_GRANTS } from "../../../api/rbac.ts";
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

  it("are all known here", () => {
    expect(OVERLAYS).to.have.members(["standalone", "beside-metallb", "beside-metallb-helm"]);
    expect(COMPONENTS).to.have.members(["validation", "prometheus", "tolerate-all", "network-policy"]);
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

  it("grants each ServiceAccount what api/rbac.ts says, and no more", async () => {
    await plane().kubectl([...APPLY, "-k", join(MANIFESTS, "overlays/standalone")]);
    for (const grants of [SPEAKER_GRANTS, MAKE_KEY_GRANTS]) {
      expect(await grantedTo(grants.serviceAccount)).to.have.members(verbsOf([grants]));
    }
  });

  it("grants the speaker two more verbs with component prometheus", async () => {
    await plane().kubectl([...APPLY, "-k", kustomization(["prometheus"])]);
    expect(await grantedTo("arpeggio-speaker")).to.have.members(verbsOf([SPEAKER_GRANTS, METRICS_GRANTS]));
  });

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
    .flatMap(({ apiGroup, resources, verbs }) =>
      resources.flatMap((resource) => verbs.map((verb) => `${qualified(resource, apiGroup)} ${verb}`)),
    );
}

/** As kubectl writes it: `servicel2statuses.metallb.io/status`. */
function qualified(resource: string, apiGroup: string): string {
  const [name = "", ...subresource] = resource.split("/");
  return [apiGroup === "" ? name : `${name}.${apiGroup}`, ...subresource].join("/");
}
