/** The metrics of a daemon in a cluster: HTTPS on an address of its own, with its certificate kept up to date, and plainly if asked for. */
import { ArpeggioError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import { type FileContents, WatchedFiles } from "../files/watched-files.ts";
import {
  type Authorizer,
  type HttpsMetricsServer,
  type MetricsServer,
  openMetricsServer,
  openPlainMetricsServer,
  type TlsSettings,
} from "../http/metrics-server.ts";
import { type Certificate, makeSelfSigned } from "../http/self-signed.ts";
import type { Ip } from "../net/ip.ts";
import type { HttpsMetricsOptions, MetricsOptions } from "./cluster-options.ts";

/** Of a Secret of type kubernetes.io/tls. */
const CERTIFICATE_FILE = "tls.crt";
const KEY_FILE = "tls.key";

export interface MetricsListenerPorts {
  readonly nodeName: string;
  /** Where the HTTPS port listens. */
  readonly ip: Ip;
  /** Prometheus' text format. */
  readonly metrics: () => Promise<string>;
  readonly authorizer: Authorizer;
  readonly random: Random;
  readonly wallMs: () => number;
  readonly log: Log;
}

/** Undefined: off. */
export interface MetricsListeners {
  readonly httpsPort: number | undefined;
  readonly plainPort: number | undefined;
  close(): Promise<void>;
}

/** @throws ERR_LISTEN, and ERR_CONFIG_INVALID when the certificate's files are missing or do not fit; nothing is open then */
export async function openMetricsListeners(
  { httpsMetrics, plainMetrics }: MetricsOptions,
  ports: MetricsListenerPorts,
): Promise<MetricsListeners> {
  const https = httpsMetrics === undefined ? undefined : await openHttps(httpsMetrics, ports);
  let plain: MetricsServer | undefined;
  try {
    plain = plainMetrics === undefined ? undefined : await openPlainMetricsServer(ports, plainMetrics);
  } catch (error) {
    await https?.close();
    throw error;
  }
  return {
    httpsPort: https?.port,
    plainPort: plain?.port,
    close: async () => void (await Promise.all([https?.close(), plain?.close()])),
  };
}

async function openHttps(options: HttpsMetricsOptions, ports: MetricsListenerPorts): Promise<MetricsServer> {
  const listen = { ip: ports.ip, port: options.port };
  const { certificateFolder, tls } = options;
  if (certificateFolder === undefined) return openMetricsServer(ports, listen, ownCertificate(tls, ports), tls);

  let server: HttpsMetricsServer | undefined;
  let first: FileContents = new Map();
  const files = new WatchedFiles({
    folder: certificateFolder,
    names: [CERTIFICATE_FILE, KEY_FILE],
    onChange: (contents) => {
      first = contents;
      if (server !== undefined) replaceCertificate(server, certificateFolder, contents, ports.log);
    },
    onProblem: (file, code) => ports.log.warn("a file of --metrics-cert-dir cannot be read", { file, code }),
  });
  try {
    await files.start();
    const used = first;
    server = await openMetricsServer(ports, listen, certificateIn(certificateFolder, used), tls);
    if (first !== used) replaceCertificate(server, certificateFolder, first, ports.log);
  } catch (error) {
    files.close();
    throw error;
  }
  const { port } = server;
  return {
    port,
    close: () => {
      files.close();
      return server.close();
    },
  };
}

function replaceCertificate(server: HttpsMetricsServer, folder: string, contents: FileContents, log: Log): void {
  try {
    server.setCertificate(certificateIn(folder, contents));
    log.info("certificate of the metrics replaced", { folder });
  } catch (error) {
    // One of the two files may be older than the other: both are read again when they change.
    const problem = error instanceof Error ? error.message : String(error);
    log.warn("certificate of the metrics not accepted, the old one stands", { folder, problem });
  }
}

/** @throws ERR_CONFIG_INVALID when one of the two is missing */
function certificateIn(folder: string, contents: FileContents): Certificate {
  const [cert, key] = [CERTIFICATE_FILE, KEY_FILE].map((name) => {
    const bytes = contents.get(name);
    if (bytes !== undefined) return new TextDecoder().decode(bytes);
    throw new ArpeggioError("ERR_CONFIG_INVALID", `${folder}/${name}, of --metrics-cert-dir, is not there`);
  });
  return { cert: cert ?? "", key: key ?? "" };
}

function ownCertificate(tls: TlsSettings, { nodeName, ip, wallMs, random }: MetricsListenerPorts): Certificate {
  const keyKind = tls.ciphers === undefined || /ECDSA/.test(tls.ciphers) ? "ecdsa" : "rsa";
  const ips = ip === "0.0.0.0" || ip === "::" ? [] : [ip];
  return makeSelfSigned({ nodeName, ips, wallMs: wallMs(), keyKind, random });
}
