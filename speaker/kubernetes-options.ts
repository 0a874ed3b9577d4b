/** The options of `--source=kubernetes`. Pure but for the `Host` it is given. */
import type { TlsSettings } from "../src/http/metrics-server.ts";
import { absolute, type Host } from "../src/options/host.ts";
import type { OptionReader } from "../src/options/option-reader.ts";
import {
  type ListenAddress,
  parseListenAddress,
  parseNamespace,
  parseOptionalPort,
  parseText,
} from "../src/options/option-values.ts";
import type { OptionName } from "./options-table.ts";
import { parseCipherSuites, parseGroups, parseTlsVersion } from "./tls-option-values.ts";

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

export interface KubernetesOptions {
  readonly kind: "kubernetes";
  /** Absent: the pod's ServiceAccount. */
  readonly kubeconfig?: string;
  readonly namespace: string;
  /** Absent: it runs in no pod, so nothing that it writes has an owner. */
  readonly podName?: string;
  /** Label selector of the speakers' pods; empty: gossip is off. */
  readonly podSelector: string;
  /** Absent: off. */
  readonly httpsMetrics?: HttpsMetricsOptions;
  readonly plainMetrics?: ListenAddress;
}

export function readKubernetes(reader: OptionReader<OptionName>, host: Host): KubernetesOptions {
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
    kind: "kubernetes",
    ...(kubeconfig === "" ? {} : { kubeconfig: absolute(kubeconfig, host) }),
    namespace: reader.read("namespace", parseNamespace, undefined) ?? host.podNamespace ?? USUAL_NAMESPACE,
    ...(podName === "" ? {} : { podName }),
    podSelector: reader.read("ml-labels", parseText, ""),
    ...(port === undefined ? {} : { httpsMetrics: { port, tls, ...certificateFolder } }),
    ...(plainMetrics === undefined ? {} : { plainMetrics }),
  };
}

function readTls(reader: OptionReader<OptionName>): TlsSettings {
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
