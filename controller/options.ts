/** The command line and the environment, read once into one validated value (DESIGN §4). Pure but for the `Host` it is given. */
import { LOG_LEVELS, type LogLevel } from "../src/base/log.ts";
import { type ClusterOptions, readClusterOptions } from "../src/daemon/cluster-options.ts";
import type { Ip } from "../src/net/ip.ts";
import type { Host } from "../src/options/host.ts";
import { idleNotes } from "../src/options/idle-notes.ts";
import { type Invocation, readInvocation } from "../src/options/invocation.ts";
import type { OptionReader } from "../src/options/option-reader.ts";
import {
  type ListenAddress,
  parseChoice,
  parseListenAddress,
  parseOptionalPort,
  parseSwitch,
  parseText,
} from "../src/options/option-values.ts";
import { type FilesOptions, readSource } from "../src/options/source-option.ts";
import { OPTIONS, type OptionName } from "./options-table.ts";

/** Of the controller's loopback (DESIGN D17). */
const HTTP_PORT = 17473;
const LOOPBACK = "127.0.0.1" as Ip;
/** MetalLB's health port (DESIGN D17); the kubelet asks from outside the pod. */
const HEALTH_PORT = 17472;
const EVERYWHERE = "0.0.0.0" as Ip;

export interface KubernetesOptions extends ClusterOptions {
  readonly kind: "kubernetes";
  /** What this process is called in the Lease, before its own digits. */
  readonly holderName: string;
  /** Absent: off. */
  readonly health?: ListenAddress;
  /** Of the gossip key's Secret; empty: it is left alone. */
  readonly secretName: string;
  /** MetalLB's webhook configuration is deleted when nobody answers it. */
  readonly takesOver: boolean;
}

export interface ControllerOptions<Source = FilesOptions | KubernetesOptions> {
  readonly source: Source;
  /** Empty: Services that name no class. */
  readonly loadBalancerClass: string;
  readonly writesConditions: boolean;
  readonly http: ListenAddress;
  readonly logLevel: LogLevel;
}

export function parseOptions(
  words: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  host: Host,
): Invocation<ControllerOptions> {
  return readInvocation(words, environment, OPTIONS, {
    options: (reader, isInPod) => readOptions(reader, host, isInPod),
    notes: (commandLine, { source }) => idleNotes(commandLine, OPTIONS, source.kind),
  });
}

function readOptions(reader: OptionReader<OptionName>, host: Host, isInPod: boolean): ControllerOptions | undefined {
  const source = readSource(reader, host, isInPod, () => readKubernetes(reader, host));
  const others = {
    loadBalancerClass: reader.read("lb-class", parseText, ""),
    writesConditions: !reader.read("no-conditions", parseSwitch, false),
    http: reader.read("http-address", parseListenAddress, { ip: LOOPBACK, port: HTTP_PORT }),
    logLevel: reader.read("log-level", parseChoice(LOG_LEVELS), "info"),
  };
  return source === undefined ? undefined : { source, ...others };
}

function readKubernetes(reader: OptionReader<OptionName>, host: Host): KubernetesOptions {
  const options = readClusterOptions(reader, host);
  const port = reader.read<number | undefined>("health-probe-port", parseOptionalPort, HEALTH_PORT);
  return {
    kind: "kubernetes",
    ...options,
    holderName: options.podName ?? host.hostname,
    secretName: reader.read("ml-secret-name", parseText, ""),
    takesOver: reader.read("takeover", parseSwitch, false),
    ...(port === undefined ? {} : { health: { ip: EVERYWHERE, port } }),
  };
}
