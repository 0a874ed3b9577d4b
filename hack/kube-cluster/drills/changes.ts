/** Drills of changes to what Arpeggio runs with: its advertisement's links, its DaemonSet, its keys. */
import { randomBytes } from "node:crypto";
import { monotonicMs } from "../../netlab/monotonic-ms.ts";
import { runCommand } from "../../netlab/run-command.ts";
import type { Host } from "../../netlab/topology.ts";
import { insideNode } from "../inside.ts";
import { applyOverlay, removeSpeakers } from "../install.ts";
import { secondLink } from "../topology.ts";
import type { KubeDeed, KubeDrill } from "./drill.ts";
import { buildAdvertisement, SPEAKER_NAMESPACE, WEB } from "./objects.ts";
import { apply, type KubeScene, watchFor } from "./scene.ts";
import { SecondWatcher } from "./second-watcher.ts";
import { cutApiConnections, readWatches } from "./speakers.ts";

const AFTERWARDS_MS = 1_500;
/** MetalLB's own tests allow 10 s for a change of interfaces. */
const LINKS_MS = 12_000;
/** Kubelet looks for a changed Secret every minute, a speaker sends with a new key 3 minutes after it has seen it. */
const KEY_MS = 5 * 60_000;
const TOKEN_MS = 30_000;
/** A speaker reads its token file anew once a minute, and when the token that it has is refused. */
const REFUSED_MS = 90_000;
const AGAIN_MS = 3_000;
const REFUSED_TOKEN = "no-token-at-all";

export const CHANGE_DRILLS = {
  "edit-interfaces": {
    does: "the L2Advertisement is restricted to eth1: eth0 falls silent, eth1 answers",
    service: WEB,
    endsInSilence: true,
    drill: editInterfaces,
  },
  "delete-daemonset": {
    does: "kubectl delete of the speakers' DaemonSet, until nobody answers and no object of theirs is left",
    service: WEB,
    endsInSilence: true,
    drill: deleteDaemonSet,
    repair: ({ cluster }) => applyOverlay(cluster, "standalone"),
  },
  "rotate-key": {
    does: "Secret memberlist gets a new key and keeps the old one as the previous one",
    service: WEB,
    drill: rotateKey,
  },
  token: {
    does: `the speakers' token file gets another valid token, then one that is refused, then the first again`,
    service: WEB,
    drill: changeToken,
  },
} as const satisfies Readonly<Record<string, KubeDrill>>;

async function editInterfaces(scene: KubeScene): Promise<KubeDeed> {
  const { cluster, service, nodes } = scene;
  const second = new SecondWatcher(cluster.topology.client, "eth1", service.ipv4);
  try {
    second.start();
    await watchFor(AFTERWARDS_MS);
    const deedMs = monotonicMs();
    await apply(cluster, [buildAdvertisement(["eth1"])]);
    await watchFor(LINKS_MS);
    const frames = await second.finish();
    const macs = nodes.map((node) => secondLink(node).mac);
    const first = frames.find(({ mac, atMs }) => macs.includes(mac) && atMs >= deedMs);
    return { deedMs, extra: { firstFrameOnEth1Ms: first === undefined ? null : Math.round(first.atMs - deedMs) } };
  } finally {
    second.close();
  }
}

async function deleteDaemonSet(scene: KubeScene): Promise<KubeDeed> {
  const deedMs = monotonicMs();
  await removeSpeakers(scene.cluster);
  await watchFor(AFTERWARDS_MS);
  const kinds = "servicel2statuses,configurationstates";
  const left = await scene.kubectl(["get", kinds, "-n", SPEAKER_NAMESPACE, "-o", "name"]);
  // The controller's own has another owner.
  const names = left.split("\n").filter((name) => name !== "" && !name.endsWith("/controller"));
  return { deedMs, extra: { objectsLeft: names.length } };
}

async function rotateKey(scene: KubeScene): Promise<KubeDeed> {
  const target = ["secret", "memberlist", "-n", SPEAKER_NAMESPACE];
  const previous = (await scene.kubectl(["get", ...target, "-o", "jsonpath={.data.secretkey}"])).trim();
  // As MetalLB makes it: 16 bytes in base64 without padding are 22 characters; data of a Secret is base64 once more.
  const next = Buffer.from(randomBytes(16).toString("base64").replace(/=+$/, "")).toString("base64");
  const patch = JSON.stringify({ data: { secretkey: next, "secretkey.previous": previous } });
  const deedMs = monotonicMs();
  await scene.kubectl(["patch", ...target, "--type=merge", "-p", patch]);
  await watchFor(KEY_MS);
  await scene.agree();
  return { deedMs };
}

async function changeToken(scene: KubeScene): Promise<KubeDeed> {
  const { nodes } = scene;
  const first = await Promise.all(nodes.map((node) => readToken(scene, node)));
  const account = ["arpeggio-speaker", "-n", SPEAKER_NAMESPACE];
  const another = (await scene.kubectl(["create", "token", ...account])).trim();
  const deedMs = monotonicMs();
  await Promise.all(nodes.map((node) => writeToken(scene, node, another)));
  await watchFor(TOKEN_MS);
  // Kubelet puts the right one back once a minute or so.
  const endMs = monotonicMs() + REFUSED_MS;
  while (monotonicMs() < endMs) {
    await Promise.all(nodes.map((node) => writeToken(scene, node, REFUSED_TOKEN)));
    await watchFor(AGAIN_MS);
  }
  const watchingRefused = await countWatching(nodes);
  await Promise.all(nodes.map((node, index) => writeToken(scene, node, first[index] ?? another)));
  // What backs off does so for at most 30 s.
  await watchFor(TOKEN_MS + AFTERWARDS_MS);
  return { deedMs, extra: { watchingRefused, watchingAfterwards: await countWatching(nodes) } };
}

/** Watches that stand, of all the speakers together. */
async function countWatching(nodes: readonly Host[]): Promise<number> {
  return (await readWatches(nodes)).filter(({ state }) => state === "watching").length;
}

/** The volume of the speaker's pod on that node; kubelet writes it anew when the token has lived for most of its hour. */
const TOKEN_SCRIPT = `for file in /var/lib/kubelet/pods/*/volumes/kubernetes.io~projected/kube-api-access-*/..data/token; do
  if [ -e "\${file%/volumes/*}/containers/speaker" ]; then "$@" "$file"; fi
done`;

function readToken({ cluster }: KubeScene, node: Host): Promise<string> {
  return runCommand(insideNode(cluster, node, ["bash", "-c", TOKEN_SCRIPT, "token", "cat"]));
}

/** Connections that are open were let in with the old one: they are cut, so that the new one is needed. */
async function writeToken(scene: KubeScene, node: Host, token: string): Promise<void> {
  await runCommand(insideNode(scene.cluster, node, ["bash", "-c", TOKEN_SCRIPT, "token", "tee"]), token);
  await cutApiConnections(node);
}
