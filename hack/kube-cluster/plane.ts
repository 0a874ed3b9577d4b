/** The one binary that is etcd, Kubernetes and kubectl, and the command lines of the control plane. Nothing here starts anything. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { runCommand } from "../netlab/run-command.ts";

/** dist/hack/kube-cluster → the repository. */
const REPOSITORY = resolve(import.meta.dirname, "../../..");
const BUILD_PLANE = join(REPOSITORY, "hack/kube-cluster/build-plane");

/**
 * Path of the binary; undefined while nobody has built it from the sources as they are. Under hack/test, which builds it beside
 * everything else, this waits until it is built: minutes with cold caches.
 */
export async function findPlane(): Promise<string | undefined> {
  const isBuilding = process.env["BUILD_PLANE"] !== undefined;
  const path = (await runCommand(isBuilding ? [BUILD_PLANE] : [BUILD_PLANE, "--path"])).trim();
  return existsSync(path) ? path : undefined;
}

/** How long a build with cold caches may take on a busy machine. */
export const BUILD_TIMEOUT_MS = 30 * 60_000;

/** Services of both families; the first IPv4 address is the API server's own. */
const SERVICE_RANGES = "10.96.0.0/16,fd00:96::/112";

export interface PlaneSettings {
  readonly binary: string;
  /** Holds what `writePlaneFiles` wrote, and etcd's data. */
  readonly folder: string;
  /** Where the API server listens, and the address that the Service `kubernetes` leads to. */
  readonly address: string;
  readonly apiPort: number;
  readonly etcdAddress: string;
  readonly etcdPort: number;
  readonly etcdPeerPort: number;
}

/** Where the server's certificate lies once it has started: self-signed for its address and the Service, so it is its own CA. */
export function caPath({ folder }: Pick<PlaneSettings, "folder">): string {
  return join(folder, "certs/apiserver.crt");
}

export function auditLogPath({ folder }: Pick<PlaneSettings, "folder">): string {
  return join(folder, "audit.log");
}

export function kubeconfigPath({ folder }: Pick<PlaneSettings, "folder">, user: string): string {
  return join(folder, `${user.replaceAll(":", "-")}.kubeconfig`);
}

export function etcdArgv(settings: PlaneSettings): readonly string[] {
  const client = `http://${settings.etcdAddress}:${settings.etcdPort}`;
  const peer = `http://${settings.etcdAddress}:${settings.etcdPeerPort}`;
  return [
    settings.binary,
    "etcd",
    `--data-dir=${join(settings.folder, "etcd")}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    // Nothing of a test outlives a power failure.
    "--unsafe-no-fsync",
    "--log-level=error",
  ];
}

export function apiServerArgv(settings: PlaneSettings, extra: readonly string[] = []): readonly string[] {
  const { folder } = settings;
  return [
    settings.binary,
    "kube-apiserver",
    `--etcd-servers=http://${settings.etcdAddress}:${settings.etcdPort}`,
    `--bind-address=${settings.address}`,
    `--advertise-address=${settings.address}`,
    `--secure-port=${settings.apiPort}`,
    `--cert-dir=${join(folder, "certs")}`,
    `--service-cluster-ip-range=${SERVICE_RANGES}`,
    `--service-account-key-file=${join(folder, "sa.pub")}`,
    `--service-account-signing-key-file=${join(folder, "sa.key")}`,
    "--service-account-issuer=https://kubernetes.default.svc",
    `--token-auth-file=${join(folder, "tokens.csv")}`,
    "--authorization-mode=Node,RBAC",
    "--enable-admission-plugins=NodeRestriction",
    "--allow-privileged",
    // Nobody resolves the names of nodes here.
    "--kubelet-preferred-address-types=InternalIP",
    `--audit-policy-file=${join(folder, "audit-policy.yaml")}`,
    `--audit-log-path=${auditLogPath(settings)}`,
    ...extra,
  ];
}

export function controllerManagerArgv(settings: PlaneSettings, extra: readonly string[] = []): readonly string[] {
  return [
    settings.binary,
    "kube-controller-manager",
    `--kubeconfig=${kubeconfigPath(settings, "admin")}`,
    `--service-account-private-key-file=${join(settings.folder, "sa.key")}`,
    `--root-ca-file=${caPath(settings)}`,
    "--leader-elect=false",
    "--secure-port=0",
    "--authentication-skip-lookup",
    ...extra,
  ];
}

export function schedulerArgv(settings: PlaneSettings): readonly string[] {
  const kubeconfig = kubeconfigPath(settings, "admin");
  return [settings.binary, "kube-scheduler", `--kubeconfig=${kubeconfig}`, "--leader-elect=false", "--secure-port=0"];
}
