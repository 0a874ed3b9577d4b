/** Speakers in pods: listed through the API server, each reached by port-forward, because they answer on loopback only. */
import { once } from "node:events";
import { Duplex, PassThrough } from "node:stream";
import { CoreV1Api, KubeConfig, PortForward, type V1Pod } from "@kubernetes/client-node";
import { ArpeggioError, errnoOf } from "../src/base/errors.ts";
import type { Door } from "./ask.ts";
import { getJson, type HttpAnswer } from "./http-get.ts";
import type { Speakers } from "./options.ts";

type Pods = Extract<Speakers, { readonly kind: "pods" }>;

const SPEAKER_PORT = 17472;
const LIST_DEADLINE_MS = 15_000;
const CONNECT_DEADLINE_MS = 8_000;
const ANSWER_DEADLINE_MS = 5_000;
const PAGE_PODS = 500;
/** What client-node takes when there is no kubeconfig at all. */
const NO_KUBECONFIG = "http://localhost:8080";

/** Throws ERR_PODS_UNREADABLE with a sentence: no configuration, no answer, no right. */
export async function openPods(where: Pods): Promise<readonly Door[]> {
  const config = loadConfig(where);
  const pods = await listPods(config, where);
  const forward = new PortForward(config);
  return pods.map((pod) => doorOf(pod, forward, where.namespace));
}

function loadConfig({ kubeconfig, context }: Pods): KubeConfig {
  const config = new KubeConfig();
  try {
    if (kubeconfig === undefined) config.loadFromDefault();
    else config.loadFromFile(kubeconfig);
  } catch (cause) {
    throw unreadable(`the kubeconfig cannot be read: ${firstLine(cause)}`, cause);
  }
  if (context !== undefined) {
    if (config.getContextObject(context) === null) {
      const known = config.getContexts().map(({ name }) => name);
      throw unreadable(`the kubeconfig has no context "${context}"; it has: ${known.join(", ") || "none"}`);
    }
    config.setCurrentContext(context);
  }
  const server = config.getCurrentCluster()?.server;
  if (server === undefined || server === NO_KUBECONFIG) {
    throw unreadable("there is no kubeconfig that names a cluster: --kubeconfig, or --urls without Kubernetes");
  }
  return config;
}

async function listPods(config: KubeConfig, { namespace, selector }: Pods): Promise<readonly V1Pod[]> {
  const core = config.makeApiClient(CoreV1Api);
  const pods: V1Pod[] = [];
  let next: string | undefined;
  do {
    const page = {
      namespace,
      labelSelector: selector,
      limit: PAGE_PODS,
      ...(next === undefined ? {} : { _continue: next }),
    };
    try {
      const list = await before(LIST_DEADLINE_MS, "no answer", core.listNamespacedPod(page));
      pods.push(...list.items);
      // oxlint-disable-next-line no-underscore-dangle -- client-node's name for `continue`
      next = list.metadata?._continue || undefined;
    } catch (cause) {
      const server = config.getCurrentCluster()?.server ?? "the API server";
      const fault = listFault(cause, namespace);
      throw unreadable(`the pods of namespace ${namespace} cannot be listed at ${server}: ${fault}`, cause);
    }
  } while (next !== undefined);
  return pods;
}

function doorOf(pod: V1Pod, forward: PortForward, namespace: string): Door {
  const name = pod.metadata?.name ?? "";
  const node = pod.spec?.nodeName;
  const phase = pod.status?.phase ?? "Unknown";
  return {
    reached: { pod: name, ...(node === undefined ? {} : { node }) },
    get: async (path) => {
      if (phase !== "Running") throw silent(`its pod is ${phase}`);
      return getThrough(forward, namespace, name, path);
    },
  };
}

async function getThrough(forward: PortForward, namespace: string, pod: string, path: string): Promise<HttpAnswer> {
  const fromPod = new PassThrough();
  const toPod = new PassThrough();
  const stream = Duplex.from({ readable: fromPod, writable: toPod });
  // What goes wrong before or after the request is nobody else's to hear.
  stream.on("error", () => undefined);
  // Kubelet's words about the port, such as "connection refused".
  const complaints = new PassThrough();
  const complained = once(complaints, "data").then(([chunk]) => {
    throw silent(complaintIn(String(chunk)));
  });
  complained.catch(() => undefined);
  let socket: Closable | undefined;
  try {
    const opening = forward.portForward(namespace, pod, [SPEAKER_PORT], fromPod, complaints, toPod) as Promise<unknown>;
    const connection: unknown = await before(CONNECT_DEADLINE_MS, "no port-forward", opening);
    if (!isClosable(connection)) throw silent("the port-forward did not open");
    socket = connection;
    connection.addEventListener("close", () => fromPod.end());
    return await Promise.race([complained, getJson({ stream }, path, ANSWER_DEADLINE_MS)]);
  } catch (cause) {
    if (cause instanceof ArpeggioError) throw cause;
    throw silent(forwardFault(cause, namespace), cause);
  } finally {
    socket?.close();
    stream.destroy();
    complaints.destroy();
  }
}

/** A web socket, as far as it is used here; the packages that client-node takes it from bring no types. */
interface Closable {
  close(): void;
  addEventListener(event: "close", listener: () => void): void;
}

function isClosable(value: unknown): value is Closable {
  return typeof value === "object" && value !== null && "close" in value && "addEventListener" in value;
}

/** What `value` resolves to; throws ERR_SPEAKER_SILENT when that takes longer. */
async function before<Value>(deadlineMs: number, what: string, value: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const expiry = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(silent(`${what} within ${deadlineMs / 1_000} s`)), deadlineMs);
  });
  try {
    return await Promise.race([value, expiry]);
  } finally {
    clearTimeout(timer);
  }
}

function listFault(cause: unknown, namespace: string): string {
  switch (httpStatusOf(cause)) {
    case 401:
      return "the API server does not accept the credentials";
    case 403:
      return `this user may not list pods in namespace ${namespace}`;
    case undefined:
      return `${firstLine(cause)}. The speakers go on without the API server; on a node, ask http://127.0.0.1:${SPEAKER_PORT}/status`;
    default:
      return `it answers ${httpStatusOf(cause)}`;
  }
}

function forwardFault(cause: unknown, namespace: string): string {
  const text = firstLine(cause);
  // The ws package has only this sentence for an answer other than 101.
  if (/\b403$/.test(text)) {
    return `this user may not open a port-forward: it needs the verbs get and create on pods/portforward in namespace ${namespace}`;
  }
  return `no port-forward: ${text}`;
}

/** Of an ApiException. */
function httpStatusOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "number" ? error.code : undefined;
}

/** Kubelet: "error forwarding port 17472 to pod …: … connect: connection refused". */
function complaintIn(text: string): string {
  if (text.includes("connection refused")) return `nothing listens on its port ${SPEAKER_PORT}`;
  return firstLine(new Error(text));
}

/** The innermost message: fetch wraps what really happened. */
function firstLine(error: unknown): string {
  if (typeof error === "object" && error !== null) {
    if ("cause" in error && error.cause !== undefined) return firstLine(error.cause);
    if ("message" in error && typeof error.message === "string" && error.message !== "") {
      return error.message.split("\n")[0] ?? "";
    }
  }
  return errnoOf(error);
}

function silent(sentence: string, cause?: unknown): ArpeggioError {
  return new ArpeggioError("ERR_SPEAKER_SILENT", sentence, { cause });
}

function unreadable(sentence: string, cause?: unknown): ArpeggioError {
  return new ArpeggioError("ERR_PODS_UNREADABLE", sentence, { cause });
}
