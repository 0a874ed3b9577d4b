/** Every file of the tree that follows from `api/`, as text. Pure. */
import { Document, isScalar, Scalar, visit } from "yaml";
import { POLICIES } from "../../api/admission/policies.ts";
import { policyObjects } from "../../api/admission/policy.ts";
import { customResourceDefinition, RESOURCE_DEFINITIONS } from "../../api/crd/definitions.ts";
import { CRD_GROUP } from "../../api/crd/group.ts";
import {
  CONTROLLER_GRANTS,
  CONTROLLER_METRICS_GRANTS,
  MAKE_KEY_GRANTS,
  METRICS_GRANTS,
  SPEAKER_GRANTS,
  TAKEOVER_GRANTS,
} from "../../api/rbac.ts";
import { rbacPage } from "./rbac-page.ts";
import { roleObjects } from "./roles.ts";

interface GeneratedFile {
  /** From the root of the repository. */
  readonly path: string;
  readonly text: string;
}

export function generatedFiles(): readonly GeneratedFile[] {
  const definitions = RESOURCE_DEFINITIONS.map((definition) => ({
    path: `manifests/crd/${CRD_GROUP}_${definition.plural}.yaml`,
    text: yamlText("api/crd", [customResourceDefinition(definition)]),
  }));
  const policies = POLICIES.map((policy) => ({
    path: `manifests/components/validation/${policy.name}.yaml`,
    text: yamlText("api/admission", policyObjects(policy)),
  }));
  return [
    ...definitions,
    ...policies,
    ...ROLES.map(([path, name, grants]) => ({ path, text: yamlText("api/rbac.ts", roleObjects(name, grants)) })),
    { path: "docs/rbac.md", text: rbacPage() },
  ];
}

/** Where whose rights are written down. */
const ROLES = [
  ["manifests/base/rbac.yaml", "arpeggio-speaker", SPEAKER_GRANTS],
  ["manifests/base/key-job-rbac.yaml", "arpeggio-make-key", MAKE_KEY_GRANTS],
  ["manifests/components/prometheus/rbac.yaml", "arpeggio-speaker-metrics", METRICS_GRANTS],
  ["manifests/components/prometheus-controller/rbac.yaml", "arpeggio-controller-metrics", CONTROLLER_METRICS_GRANTS],
  ["manifests/controller/rbac.yaml", "arpeggio-controller", CONTROLLER_GRANTS],
  ["manifests/components/takeover/rbac.yaml", "arpeggio-controller-takeover", TAKEOVER_GRANTS],
] as const;

/** CEL, which has quotes of its own. */
const CEL_KEYS: readonly unknown[] = ["expression", "messageExpression", "rule"];

function yamlText(origin: string, objects: readonly object[]): string {
  const documents = objects.map((object) => {
    const document = new Document(object, { aliasDuplicateObjects: false });
    visit(document, {
      Pair: (_key, { key, value }) => {
        if (isScalar(key) && isScalar(value) && CEL_KEYS.includes(key.value)) value.type = Scalar.BLOCK_LITERAL;
      },
    });
    return document.toString({ lineWidth: 0 });
  });
  return `# Generated from ${origin} by hack/manifests.\n${documents.join("---\n")}`;
}
