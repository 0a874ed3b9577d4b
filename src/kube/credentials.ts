/** Who we are to the API server, and how its certificate is checked: client-node's KubeConfig, read anew when it is refused. */
import type { OutgoingHttpHeaders } from "node:http";
import type { Agent, RequestOptions } from "node:https";
import { ArpeggioError } from "../base/errors.ts";

export interface AuthenticatedOptions extends Omit<RequestOptions, "headers" | "agent"> {
  readonly headers: Readonly<Record<string, string>>;
  readonly agent?: Agent;
}

export interface Credentials {
  /** Such as `https://192.0.2.1:6443`. */
  readonly server: string;
  /** TLS options and headers of the next request; an agent only when a proxy is configured. */
  requestOptions(): Promise<AuthenticatedOptions>;
  /** The next request reads everything anew, token included. */
  refresh(): void;
}

/** Files are not read again for each of many requests; a token that is replaced is good for longer than this. */
const RECENT_MS = 1_000;

export async function loadCredentials(kubeconfig: string | undefined): Promise<Credentials> {
  if (kubeconfig === undefined && process.env["KUBERNETES_SERVICE_HOST"] === undefined) {
    throw new ArpeggioError(
      "ERR_CONFIG_INVALID",
      "no API server is known: this is no pod (KUBERNETES_SERVICE_HOST is not set) and no kubeconfig is given",
    );
  }
  // Not the package's root: that loads the code of port-forward, cp and every other command, too.
  const { KubeConfig } = await import("@kubernetes/client-node/dist/config.js");
  const load = () => {
    const config = new KubeConfig();
    if (kubeconfig === undefined) config.loadFromCluster();
    else config.loadFromFile(kubeconfig);
    return config;
  };
  let config: ReturnType<typeof load> | undefined = loadedOrThrown(load, kubeconfig);
  let recent: { readonly atMs: number; readonly options: AuthenticatedOptions } | undefined;
  const cluster = config.getCurrentCluster();
  if (cluster === null) {
    throw new ArpeggioError("ERR_CONFIG_INVALID", `${kubeconfig}: its current context names no cluster`);
  }
  return {
    server: cluster.server,
    requestOptions: async () => {
      const nowMs = performance.now();
      if (recent !== undefined && nowMs - recent.atMs < RECENT_MS) return recent.options;
      // A ServiceAccount's token is read again each minute by client-node itself; a new KubeConfig reads it at once.
      config ??= load();
      const headers: Record<string, unknown> = {};
      const options: RequestOptions = { headers: headers as OutgoingHttpHeaders };
      await config.applyToHTTPSOptions(options);
      const { agent, headers: _, ...rest } = options;
      const isProxied = config.getCurrentCluster()?.proxyUrl !== undefined;
      const read = {
        ...rest,
        headers: withoutLineEnds(headers),
        ...(isProxied && typeof agent === "object" ? { agent: agent as Agent } : {}),
      };
      recent = { atMs: nowMs, options: read };
      return read;
    },
    refresh: () => {
      recent = undefined;
      config = undefined;
    },
  };
}

function loadedOrThrown<Config>(load: () => Config, kubeconfig: string | undefined): Config {
  try {
    return load();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ArpeggioError("ERR_CONFIG_INVALID", `${kubeconfig ?? "ServiceAccount"}: ${why}`, { cause });
  }
}

/** A token file may end with a line end, which no header may. */
function withoutLineEnds(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  const texts = Object.entries(headers).map(([name, value]) => [name, String(value).trim()] as const);
  return Object.fromEntries(texts);
}
