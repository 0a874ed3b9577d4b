/** What Kubernetes says of a node, said and taken back around a piece of a test. */
import { NODE_LABELS } from "../../api/annotations.ts";
import type { Scene } from "./kube-scene.ts";
import type { Resource } from "./resource-path.ts";

export function nodeOf(name: string): Resource {
  return { apiVersion: "v1", kind: "Node", metadata: { name } };
}

/** The label by which cloud load balancers leave a node out. */
export async function whileExcluded(scene: Scene, node: string, body: () => Promise<void>): Promise<void> {
  await labelExcluded(scene, node, "");
  try {
    await body();
  } finally {
    await labelExcluded(scene, node, null);
  }
}

async function labelExcluded(scene: Scene, node: string, value: string | null): Promise<void> {
  await scene.patch(nodeOf(node), { metadata: { labels: { [NODE_LABELS.excludeFromLoadBalancers]: value } } });
}

/** As a network plugin says it. */
export async function whileNetworkUnavailable(scene: Scene, node: string, body: () => Promise<void>): Promise<void> {
  await setNetworkUnavailable(scene, node, "True");
  try {
    await body();
  } finally {
    await setNetworkUnavailable(scene, node, "False");
  }
}

async function setNetworkUnavailable(scene: Scene, node: string, status: "True" | "False"): Promise<void> {
  const now = new Date().toISOString().replace(/\.\d+/, "");
  const condition = {
    type: "NetworkUnavailable",
    status,
    reason: "Test",
    message: "",
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  };
  // A strategic merge leaves the other conditions as they are.
  await scene.call({
    method: "PATCH",
    path: `/api/v1/nodes/${node}/status`,
    body: { status: { conditions: [condition] } },
    contentType: "application/strategic-merge-patch+json",
  });
}

/** A taint that nothing of Arpeggio tolerates. */
export async function whileTainted(scene: Scene, node: string, body: () => Promise<void>): Promise<void> {
  const taints = [{ key: "test.example.org/away", effect: "NoSchedule" }];
  await scene.patch(nodeOf(node), { spec: { taints } });
  try {
    await body();
  } finally {
    await scene.patch(nodeOf(node), { spec: { taints: null } });
  }
}
