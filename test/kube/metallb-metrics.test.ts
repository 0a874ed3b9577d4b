/** The series that MetalLB's dashboards and alerts read, as Prometheus reads them: over HTTPS on the node's address, with a token. */
import { join } from "node:path";
import { expect } from "chai";
import { SCENE_NAMESPACE, type Scene, SPEAKER_NAMESPACE, useScene } from "../support/kube-scene.ts";
import type { Trial } from "../support/kube-trial.ts";
import type { Resource } from "../support/resource-path.ts";
import { together } from "../support/together.ts";

const RBAC = "rbac.authorization.k8s.io/v1";
const SCRAPER = join(import.meta.dirname, "../support/scrape-main.js");
const READER = "metrics-reader";
const COUNTERS = [
  "metallb_layer2_requests_received",
  "metallb_layer2_responses_sent",
  "metallb_layer2_gratuitous_sent",
] as const;

describe("MetalLB's behaviours: metrics", () => {
  const scene = useScene();

  together(scene, {
    "only the leader exposes metallb_speaker_announced, its counters rise, and the series goes with the Service":
      async (trial) => {
        const objects = rightsToRead();
        await trial.apply(...objects);
        const token = await tokenOf(scene());
        await trial.start();
        const leader = await trial.ledByFirst();
        const others = scene().nodes.filter((node) => node !== leader);
        for (const ip of trial.addresses) {
          const labels = [
            `service="${SCENE_NAMESPACE}/${trial.name}"`,
            'protocol="layer2"',
            `node="${leader}"`,
            `ip="${ip}"`,
          ];
          await trial.until(`${leader} exposes ${ip}`, 20_000, async () => {
            const lines = await linesOf(trial, leader, token, "metallb_speaker_announced", ip);
            return lines.length === 1 && lines[0]?.endsWith(" 1") && labels.every((label) => lines[0]?.includes(label));
          });
          for (const node of others) {
            expect(await linesOf(trial, node, token, "metallb_speaker_announced", ip), node).to.deep.equal([]);
          }
          for (const counter of COUNTERS) {
            const before = await valueOf(trial, leader, token, counter, ip);
            expect(before, counter).to.be.greaterThan(0);
          }
          const asked = await valueOf(trial, leader, token, COUNTERS[0], ip);
          await scene().answering(ip);
          expect(await valueOf(trial, leader, token, COUNTERS[0], ip)).to.be.greaterThan(asked);
        }
        await trial.remove(trial.service());
        await trial.until("the series is gone", 20_000, async () => {
          const lines = await Promise.all(
            trial.addresses.map((ip) => linesOf(trial, leader, token, "metallb_speaker_announced", ip)),
          );
          return lines.flat().length === 0;
        });
      },
  });
});

/** What components/prometheus grants the speakers, and a reader of our own. */
function rightsToRead(): readonly Resource[] {
  const reviews = [
    { apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
    { apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] },
  ];
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: READER, namespace: SCENE_NAMESPACE } },
    ...grant("test-metrics-reviews", reviews, { name: "arpeggio-speaker", namespace: SPEAKER_NAMESPACE }),
    ...grant("test-metrics-reader", [{ nonResourceURLs: ["/metrics"], verbs: ["get"] }], {
      name: READER,
      namespace: SCENE_NAMESPACE,
    }),
  ];
}

function grant(
  name: string,
  rules: readonly unknown[],
  account: { readonly name: string; readonly namespace: string },
): readonly Resource[] {
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name };
  const binding = { roleRef, subjects: [{ kind: "ServiceAccount", ...account }] };
  return [
    { apiVersion: RBAC, kind: "ClusterRole", metadata: { name }, rules },
    { apiVersion: RBAC, kind: "ClusterRoleBinding", metadata: { name }, ...binding },
  ];
}

async function tokenOf(scene: Scene): Promise<string> {
  const path = `/api/v1/namespaces/${SCENE_NAMESPACE}/serviceaccounts/${READER}/token`;
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
  return (await scene.call<{ status: { token: string } }>({ method: "POST", path, body })).status.token;
}

/** The node's samples of that series about the address. */
async function linesOf(
  trial: Trial,
  node: string,
  token: string,
  series: string,
  ip: string,
): Promise<readonly string[]> {
  const { kube } = trial.scene;
  const url = `https://${kube.node(node).ipv4}:9120/metrics`;
  const text = await kube.onClient(["env", `TOKEN=${token}`, process.execPath, SCRAPER, url]);
  return text.split("\n").filter((line) => line.startsWith(`${series}{`) && line.includes(`ip="${ip}"`));
}

async function valueOf(trial: Trial, node: string, token: string, series: string, ip: string): Promise<number> {
  const [line = ""] = await linesOf(trial, node, token, series, ip);
  return Number(line.split(" ").at(-1));
}
