/** Which controller runs: that of a folder, or that of a cluster. */
import type { Log } from "../src/base/log.ts";
import type { ControllerOptions } from "./options.ts";
import { runOverFolder } from "./run-files.ts";
import { runInCluster } from "./run-kubernetes.ts";

export async function runController(
  { source, ...others }: ControllerOptions,
  log: Log,
  fail: (error: unknown) => never,
): Promise<void> {
  if (source.kind === "files") await runOverFolder({ source, ...others }, log, fail);
  else await runInCluster({ source, ...others }, log, fail);
}
