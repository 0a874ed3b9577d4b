/** Arpeggio comes to a cluster with MetalLB, and goes: whatever was there is what it was. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { useControlPlane } from "../../support/control-plane.ts";

const ROOT = join(import.meta.dirname, "../../../..");
const MANIFESTS = join(ROOT, "manifests");

/** Everything that could be taken along: kinds that our overlays hold, MetalLB's resources, and what it keeps in its namespace. */
const KINDS = [
  "namespaces,crds,clusterroles,clusterrolebindings,validatingadmissionpolicies,validatingwebhookconfigurations",
  "serviceaccounts,roles,rolebindings,daemonsets,deployments,jobs,services,secrets,configmaps",
  "ipaddresspools,l2advertisements,servicel2statuses,configurationstates",
].join(",");

const PODS = `
spec:
  selector: {matchLabels: {app: metallb, component: COMPONENT}}
  template:
    metadata: {labels: {app: metallb, component: COMPONENT}}
    spec: {containers: [{name: COMPONENT, image: example.org/COMPONENT}]}`;
const pods = (component: string) => PODS.replaceAll("COMPONENT", component);

/** Names and labels as MetalLB's plain manifests give them. */
const STAND_INS = `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: speaker, namespace: metallb-system, labels: {app: metallb, component: speaker}}${pods("speaker")}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: controller, namespace: metallb-system, labels: {app: metallb, component: controller}}${pods("controller")}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: speaker, namespace: metallb-system, labels: {app: metallb}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: "metallb-system:speaker", labels: {app: metallb}}
rules: [{apiGroups: [""], resources: [services], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: "metallb-system:speaker", labels: {app: metallb}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "metallb-system:speaker"}
subjects: [{kind: ServiceAccount, name: speaker, namespace: metallb-system}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: pod-lister, namespace: metallb-system, labels: {app: metallb}}
rules: [{apiGroups: [""], resources: [pods], verbs: [list, get]}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: metallb-excludel2, namespace: metallb-system}
data: {excludel2.yaml: "announcedInterfacesToExclude: [^lo$]"}
---
apiVersion: v1
kind: Secret
metadata: {name: memberlist, namespace: metallb-system}
stringData: {secretkey: abcdefghijklmnopqrstuv}
---
apiVersion: metallb.io/v1beta1
kind: IPAddressPool
metadata: {name: first, namespace: metallb-system}
spec: {addresses: [192.0.2.100-192.0.2.119]}
---
apiVersion: metallb.io/v1beta1
kind: L2Advertisement
metadata: {name: first, namespace: metallb-system}
`;

for (const [overlay, ours] of [
  ["beside-metallb", "DaemonSet arpeggio-speaker"],
  ["beside-metallb-helm", "DaemonSet arpeggio-speaker"],
  ["controller-only", "Deployment arpeggio-controller"],
] as const) {
  describe(`overlay ${overlay}`, function () {
    this.timeout(120_000);
    const plane = useControlPlane();

    it("leaves everything as it was, when it is applied and when it is deleted", async () => {
      // As MetalLB's installation leaves them: owned by another field manager.
      await plane().kubectl(["apply", "--server-side", "--field-manager=metallb", "-f", join(MANIFESTS, "crd")]);
      await plane().kubectl(["wait", "--for=condition=Established", "crd", "--all", "--timeout=30s"]);
      await plane().kubectl(["create", "-f", "-"], STAND_INS);
      const before = await versions();
      expect([...before.keys()]).to.include.members(["IPAddressPool first", "DaemonSet speaker", "Secret memberlist"]);

      const folder = join(MANIFESTS, "overlays", overlay);
      await plane().kubectl(["apply", "-k", folder]);
      const during = await versions();
      expect(during.has(ours)).to.equal(true);
      expect(new Map([...during].filter(([name]) => before.has(name)))).to.deep.equal(before);

      await plane().kubectl(["delete", "-k", folder]);
      expect(await versions()).to.deep.equal(before);
    });

    /** `Kind name` to uid and resourceVersion, which changes with every write. */
    async function versions(): Promise<ReadonlyMap<string, string>> {
      const list = JSON.parse(await plane().kubectl(["get", KINDS, "-A", "-o", "json"])) as {
        readonly items: readonly {
          readonly kind: string;
          readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
        }[];
      };
      return new Map(
        list.items.map(({ kind, metadata }) => [
          `${kind} ${metadata.name}`,
          `${metadata.uid} ${metadata.resourceVersion}`,
        ]),
      );
    }
  });
}

describe("definitions that MetalLB installed", function () {
  this.timeout(120_000);
  const plane = useControlPlane();

  it("are left alone by manifests/crd, which says so", async () => {
    const file = join(MANIFESTS, "crd/metallb.io_ipaddresspools.yaml");
    const theirs = readFileSync(file, "utf8").replace(/^( +description:) .*$/m, "$1 MetalLB's");
    await plane().kubectl(["apply", "--server-side", "--field-manager=metallb", "-f", "-"], theirs);
    const read = () => plane().kubectl(["get", "crd", "ipaddresspools.metallb.io", "-o", "jsonpath={.spec}"]);
    const before = await read();
    const applied = plane().kubectl([
      "apply",
      "--server-side",
      "--field-manager=arpeggio",
      "-f",
      join(MANIFESTS, "crd"),
    ]);
    const said = await applied.then(
      () => "",
      (error: unknown) => String(error),
    );
    expect(said).to.contain("conflict").and.to.contain(".spec.versions");
    expect(await read()).to.equal(before);
    // The others were not there, and are now.
    await plane().kubectl(["get", "crd", "l2advertisements.metallb.io", "servicel2statuses.metallb.io"]);
  });
});
