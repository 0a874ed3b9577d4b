/** containerd and what it needs, unpacked in the user's cache by fetch-tools. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { runCommand } from "../netlab/run-command.ts";

/** dist/hack/kube-cluster → the repository. */
const FETCH_TOOLS = resolve(import.meta.dirname, "../../../hack/kube-cluster/fetch-tools");

/** Their folder; undefined while nobody has fetched them. */
export async function findNodeTools(): Promise<string | undefined> {
  const path = (await runCommand([FETCH_TOOLS, "--path"])).trim();
  return existsSync(path) ? path : undefined;
}
