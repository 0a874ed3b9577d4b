/** Arpeggio on a cluster, as docs/install.md says it, with the images of this machine. */
import { join, resolve } from "node:path";
import { kubectl } from "./kubectl.ts";
import type { Cluster } from "./topology.ts";

/** dist/hack/kube-cluster → the repository. */
const MANIFESTS = resolve(import.meta.dirname, "../../../manifests");
const SPEAKERS = ["daemonset/arpeggio-speaker", "-n", "metallb-system"];
const READY_TIMEOUT = "--timeout=120s";

/** The speaker's image is on every node already. Ends when a speaker is ready on each. */
export async function installArpeggio(cluster: Cluster): Promise<void> {
  await kubectl(cluster, ["apply", "--server-side", "--field-manager=arpeggio", "-f", join(MANIFESTS, "crd")]);
  const kinds = ["ipaddresspools", "l2advertisements", "servicel2statuses", "configurationstates"];
  const definitions = kinds.map((kind) => `crd/${kind}.metallb.io`);
  await kubectl(cluster, ["wait", "--for=condition=Established", ...definitions, READY_TIMEOUT]);
  await installSpeakers(cluster);
}

/** The overlay `standalone` alone; ends when a speaker is ready on every node. */
export async function installSpeakers(cluster: Cluster): Promise<void> {
  await kubectl(cluster, ["apply", "-k", join(MANIFESTS, "overlays/standalone")]);
  await kubectl(cluster, ["rollout", "status", ...SPEAKERS, READY_TIMEOUT]);
}

/** The DaemonSet alone; ends when its pods are gone. */
export async function removeSpeakers(cluster: Cluster): Promise<void> {
  await kubectl(cluster, ["delete", ...SPEAKERS, "--cascade=foreground", READY_TIMEOUT]);
}
