/** Roles and their bindings from the table of `api/rbac.ts`. Pure. */
import { type Grant, type Grants, NAMESPACE } from "../../api/rbac.ts";

const RBAC = "rbac.authorization.k8s.io";

/** A ClusterRole, a Role, and a binding of each; what would be empty is left out. Namespaces are kustomize's to set. */
export function roleObjects(name: string, { serviceAccount, cluster, namespace }: Grants): readonly object[] {
  return [
    ...roleAndBinding("ClusterRole", { name }, serviceAccount, cluster),
    ...roleAndBinding("Role", { name }, serviceAccount, namespace),
  ];
}

function roleAndBinding(
  kind: "ClusterRole" | "Role",
  metadata: { readonly name: string },
  serviceAccount: string,
  grants: readonly Grant[],
): readonly object[] {
  if (grants.length === 0) return [];
  return [
    { apiVersion: `${RBAC}/v1`, kind, metadata, rules: grants.map(ruleOf) },
    {
      apiVersion: `${RBAC}/v1`,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: RBAC, kind, name: metadata.name },
      subjects: [{ kind: "ServiceAccount", name: serviceAccount, namespace: NAMESPACE }],
    },
  ];
}

function ruleOf({ apiGroup, resources, names, verbs }: Grant): object {
  return { apiGroups: [apiGroup], resources, ...(names === undefined ? {} : { resourceNames: names }), verbs };
}
