/** The command line of `arpeggio`. Pure. */
import { parseArgs } from "node:util";
import { type Ip, parseIp } from "../src/net/ip.ts";

export const DEFAULT_NAMESPACE = "metallb-system";
/** The label by which manifests/base selects the speakers' pods, wherever they are installed. */
export const DEFAULT_SELECTOR = "arpeggio.dev/component=speaker";

/** Where the speakers are: pods, each reached by port-forward, or URLs. */
export type Speakers =
  | {
      readonly kind: "pods";
      readonly namespace: string;
      readonly selector: string;
      readonly kubeconfig?: string;
      readonly context?: string;
    }
  | { readonly kind: "urls"; readonly urls: readonly SpeakerUrl[] };

/** `http://HOST[:PORT]`, or `unix:PATH` for a socket that leads to one. */
export type SpeakerUrl =
  | { readonly text: string; readonly host: string; readonly port: number }
  | { readonly text: string; readonly socketPath: string };

export interface Run {
  readonly kind: "run";
  readonly question:
    | { readonly kind: "status" }
    | { readonly kind: "why"; readonly address: Ip }
    /** `namespace/name` */
    | { readonly kind: "why-service"; readonly service: string };
  readonly output: "text" | "json";
  readonly speakers: Speakers;
}

export type Invocation =
  | Run
  | { readonly kind: "help" }
  | { readonly kind: "version" }
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

const OPTIONS = {
  namespace: { type: "string", short: "n" },
  selector: { type: "string", short: "l" },
  kubeconfig: { type: "string" },
  context: { type: "string" },
  urls: { type: "string" },
  output: { type: "string", short: "o" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean" },
} as const;

const OF_PODS = ["namespace", "selector", "kubeconfig", "context"] as const;

const COMMANDS = "status, why ADDRESS, why NAMESPACE/SERVICE";
/** Two labels of RFC 1123: what Kubernetes lets namespaces and Services be called. */
const SERVICE_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\/[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** The HTTP port of a speaker. */
const SPEAKER_PORT = 17472;

/** Options may stand before or after the command, because kubectl hands over whatever follows its plugin's name. */
export function parseCommandLine(words: readonly string[]): Invocation {
  let parsed: ReturnType<typeof parseWords>;
  try {
    parsed = parseWords(words);
  } catch (error) {
    // Node's own sentences name the option; what follows the first of them are hints for programmers.
    const [sentence = "the command line is wrong"] = (error instanceof Error ? error.message : String(error)).split(
      /\. |\n/,
    );
    return { kind: "invalid", problems: [sentence] };
  }
  const { values, positionals } = parsed;
  if (values.help === true || positionals[0] === "help") return { kind: "help" };
  if (values.version === true) return { kind: "version" };
  const problems: string[] = [];
  const question = readQuestion(positionals, problems);
  const output = readOutput(values.output, problems);
  const speakers = readSpeakers(values, problems);
  if (question === undefined || output === undefined || speakers === undefined || problems.length > 0) {
    return { kind: "invalid", problems };
  }
  return { kind: "run", question, output, speakers };
}

type Values = ReturnType<typeof parseWords>["values"];

function parseWords(words: readonly string[]) {
  return parseArgs({ args: [...words], options: OPTIONS, allowPositionals: true, strict: true });
}

function readQuestion(positionals: readonly string[], problems: string[]): Run["question"] | undefined {
  const [command, ...rest] = positionals;
  const surplus = rest.at(command === "why" ? 1 : 0);
  if (surplus !== undefined) problems.push(`"${surplus}" is one word too many`);
  switch (command) {
    case undefined:
      problems.push(`a command is missing: ${COMMANDS}`);
      return undefined;
    case "status":
      return { kind: "status" };
    case "why": {
      const [text] = rest;
      const address = parseIp(text ?? "");
      if (address !== undefined) return { kind: "why", address };
      if (text !== undefined && SERVICE_NAME.test(text)) return { kind: "why-service", service: text };
      const needed = "an IP address or NAMESPACE/SERVICE";
      problems.push(text === undefined ? `why needs ${needed}` : `"${text}" is not ${needed}`);
      return undefined;
    }
    default:
      problems.push(`"${command}" is not a command; there are: ${COMMANDS}`);
      return undefined;
  }
}

function readOutput(text: string | undefined, problems: string[]): Run["output"] | undefined {
  if (text === undefined || text === "text") return "text";
  if (text === "json") return "json";
  problems.push(`--output is "${text}", but can be text or json`);
  return undefined;
}

function readSpeakers(values: Values, problems: string[]): Speakers | undefined {
  const { namespace = DEFAULT_NAMESPACE, selector = DEFAULT_SELECTOR, kubeconfig, context, urls } = values;
  if (urls === undefined) {
    return {
      kind: "pods",
      namespace,
      selector,
      ...(kubeconfig === undefined ? {} : { kubeconfig }),
      ...(context === undefined ? {} : { context }),
    };
  }
  const both = OF_PODS.filter((name) => values[name] !== undefined);
  if (both.length > 0) problems.push(`--${both[0]} is about Kubernetes, which --urls does without: give one of them`);
  const parsed = urls
    .split(",")
    .filter((text) => text !== "")
    .map((text) => parseUrl(text) ?? text);
  for (const wrong of parsed.filter((url) => typeof url === "string")) {
    problems.push(`--urls has "${wrong}", which is no http://HOST[:PORT] and no unix:PATH`);
  }
  if (parsed.length === 0) problems.push("--urls names no speaker");
  return { kind: "urls", urls: parsed.filter((url) => typeof url !== "string") };
}

function parseUrl(text: string): SpeakerUrl | undefined {
  if (text.startsWith("unix:") && text.length > "unix:".length) {
    return { text, socketPath: text.slice("unix:".length) };
  }
  const url = URL.parse(text);
  if (url === null || url.protocol !== "http:" || url.pathname !== "/" || url.search !== "") return undefined;
  // URL leaves out port 80, which somebody may really mean; nobody leaves the port out and means 80.
  const hasPort = url.port !== "" || /:80\/?$/.test(text);
  const port = url.port === "" ? (hasPort ? 80 : SPEAKER_PORT) : Number(url.port);
  return { text, host: url.hostname.replace(/^\[|\]$/g, ""), port };
}
