/** Arpeggio on a cluster, as docs/install.md says it, with the images of this machine. */
import { join, resolve } from "node:path";
import { kubectl } from "./kubectl.ts";
import type { Cluster } from "./topology.ts";

/** dist/hack/kube-cluster → the repository. */
const MANIFESTS = resolve(import.meta.dirname, "../../../manifests");
const NAMESPACE = ["-n", "metallb-system"];
const SPEAKERS = ["daemonset/arpeggio-speaker", ...NAMESPACE];
const CONTROLLERS = ["deployment/arpeggio-controller", ...NAMESPACE];
const READY_TIMEOUT = "--timeout=120s";

/** The images are on every node already. Ends when a speaker is ready on each, and both controllers are. */
export async function installArpeggio(cluster: Cluster): Promise<void> {
  await kubectl(cluster, ["apply", "--server-side", "--field-manager=arpeggio", "-f", join(MANIFESTS, "crd")]);
  const kinds = ["ipaddresspools", "l2advertisements", "servicel2statuses", "configurationstates"];
  const definitions = kinds.map((kind) => `crd/${kind}.metallb.io`);
  await kubectl(cluster, ["wait", "--for=condition=Established", ...definitions, READY_TIMEOUT]);
  await applyOverlay(cluster, "standalone");
}

/** Ends when everything in it is ready. */
export async function applyOverlay(cluster: Cluster, overlay: "standalone" | "controller-only"): Promise<void> {
  await kubectl(cluster, ["apply", "-k", join(MANIFESTS, "overlays", overlay)]);
  if (overlay === "standalone") await kubectl(cluster, ["rollout", "status", ...SPEAKERS, READY_TIMEOUT]);
  await kubectl(cluster, ["rollout", "status", ...CONTROLLERS, READY_TIMEOUT]);
}

/** The DaemonSet alone; ends when its pods are gone. */
export async function removeSpeakers(cluster: Cluster): Promise<void> {
  await kubectl(cluster, ["delete", ...SPEAKERS, "--cascade=foreground", READY_TIMEOUT]);
}
