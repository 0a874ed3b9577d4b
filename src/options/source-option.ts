/** Where a daemon has its resources from, as both daemons are told. Pure but for the `Host` it is given. */
import { absolute, type Host } from "./host.ts";
import type { OptionReader } from "./option-reader.ts";
import { parseSource, type SourceChoice } from "./option-values.ts";

export interface FilesOptions {
  readonly kind: "files";
  /** Of manifests. */
  readonly folder: string;
}

const ADVICE = "give --source=files:DIR, a folder of manifests, or --source=kubernetes";

/** Inside a pod, as MetalLB's manifests start it, the cluster is the source unless another is named. */
export function readSource<Kubernetes>(
  reader: Pick<OptionReader<"source">, "read" | "readRequired">,
  host: Host,
  isInPod: boolean,
  readKubernetes: () => Kubernetes,
): FilesOptions | Kubernetes | undefined {
  const source = isInPod
    ? reader.read<SourceChoice | undefined>("source", parseSource, { kind: "kubernetes" })
    : reader.readRequired<SourceChoice>("source", parseSource, ADVICE);
  if (source === undefined) return undefined;
  if (source.kind === "files") return { kind: "files", folder: absolute(source.folder, host) };
  return readKubernetes();
}
