/** Arpeggio on a cluster, as docs/install.md says it, with the images of this machine. */
import { join, resolve } from "node:path";
import { importImages } from "./inside.ts";
import { kubectl } from "./kubectl.ts";
import type { Cluster } from "./topology.ts";

/** dist/hack/kube-cluster → the repository. */
const MANIFESTS = resolve(import.meta.dirname, "../../../manifests");
const READY_TIMEOUT = "--timeout=120s";

/** Ends when a speaker is ready on every node. */
export async function installArpeggio(cluster: Cluster): Promise<void> {
  await importImages(cluster);
  await kubectl(cluster, ["apply", "--server-side", "--field-manager=arpeggio", "-f", join(MANIFESTS, "crd")]);
  const kinds = ["ipaddresspools", "l2advertisements", "servicel2statuses", "configurationstates"];
  const definitions = kinds.map((kind) => `crd/${kind}.metallb.io`);
  await kubectl(cluster, ["wait", "--for=condition=Established", ...definitions, READY_TIMEOUT]);
  await kubectl(cluster, ["apply", "-k", join(MANIFESTS, "overlays/standalone")]);
  await kubectl(cluster, ["rollout", "status", "daemonset/arpeggio-speaker", "-n", "metallb-system", READY_TIMEOUT]);
}
