/** The command line and the environment, read once into one validated value (DESIGN §4). Pure but for the `Host` it is given. */
import { join } from "node:path";
import { LOG_LEVELS, type LogLevel } from "../src/base/log.ts";
import type { Ip } from "../src/net/ip.ts";
import type { CommandLine } from "../src/options/command-line.ts";
import { absolute, type Host } from "../src/options/host.ts";
import { idleNotes } from "../src/options/idle-notes.ts";
import { type Invocation, readInvocation } from "../src/options/invocation.ts";
import type { OptionReader } from "../src/options/option-reader.ts";
import {
  type ListenAddress,
  type ParsedValue,
  type PeerName,
  parseChoice,
  parseGossipAddress,
  parseListenAddress,
  parseNodeName,
  parsePeers,
  parsePort,
  parseSwitch,
  parseText,
  type SourceChoice,
} from "../src/options/option-values.ts";
import { type FilesOptions, readSource } from "../src/options/source-option.ts";
import { type KubernetesOptions, readKubernetes } from "./kubernetes-options.ts";
import { OPTIONS, type OptionName } from "./options-table.ts";

/** Where MetalLB's image has them. */
const TIMING_FILE = "/etc/metallb/memberlist/config.json";
const EXCLUDE_LINKS_FILE = "/etc/metallb/excludel2.yaml";
/** memberlist's own */
const GOSSIP_PORT = 7946;
/** MetalLB's health port (DESIGN D17) */
const HTTP_PORT = 17472;
const LOOPBACK = "127.0.0.1" as Ip;

const ELECTION_CAPS = ["auto", "metallb", "arpeggio"] as const;
const ON_OFF = ["on", "off"] as const;

export type TimingProfile =
  | { readonly kind: "lan" }
  | { readonly kind: "wan" }
  /** Replaces the whole profile. */
  | { readonly kind: "file"; readonly path: string };

export interface GossipOptions {
  /** Absent: the source address towards the first peer. */
  readonly bindAddress?: Ip;
  readonly port: number;
  readonly peers: readonly PeerName[];
  /** Absent: not encrypted. */
  readonly secretKeyFile?: string;
  readonly timing: TimingProfile;
}

export interface SpeakerOptions {
  readonly nodeName: string;
  readonly source: FilesOptions | KubernetesOptions;
  /** Absent: gossip is off. */
  readonly gossip?: GossipOptions;
  readonly http: ListenAddress;
  readonly logLevel: LogLevel;
  readonly loadBalancerClass?: string;
  readonly ignoresExcludeLabel: boolean;
  readonly ignoresCordon: boolean;
  readonly electionCap: (typeof ELECTION_CAPS)[number];
  readonly detectsFast: boolean;
  readonly excludeLinksFile?: string;
  readonly cacheFolder?: string;
}

export function parseOptions(
  words: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  host: Host,
): Invocation<SpeakerOptions> {
  return readInvocation(words, environment, OPTIONS, {
    options: (reader, isInPod) => readOptions(reader, host, isInPod),
    notes: (commandLine, { source }) => notesOf(commandLine, source.kind, environment),
  });
}

function readOptions(reader: OptionReader<OptionName>, host: Host, isInPod: boolean): SpeakerOptions | undefined {
  const source = readSource(reader, host, isInPod, () => readKubernetes(reader, host));
  const nodeName = readNodeName(reader, host);
  const gossip = readGossip(reader, host, source?.kind ?? "files");
  const http = readHttp(reader);
  const loadBalancerClass = reader.read("lb-class", parseText, "");
  const excludeLinksFile = readFileName(reader, host, "exclude-links-file", EXCLUDE_LINKS_FILE);
  // systemd names several folders with colons between them; the first is as good as any.
  const cacheFolder = reader.read("cache-dir", parseText, "").split(":")[0] ?? "";
  const rest = {
    logLevel: reader.read("log-level", parseChoice(LOG_LEVELS), "info"),
    ignoresExcludeLabel: reader.read("ignore-exclude-lb", parseSwitch, false),
    ignoresCordon: reader.read("ignore-cordon", parseSwitch, false),
    electionCap: reader.read("election", parseChoice(ELECTION_CAPS), "auto"),
    detectsFast: reader.read("fast-detection", parseChoice(ON_OFF), "on") === "on",
  };
  if (source === undefined || nodeName === undefined) return undefined;
  return {
    nodeName,
    source,
    ...(gossip === undefined ? {} : { gossip }),
    http,
    ...rest,
    ...(loadBalancerClass === "" ? {} : { loadBalancerClass }),
    ...(excludeLinksFile === undefined ? {} : { excludeLinksFile }),
    ...(cacheFolder === "" ? {} : { cacheFolder: absolute(cacheFolder, host) }),
  };
}

