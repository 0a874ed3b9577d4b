/** What the control plane reads: keys, token users, kubeconfigs, the audit policy. */
import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { caPath, kubeconfigPath, type PlaneSettings } from "./plane.ts";

/** Somebody that the API server knows by a token that never expires. */
export interface TokenUser {
  readonly name: string;
  readonly groups: readonly string[];
  readonly token: string;
}

/** May do everything, whatever RBAC says. */
export const ADMIN: TokenUser = { name: "admin", groups: ["system:masters"], token: "admin-token" };

/** Writes the folder; `users` beside the administrator. Each has a kubeconfig of its own. */
export function writePlaneFiles(settings: PlaneSettings, users: readonly TokenUser[]): void {
  const { folder } = settings;
  mkdirSync(folder, { recursive: true });
  const { publicKey, privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  writeFileSync(join(folder, "sa.key"), privateKey);
  writeFileSync(join(folder, "sa.pub"), publicKey);
  const all = [ADMIN, ...users];
  writeFileSync(join(folder, "tokens.csv"), all.map(tokenLine).join(""));
  writeFileSync(join(folder, "audit-policy.yaml"), AUDIT_POLICY);
  const server = `https://${settings.address}:${settings.apiPort}`;
  for (const user of all) {
    writeFileSync(kubeconfigPath(settings, user.name), buildKubeconfig(server, caPath(settings), user.token));
  }
}

function tokenLine({ name, groups, token }: TokenUser): string {
  return `${token},${name},${name},"${groups.join(",")}"\n`;
}

/** `serverName`: the name in the server's certificate, where it is reached by an address that the certificate does not hold. */
export function buildKubeconfig(server: string, caFile: string, token: string, serverName?: string): string {
  const name = serverName === undefined ? "" : `    tls-server-name: ${serverName}\n`;
  return `apiVersion: v1
kind: Config
clusters:
- name: test
  cluster:
    server: ${server}
    certificate-authority: ${caFile}
${name}users:
- name: test
  user:
    token: ${token}
contexts:
- name: test
  context:
    cluster: test
    user: test
current-context: test
`;
}

/** What became of every Service, with its addresses, at whose hands; and everything that service accounts of the speaker's namespace did. */
const AUDIT_POLICY = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: RequestResponse
  verbs: [create, update, patch, delete, deletecollection]
  resources: [{ group: "", resources: [services, services/status] }]
  omitManagedFields: true
- level: Metadata
  userGroups: ["system:serviceaccounts:metallb-system"]
- level: None
`;
