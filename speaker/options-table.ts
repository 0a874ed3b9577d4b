/**
 * Every option of the speaker, once: `--help`, the README's table and the reader of the command line come from here.
 * Names and environment variables are MetalLB's where MetalLB has the option, so that its manifests start this speaker.
 */
import { METRICS_ROWS } from "../src/daemon/cluster-options.ts";
import { COMMON_ROWS } from "../src/options/common-rows.ts";
import type { OptionRow, OptionTable } from "../src/options/option-row.ts";

const BGP = "MetalLB's, for BGP, which Arpeggio does not speak.";

const ROWS = [
  {
    name: "source",
    placeholder: "files:DIR|kubernetes",
    byDefault: "kubernetes inside a pod; needed elsewhere",
    text: "Where pools, advertisements, Services and Nodes are read from: a folder of manifests, which is watched, or the cluster's API server.",
  },
  {
    name: "node-name",
    placeholder: "NAME",
    variable: "METALLB_NODE_NAME",
    byDefault: "the host's name",
    text: "Name of this node, the same as in its Node object; no other speaker may have it.",
  },
  {
    name: "peers",
    placeholder: "HOST[:PORT],…",
    text: "Other speakers, by name or address, looked up again every 10 s; one that answers is enough. Own addresses are skipped, so every node may have the same list.",
  },
  {
    name: "ml-bindaddr",
    placeholder: "IP",
    variable: "METALLB_ML_BIND_ADDR",
    byDefault: "the source address towards the first peer",
    text: 'Address of this node for gossip. --ml-bindaddr="" turns gossip off; with --source=kubernetes it is off, too, when this or --ml-labels is not given, and the death of a node is then detected by the API server.',
  },
  {
    name: "ml-bindport",
    placeholder: "PORT",
    variable: "METALLB_ML_BIND_PORT",
    byDefault: "7946",
    text: "UDP and TCP port for gossip, and of every peer that is named without one.",
  },
  {
    name: "ml-secret-key-path",
    placeholder: "DIR",
    variable: "METALLB_ML_SECRET_KEY_PATH",
    text: "Folder with the file secretkey: gossip is encrypted with it. It is watched, so that the key can be exchanged while speakers run. Without it, anybody on the network can speak for a node.",
  },
  {
    name: "ml-wan-config",
    text: "memberlist's timing for wide-area networks, instead of that for local ones.",
  },
  {
    name: "ml-timing-file",
    placeholder: "FILE",
    byDefault: "/etc/metallb/memberlist/config.json if it exists",
    text: "MetalLB's memberlist timing as JSON; replaces the whole profile, so --ml-wan-config then counts for nothing.",
  },
  {
    name: "ml-labels",
    placeholder: "SELECTOR",
    variable: "METALLB_ML_LABELS",
    text: "Selects the pods of the other speakers, such as app=metallb,component=speaker.",
    source: "kubernetes",
  },
  {
    name: "election",
    placeholder: "auto|metallb|arpeggio",
    byDefault: "auto",
    text: "The highest election rule to follow. auto: the highest that every member can, so MetalLB's while one of its speakers is a member. metallb: never another than MetalLB's. arpeggio: never a later one than Arpeggio's first.",
  },
  {
    name: "fast-detection",
    placeholder: "on|off",
    byDefault: "on",
    text: "on: leaders are watched closely, and one that is gone is noticed within half a second. off: memberlist's own detection alone, which takes 5 to 7 s.",
  },
  {
    name: "ignore-exclude-lb",
    text: "Nodes with the label node.kubernetes.io/exclude-from-external-load-balancers may lead.",
  },
  { name: "ignore-cordon", text: "Cordoned nodes keep their addresses." },
  {
    name: "lb-class",
    placeholder: "CLASS",
    text: "Only Services with this loadBalancerClass; without it, only those that have none.",
  },
  {
    name: "exclude-links-file",
    placeholder: "FILE",
    byDefault: "/etc/metallb/excludel2.yaml if it exists",
    text: "MetalLB's announcedInterfacesToExclude: names of links, as regular expressions, that are never answered on.",
  },
  {
    name: "cache-dir",
    placeholder: "DIR",
    variable: "CACHE_DIRECTORY",
    text: "Folder, of this speaker alone, that keeps the last good reading of the source over a restart. systemd sets the variable. Without it nothing is kept.",
  },
  {
    name: "http-address",
    placeholder: "IP:PORT",
    byDefault: "127.0.0.1:17472",
    text: "Where /status, /healthz, /readyz and /metrics are served.",
  },
  {
    name: "health-probe-port",
    placeholder: "PORT",
    byDefault: "17472",
    text: "The port of --http-address alone, under MetalLB's name; not together with it.",
  },
  ...COMMON_ROWS,
  {
    name: "kubeconfig",
    placeholder: "FILE",
    byDefault: "the pod's ServiceAccount",
    text: "How the API server is reached by a speaker that runs in no pod.",
    source: "kubernetes",
  },
  {
    name: "namespace",
    placeholder: "NAME",
    variable: "METALLB_NAMESPACE",
    byDefault: "that of the ServiceAccount, else metallb-system",
    text: "Where pools, advertisements and the speakers' pods are, and statuses are written.",
    source: "kubernetes",
  },
  {
    name: "pod-name",
    placeholder: "NAME",
    variable: "METALLB_POD_NAME",
    text: "This speaker's pod: the owner of the statuses that it writes.",
    source: "kubernetes",
  },
  {
    name: "port",
    placeholder: "PORT",
    byDefault: "9120",
    text: "HTTPS port, on the node's address, for /metrics alone; who asks must be allowed to get /metrics. 0 turns it off.",
    source: "kubernetes",
  },
  ...METRICS_ROWS,
  {
    name: "host",
    placeholder: "IP",
    variable: "METALLB_HOST",
    text: "MetalLB's, deprecated there.",
    hasNoEffect: true,
  },
  {
    name: "pprof-bind-address",
    placeholder: "ADDRESS",
    text: "MetalLB's, for Go's profiler.",
    hasNoEffect: true,
  },
  {
    name: "bgp-debounce-timeout",
    placeholder: "MS",
    variable: "METALLB_BGP_DEBOUNCE_TIMEOUT",
    text: BGP,
    hasNoEffect: true,
  },
  { name: "frrk8s-namespace", placeholder: "NAME", variable: "FRRK8S_NAMESPACE", text: BGP, hasNoEffect: true },
  { name: "frrk8s-secret-passthrough", text: BGP, hasNoEffect: true },
] as const satisfies readonly OptionRow[];

export type OptionName = (typeof ROWS)[number]["name"];

/** The rows as plain rows, for readers that do not care which option it is. */
export const OPTION_TABLE: OptionTable<OptionName>["rows"] = ROWS;

export const OPTIONS: OptionTable<OptionName> = { program: "speaker", rows: OPTION_TABLE };
