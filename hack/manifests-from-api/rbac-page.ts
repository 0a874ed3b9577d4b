/** docs/rbac.md, from the table of `api/rbac.ts`. Pure. */
import {
  CONTROLLER_GRANTS,
  CONTROLLER_METRICS_GRANTS,
  type Grant,
  type Grants,
  MAKE_KEY_GRANTS,
  METRICS_GRANTS,
  NAMESPACE,
  SPEAKER_GRANTS,
  TAKEOVER_GRANTS,
} from "../../api/rbac.ts";

export function rbacPage(): string {
  return `# What Arpeggio may do with the Kubernetes API

<!-- Generated from api/rbac.ts by hack/manifests. -->

Every verb is used, and none is used that is not here. No wildcard, no write to Nodes, Pods or the specs of Services, and nobody reads a Secret's
data: the speakers have the key as a mounted file, the controller looks at its owners alone. The API server's audit log is the judge: \`hack/kube
audit\` prints what was asked on a running test cluster beside these tables, and the tests on a cluster end with the same comparison (\`granted 32,
used 32, refused 0\` for the speaker with component \`prometheus\`).
${section("Speaker", "manifests/base", SPEAKER_GRANTS)}
Under the role of MetalLB's own speaker everything works, too, but that pods are listed every minute instead of watched.
${section("Speaker, for metrics", "manifests/components/prometheus", METRICS_GRANTS)}${section("Job that makes the gossip key", "manifests/base", MAKE_KEY_GRANTS)}
A \`create\` cannot be limited to one name; the Job's ServiceAccount is used by nothing else, and the Job is gone a minute after it is done.
${section("Controller", "manifests/controller", CONTROLLER_GRANTS)}${section("Controller, to take over from MetalLB", "manifests/components/takeover", TAKEOVER_GRANTS)}${section("Controller, for metrics", "manifests/components/prometheus-controller", CONTROLLER_METRICS_GRANTS)}`;
}

function section(title: string, folder: string, { serviceAccount, cluster, namespace }: Grants): string {
  const rows = [...cluster.map((grant) => row("all", grant)), ...namespace.map((grant) => row(NAMESPACE, grant))];
  return `\n## ${title}\n\nServiceAccount \`${serviceAccount}\`, in \`${folder}\`.\n\n${table([["namespace", "resources", "verbs", "to"], ...rows])}`;
}

function row(where: string, { apiGroup, resources, names, verbs, to }: Grant): readonly string[] {
  const all = resources.map((resource) => (apiGroup === "" ? resource : `${resource} (${apiGroup})`)).join(", ");
  const named = names === undefined ? "" : `: ${names.map((name) => `\`${name}\``).join(", ")}`;
  return [where, all + named, verbs.join(", "), to];
}

/** As the formatter leaves it. */
function table(rows: readonly (readonly string[])[]): string {
  const [head = []] = rows;
  const widths = head.map((_cell, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
  const [first, ...others] = rows.map((cells) => line(cells.map((cell, column) => cell.padEnd(widths[column] ?? 0))));
  return [first, line(widths.map((width) => "-".repeat(width))), ...others].join("");
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |\n`;
}
