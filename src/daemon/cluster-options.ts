/** The options that speaker and controller have in common with `--source=kubernetes`. Pure but for the `Host` it is given. */
import type { TlsSettings } from "../http/metrics-server.ts";
import { absolute, type Host } from "../options/host.ts";
import type { OptionReader } from "../options/option-reader.ts";
import type { OptionRow } from "../options/option-row.ts";
import {
  type ListenAddress,
  parseListenAddress,
  parseNamespace,
  parseOptionalPort,
  parseText,
} from "../options/option-values.ts";
import { parseCipherSuites, parseGroups, parseTlsVersion } from "./tls-option-values.ts";

/** Of the metrics, where their texts are the same for both. */
export const METRICS_ROWS = [
  {
    name: "metrics-plain",
    placeholder: "IP:PORT",
    text: "Serves /metrics without TLS and to anybody there, too.",
    source: "kubernetes",
  },
  {
    name: "metrics-cert-dir",
    placeholder: "DIR",
    byDefault: "a certificate of its own making",
    text: "Folder with tls.crt and tls.key for --port; read again when they change.",
    source: "kubernetes",
  },
  {
    name: "tls-min-version",
    placeholder: "VersionTLS12|VersionTLS13",
    byDefault: "VersionTLS13",
    text: "Lowest TLS version of --port.",
    source: "kubernetes",
  },
  {
    name: "tls-cipher-suites",
    placeholder: "NAME,…",
    text: "Cipher suites of --port under TLS 1.2, by their IANA names; not with TLS 1.3 alone, which has none to choose.",
    source: "kubernetes",
  },
  {
    name: "tls-curve-preferences",
    placeholder: "ID,…",
    text: "Key exchange groups of --port, best first, by their IANA numbers.",
    source: "kubernetes",
  },
] as const satisfies readonly OptionRow[];

type ClusterOptionName = "kubeconfig" | "namespace" | "pod-name" | "port" | (typeof METRICS_ROWS)[number]["name"];

/** Of a reader of any daemon's options, these among them. */
type ClusterOptionReader = Pick<OptionReader<ClusterOptionName>, "read" | "text" | "refuse">;

/** MetalLB's (DESIGN D17). */
const METRICS_PORT = 9_120;
/** Of whoever runs outside any pod and names none. */
const USUAL_NAMESPACE = "metallb-system";

export interface HttpsMetricsOptions {
  readonly port: number;
  /** Absent: a certificate of its own making. */
  readonly certificateFolder?: string;
  readonly tls: TlsSettings;
}

export interface MetricsOptions {
  /** Absent: off. */
  readonly httpsMetrics?: HttpsMetricsOptions;
  readonly plainMetrics?: ListenAddress;
}

export interface ClusterOptions extends MetricsOptions {
  /** Absent: the pod's ServiceAccount. */
  readonly kubeconfig?: string;
  readonly namespace: string;
  /** Absent: it runs in no pod, so nothing that it writes has an owner. */
  readonly podName?: string;
}

export function readClusterOptions(reader: ClusterOptionReader, host: Host): ClusterOptions {
  const kubeconfig = reader.read("kubeconfig", parseText, "");
  if (kubeconfig !== "" && !host.isReadable(absolute(kubeconfig, host))) {
    reader.refuse("kubeconfig", `${absolute(kubeconfig, host)} cannot be read`);
  }
  const podName = reader.read("pod-name", parseText, "");
  const port = reader.read<number | undefined>("port", parseOptionalPort, METRICS_PORT);
  const plainMetrics = reader.read<ListenAddress | undefined>("metrics-plain", parseListenAddress, undefined);
  const certificates = reader.read("metrics-cert-dir", parseText, "");
  const tls = readTls(reader);
  const certificateFolder = certificates === "" ? {} : { certificateFolder: absolute(certificates, host) };
  return {
    ...(kubeconfig === "" ? {} : { kubeconfig: absolute(kubeconfig, host) }),
    namespace: reader.read("namespace", parseNamespace, undefined) ?? host.podNamespace ?? USUAL_NAMESPACE,
    ...(podName === "" ? {} : { podName }),
    ...(port === undefined ? {} : { httpsMetrics: { port, tls, ...certificateFolder } }),
    ...(plainMetrics === undefined ? {} : { plainMetrics }),
  };
}

function readTls(reader: ClusterOptionReader): TlsSettings {
  const minVersion = reader.read("tls-min-version", parseTlsVersion, "TLSv1.3");
  const ciphers = reader.read<string | undefined>("tls-cipher-suites", parseCipherSuites, undefined);
  const groups = reader.read<string | undefined>("tls-curve-preferences", parseGroups, undefined);
  if (minVersion === "TLSv1.3" && (reader.text("tls-cipher-suites") ?? "") !== "") {
    reader.refuse("tls-cipher-suites", "TLS 1.3 has none to choose; give --tls-min-version=VersionTLS12, too");
  }
  return {
    minVersion,
    ...(ciphers === undefined ? {} : { ciphers }),
    ...(groups === undefined ? {} : { groups }),
  };
}
