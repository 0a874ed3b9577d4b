/** Every file of the tree that follows from `api/`, as text. Pure. */
import { stringify } from "yaml";
import { POLICIES } from "../../api/admission/policies.ts";
import { policyObjects } from "../../api/admission/policy.ts";
import { customResourceDefinition, RESOURCE_DEFINITIONS } from "../../api/crd/definitions.ts";
import { CRD_GROUP } from "../../api/crd/group.ts";
import { MAKE_KEY_GRANTS, METRICS_GRANTS, SPEAKER_GRANTS } from "../../api/rbac.ts";
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
    {
      path: "manifests/base/rbac.yaml",
      text: yamlText("api/rbac.ts", roleObjects("arpeggio-speaker", SPEAKER_GRANTS)),
    },
    {
      path: "manifests/base/key-job-rbac.yaml",
      text: yamlText("api/rbac.ts", roleObjects("arpeggio-make-key", MAKE_KEY_GRANTS)),
    },
    {
      path: "manifests/components/prometheus/rbac.yaml",
      text: yamlText("api/rbac.ts", roleObjects("arpeggio-speaker-metrics", METRICS_GRANTS)),
    },
  ];
}

function yamlText(origin: string, objects: readonly object[]): string {
  const documents = objects.map((object) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false }));
  return `# Generated from ${origin} by hack/manifests.\n${documents.join("---\n")}`;
}
