/**
 * Every option of the controller, once: `--help`, the README's table and the reader of the command line come from here. Names and
 * environment variables are MetalLB's where MetalLB has the option, so that its manifests start this controller.
 */
import { METRICS_ROWS } from "../src/daemon/cluster-options.ts";
import { COMMON_ROWS } from "../src/options/common-rows.ts";
import type { OptionRow, OptionTable } from "../src/options/option-row.ts";

const WEBHOOK = "MetalLB's, for its webhook; Arpeggio has none.";

const ROWS = [
  {
    name: "source",
    placeholder: "files:DIR|kubernetes",
    byDefault: "kubernetes inside a pod; needed elsewhere",
    text: "Where pools and Services are read from: the cluster's API server, or a folder of manifests, which is watched. What is allocated is written to the API server, or into the folder's .status, where speakers read it.",
  },
  {
    name: "lb-class",
    placeholder: "CLASS",
    text: "Only Services with this loadBalancerClass; without it, only those that have none.",
  },
  {
    name: "no-conditions",
    text: "Services get no condition arpeggio.dev/Allocated.",
  },
  {
    name: "http-address",
    placeholder: "IP:PORT",
    byDefault: "127.0.0.1:17473",
    text: "Where /status, /pools, /services, /pending, /openapi.json, /healthz and /readyz are served; with files also /metrics.",
  },
  {
    name: "health-probe-port",
    placeholder: "PORT",
    byDefault: "17472",
    text: "Port, on every address, for /healthz and /readyz alone. 0 turns it off.",
    source: "kubernetes",
  },
  ...COMMON_ROWS,
  {
    name: "kubeconfig",
    placeholder: "FILE",
    byDefault: "the pod's ServiceAccount",
    text: "How the API server is reached by a controller that runs in no pod.",
    source: "kubernetes",
  },
  {
    name: "namespace",
    placeholder: "NAME",
    variable: "METALLB_NAMESPACE",
    byDefault: "that of the ServiceAccount, else metallb-system",
    text: "Where pools, the Lease and the reservations are.",
    source: "kubernetes",
  },
  {
    name: "pod-name",
    placeholder: "NAME",
    variable: "METALLB_POD_NAME",
    byDefault: "the host's name, which then owns nothing",
    text: "This controller's pod: its name in the Lease, and the owner of the ConfigurationState.",
    source: "kubernetes",
  },
  {
    name: "port",
    placeholder: "PORT",
    byDefault: "9120",
    text: "HTTPS port, on every address, for /metrics alone; who asks must be allowed to get /metrics. 0 turns it off.",
    source: "kubernetes",
  },
  ...METRICS_ROWS,
  {
    name: "ml-secret-name",
    placeholder: "NAME",
    variable: "METALLB_ML_SECRET_NAME",
    text: "Secret with the speakers' gossip key, which is made if there is none, and taken from the Deployment of MetalLB's that it may belong to. Without it no Secret is looked at.",
    source: "kubernetes",
  },
  {
    name: "takeover",
    text: "MetalLB's webhook configuration is deleted once nobody answers it and the validation policies are in place; as long as it stands, no pool can be applied.",
    source: "kubernetes",
  },
  {
    name: "deployment",
    placeholder: "NAME",
    variable: "METALLB_DEPLOYMENT",
    text: "MetalLB's, for the owner of that Secret: here it has none.",
    hasNoEffect: true,
  },
  {
    name: "pprof-bind-address",
    placeholder: "ADDRESS",
    text: "MetalLB's, for Go's profiler.",
    hasNoEffect: true,
  },
  { name: "disable-cert-rotation", text: WEBHOOK, hasNoEffect: true },
  { name: "cert-dir", placeholder: "DIR", text: WEBHOOK, hasNoEffect: true },
  { name: "cert-service-name", placeholder: "NAME", text: WEBHOOK, hasNoEffect: true },
  { name: "webhook-mode", placeholder: "MODE", text: WEBHOOK, hasNoEffect: true },
  { name: "webhook-secret", placeholder: "NAME", text: WEBHOOK, hasNoEffect: true },
  { name: "webhook-http2", text: WEBHOOK, hasNoEffect: true },
] as const satisfies readonly OptionRow[];

export type OptionName = (typeof ROWS)[number]["name"];

/** The rows as plain rows, for readers that do not care which option it is. */
const OPTION_TABLE: OptionTable<OptionName>["rows"] = ROWS;

export const OPTIONS: OptionTable<OptionName> = { program: "controller", rows: OPTION_TABLE };
