/** What MetalLB's plain manifests leave in a cluster, as far as a controller that comes after it meets it. The program in it is another. Pure. */
import { BACKEND_IMAGE } from "../images.ts";

const NAMESPACE = "metallb-system";
const RBAC = "rbac.authorization.k8s.io";
const LABELS = { app: "metallb", component: "controller" };

export const THEIR_DEPLOYMENT = "controller";
export const THEIR_WEBHOOKS = "metallb-webhook-configuration";

type ResourceObject = Readonly<Record<string, unknown>>;

/** ServiceAccount, roles, Deployment and the webhook's Service. */
export function buildTheirs(): readonly ResourceObject[] {
  const metadata = { name: THEIR_DEPLOYMENT, namespace: NAMESPACE, labels: { app: "metallb" } };
  const subjects = [{ kind: "ServiceAccount", name: THEIR_DEPLOYMENT, namespace: NAMESPACE }];
  const clusterRole = { name: `${NAMESPACE}:controller`, labels: { app: "metallb" } };
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata },
    {
      apiVersion: `${RBAC}/v1`,
      kind: "ClusterRole",
      metadata: clusterRole,
      rules: [
        { apiGroups: [""], resources: ["services", "namespaces"], verbs: ["get", "list", "watch"] },
        { apiGroups: [""], resources: ["services/status"], verbs: ["update"] },
        { apiGroups: [""], resources: ["events"], verbs: ["create", "patch"] },
      ],
    },
    {
      apiVersion: `${RBAC}/v1`,
      kind: "ClusterRoleBinding",
      metadata: clusterRole,
      roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: clusterRole.name },
      subjects,
    },
    {
      apiVersion: `${RBAC}/v1`,
      kind: "Role",
      metadata,
      rules: [
        {
          apiGroups: [""],
          resources: ["secrets"],
          verbs: ["create", "delete", "get", "list", "patch", "update", "watch"],
        },
        { apiGroups: ["apps"], resources: ["deployments"], resourceNames: [THEIR_DEPLOYMENT], verbs: ["get"] },
      ],
    },
    {
      apiVersion: `${RBAC}/v1`,
      kind: "RoleBinding",
      metadata,
      roleRef: { apiGroup: RBAC, kind: "Role", name: THEIR_DEPLOYMENT },
      subjects,
    },
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { ...metadata, labels: LABELS },
      spec: {
        selector: { matchLabels: LABELS },
        template: {
          metadata: { labels: LABELS },
          spec: {
            serviceAccountName: THEIR_DEPLOYMENT,
            terminationGracePeriodSeconds: 0,
            containers: [{ name: "controller", image: BACKEND_IMAGE, imagePullPolicy: "Never" }],
          },
        },
      },
    },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "metallb-webhook-service", namespace: NAMESPACE },
      // Ours wear that label, too.
      spec: { selector: { component: "controller" }, ports: [{ port: 443, targetPort: 9443 }] },
    },
  ];
}

/** With it, and nobody who answers, no pool can be applied. */
export function buildTheirWebhooks(): ResourceObject {
  const service = { name: "metallb-webhook-service", namespace: NAMESPACE };
  const webhook = (plural: string, name: string) => ({
    name: `${name}validationwebhook.metallb.io`,
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    failurePolicy: "Fail",
    timeoutSeconds: 2,
    clientConfig: { service: { ...service, path: `/validate-metallb-io-v1beta1-${name}` } },
    rules: [
      { apiGroups: ["metallb.io"], apiVersions: ["v1beta1"], operations: ["CREATE", "UPDATE"], resources: [plural] },
    ],
  });
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: THEIR_WEBHOOKS },
    webhooks: [webhook("ipaddresspools", "ipaddresspool"), webhook("l2advertisements", "l2advertisement")],
  };
}
