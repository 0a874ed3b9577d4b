/** The options of `--source=kubernetes`. Pure but for the `Host` it is given. */
import { type ClusterOptions, readClusterOptions } from "../src/daemon/cluster-options.ts";
import type { Host } from "../src/options/host.ts";
import type { OptionReader } from "../src/options/option-reader.ts";
import { parseText } from "../src/options/option-values.ts";
import type { OptionName } from "./options-table.ts";

export interface KubernetesOptions extends ClusterOptions {
  readonly kind: "kubernetes";
  /** Label selector of the speakers' pods; empty: gossip is off. */
  readonly podSelector: string;
}

export function readKubernetes(reader: OptionReader<OptionName>, host: Host): KubernetesOptions {
  return {
    kind: "kubernetes",
    ...readClusterOptions(reader, host),
    podSelector: reader.read("ml-labels", parseText, ""),
  };
}