/** As the kubelet does, the host's name is put in lower case; a name that was given is taken as it is. */
function readNodeName(reader: OptionReader<OptionName>, host: Host): string | undefined {
  const given = reader.read<string | undefined>("node-name", parseNodeName, undefined);
  if (given !== undefined || reader.has("node-name")) return given;
  const parsed = parseNodeName(host.hostname.trim().toLowerCase());
  if (parsed.ok) return parsed.value;
  reader.problems.push(`--node-name is needed, because of the host's name ${parsed.problem}`);
  return undefined;
}

function readGossip(
  reader: OptionReader<OptionName>,
  host: Host,
  source: SourceChoice["kind"],
): GossipOptions | undefined {
  const bindAddress = reader.read("ml-bindaddr", parseGossipAddress, undefined);
  const port = reader.read("ml-bindport", (text) => (text === "" ? good(GOSSIP_PORT) : parsePort(text)), GOSSIP_PORT);
  const peers = reader.read("peers", (text) => parsePeers(text, port), []);
  const keyFolder = reader.read("ml-secret-key-path", parseText, "");
  const isWide = reader.read("ml-wan-config", parseSwitch, false);
  const timingFile = readFileName(reader, host, "ml-timing-file", TIMING_FILE);
  const secretKeyFile = keyFolder === "" ? undefined : join(absolute(keyFolder, host), "secretkey");
  if (secretKeyFile !== undefined && !host.isReadable(secretKeyFile)) {
    reader.refuse("ml-secret-key-path", `${secretKeyFile} cannot be read`);
  }
  const off =
    source === "kubernetes" ? missingForPods(reader) : reader.text("ml-bindaddr") === "" ? "ml-bindaddr" : undefined;
  if (off !== undefined) {
    if (peers.length > 0) reader.refuse("peers", `there is no gossip to meet them, because --${off} is ""`);
    return undefined;
  }
  return {
    ...(bindAddress === undefined ? {} : { bindAddress }),
    port,
    peers,
    ...(secretKeyFile === undefined ? {} : { secretKeyFile }),
    timing: timingFile === undefined ? { kind: isWide ? "wan" : "lan" } : { kind: "file", path: timingFile },
  };
}

/** As in MetalLB gossip is off in a cluster unless both are given. */
function missingForPods(reader: OptionReader<OptionName>): OptionName | undefined {
  return (["ml-bindaddr", "ml-labels"] as const).find((name) => (reader.text(name) ?? "") === "");
}

function readHttp(reader: OptionReader<OptionName>): ListenAddress {
  if (reader.has("http-address") && reader.has("health-probe-port")) {
    reader.problems.push("--http-address and --health-probe-port are both given; one of them says where to listen");
  }
  const port = reader.read("health-probe-port", parsePort, HTTP_PORT);
  return reader.read("http-address", parseListenAddress, { ip: LOOPBACK, port });
}

/** A file that was named must be there; one at its usual place may be missing. The empty text means none. */
function readFileName(
  reader: OptionReader<OptionName>,
  host: Host,
  name: OptionName,
  usual: string,
): string | undefined {
  const text = reader.read(name, parseText, usual);
  if (text === "") return undefined;
  const path = absolute(text, host);
  if (host.isReadable(path)) return path;
  if (reader.has(name)) reader.refuse(name, `${path} cannot be read`);
  return undefined;
}

function notesOf(
  commandLine: CommandLine<OptionName>,
  source: SourceChoice["kind"],
  environment: Readonly<Record<string, string | undefined>>,
): string[] {
  const notes = idleNotes(commandLine, OPTIONS, source);
  const bgpType = environment["METALLB_BGP_TYPE"] ?? "";
  return bgpType === "" ? notes : [...notes, "METALLB_BGP_TYPE is set, but this speaker does not speak BGP"];
}

function good<Value>(value: Value): ParsedValue<Value> {
  return { ok: true, value };
}
