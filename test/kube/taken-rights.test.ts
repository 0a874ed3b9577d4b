/** A speaker whose role grants less than ours: MetalLB's own, or one that an administrator has cut. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { SPEAKER_GRANTS } from "../../api/rbac.ts";
import type { AuditRequest } from "../../hack/kube-cluster/audit/audit-log.ts";
import { readClusterAudit } from "../../hack/kube-cluster/audit/cluster-audit.ts";
import { speakerPod } from "../../hack/kube-cluster/drills/speakers.ts";
import { type Scene, SPEAKER_NAMESPACE, useScene } from "../support/kube-scene.ts";
import type { Resource } from "../support/resource-path.ts";
import { alone } from "../support/together.ts";

/** What a speaker reads again by name when no watch shows what it wrote. */
const WRITTEN = ["configurationstates", "servicel2statuses"];
const LOOK_EVERY_MS = 500;

interface Rule {
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

describe("a speaker without the right to watch", () => {
  const scene = useScene();

  alone(scene, "asks by name for what it has written, and writes nothing twice", async (trial) => {
    const { kube } = scene();
    const [node = ""] = trial.hashOrder();
    // No other node may lead, so it leads as soon as it can.
    await trial.start({}, { nodeSelectors: [{ matchLabels: { "kubernetes.io/hostname": node } }] });
    await trial.ledBy([node]);
    await kube.whileRefusing("the right to watch what is written back", () =>
      withoutWatch(scene(), async () => {
        const sinceMs = Date.now();
        const pod = await speakerPod(kube.cluster, kube.node(node));
        await kube.kubectl(["delete", "-n", SPEAKER_NAMESPACE, pod]);
        const requests = await kube.until(
          "the new speaker has read both",
          async () => {
            await sleep(LOOK_EVERY_MS);
            const found = (await readClusterAudit(kube.cluster, [SPEAKER_GRANTS])).filter(
              ({ atMs, pod: name }) => atMs >= sinceMs && `pod/${name}` !== pod,
            );
            return WRITTEN.every((resource) => found.some(isOf("get", resource))) && found;
          },
          60_000,
        );
        const refused = requests.filter(({ isAllowed }) => !isAllowed);
        expect(new Set(refused.map(wordsOf))).to.deep.equal(new Set(WRITTEN.map((resource) => `watch ${resource}`)));
        const [reader] = requests.filter(isOf("get", "configurationstates")).map(({ pod: name }) => name);
        const written = requests.filter(
          ({ pod: name, verb }) => name === reader && ["create", "delete"].includes(verb),
        );
        for (const resource of WRITTEN) {
          expect(written.filter(isOf("create", resource)).length, `${resource} made`).to.be.at.most(1);
        }
        const [status, ...others] = await trial.l2Statuses();
        expect(others).to.deep.equal([]);
        expect(status?.status?.node).to.equal(node);
      }),
    );
  });
});

function isOf(verb: string, resource: string): (request: AuditRequest) => boolean {
  return (request) => request.verb === verb && request.resource === resource;
}

function wordsOf({ verb, resource }: AuditRequest): string {
  return `${verb} ${resource}`;
}

/** Taken from new watches alone: the API server asks about a watch when it begins. */
async function withoutWatch(scene: Scene, body: () => Promise<void>): Promise<void> {
  const metadata = { name: SPEAKER_GRANTS.serviceAccount, namespace: SPEAKER_NAMESPACE };
  const role: Resource = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", metadata };
  const { rules } = await scene.kube.get<{ rules: readonly Rule[] }>("role", metadata.name, "-n", metadata.namespace);
  const cut = rules.map((rule) =>
    rule.resources.some((resource) => WRITTEN.includes(resource))
      ? { ...rule, verbs: rule.verbs.filter((verb) => verb !== "watch") }
      : rule,
  );
  await scene.patch(role, { rules: cut });
  try {
    await body();
  } finally {
    await scene.patch(role, { rules });
  }
}
