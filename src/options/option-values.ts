/** The grammar of option values: text in; a value, or the rest of a sentence that begins with the option's name. Pure. */
import { type Ip, isMulticast, parseIp } from "../net/ip.ts";

export type ParsedValue<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problem: string };

export interface ListenAddress {
  readonly ip: Ip;
  readonly port: number;
}

/** A peer as the user wrote it: a host name or an address, and a port. */
export interface PeerName {
  readonly host: string;
  readonly port: number;
}

/** RFC 1123 subdomain, as Kubernetes wants of a Node's name. */
const SUBDOMAIN = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;
const MAX_NAME_LENGTH = 253;
const MAX_LABEL_LENGTH = 63;
/** RFC 952 and 1123 host names, with the underscore that real resolvers accept. */
const HOST_NAME = /^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?\.?$/i;

export function parseSwitch(text: string): ParsedValue<boolean> {
  // The words of Go's strconv.ParseBool.
  if (/^(1|t|T|TRUE|true|True)$/.test(text)) return good(true);
  if (/^(0|f|F|FALSE|false|False)$/.test(text)) return good(false);
  return bad(`"${text}" is neither true nor false`);
}

export function parseText(text: string): ParsedValue<string> {
  return good(text);
}

/** One of `words`. */
export function parseChoice<Word extends string>(words: readonly Word[]): (text: string) => ParsedValue<Word> {
  return (text) => {
    const found = words.find((word) => word === text);
    return found === undefined ? bad(`"${text}" is none of ${words.join(", ")}`) : good(found);
  };
}

export function parsePort(text: string): ParsedValue<number> {
  const port = portOf(text);
  return port === undefined || port === 0 ? bad(`"${text}" is no port, which is a number from 1 to 65535`) : good(port);
}

export function parseNodeName(text: string): ParsedValue<string> {
  if (text.length <= MAX_NAME_LENGTH && SUBDOMAIN.test(text)) return good(text);
  return bad(
    `"${text}" cannot name a Node: lower-case letters, digits, "-" and ".", at most ${MAX_NAME_LENGTH}, first and last a letter or digit`,
  );
}

/** An address of this host that others can reach; undefined for the empty text, which turns gossip off. */
export function parseGossipAddress(text: string): ParsedValue<Ip | undefined> {
  if (text === "") return good(undefined);
  const ip = parseIp(text);
  if (ip === undefined) return bad(`"${text}" is no IP address`);
  if (ip === "0.0.0.0" || ip === "::" || isMulticast(ip))
    return bad(`${ip} is no address under which others reach this node`);
  return good(ip);
}

/** `192.0.2.1:80` or `[2001:db8::1]:80`; port 0 lets the kernel choose. */
export function parseListenAddress(text: string): ParsedValue<ListenAddress> {
  const { host, port } = splitHostPort(text);
  const ip = parseIp(host);
  const number = port === undefined ? undefined : portOf(port);
  if (ip === undefined || number === undefined)
    return bad(`"${text}" is not of the form 192.0.2.1:80 or [2001:db8::1]:80`);
  return good({ ip, port: number });
}

export type SourceChoice = { readonly kind: "files"; readonly folder: string } | { readonly kind: "kubernetes" };

/** `files:DIR` or `kubernetes`. */
export function parseSource(text: string): ParsedValue<SourceChoice> {
  if (text === "kubernetes") return good({ kind: "kubernetes" });
  const folder = /^files:(.+)$/s.exec(text)?.[1];
  return folder === undefined
    ? bad(`"${text}" is neither of the form files:DIR nor kubernetes`)
    : good({ kind: "files", folder });
}

/** RFC 1123 label: the name of a namespace; undefined for the empty text. */
export function parseNamespace(text: string): ParsedValue<string | undefined> {
  if (text === "") return good(undefined);
  if (text.length <= MAX_LABEL_LENGTH && /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(text)) return good(text);
  return bad(`"${text}" cannot name a namespace: lower-case letters, digits and "-", at most ${MAX_LABEL_LENGTH}`);
}

/** A port that is listened on; undefined for 0, which turns the listener off. */
export function parseOptionalPort(text: string): ParsedValue<number | undefined> {
  const port = portOf(text);
  if (port === undefined) return bad(`"${text}" is no port, which is a number from 0 (off) to 65535`);
  return good(port === 0 ? undefined : port);
}

/** Comma-separated; each `host`, `host:port`, an address, or `[2001:db8::1]:port`. A peer named twice counts once. */
export function parsePeers(text: string, defaultPort: number): ParsedValue<readonly PeerName[]> {
  const peers = new Map<string, PeerName>();
  for (const entry of text === "" ? [] : text.split(",").map((part) => part.trim())) {
    const peer = peerOf(entry, defaultPort);
    if (peer === undefined) return bad(`"${entry}" is no host, host:port, address or [IPv6]:port`);
    peers.set(`${peer.host} ${peer.port}`, peer);
  }
  return good([...peers.values()]);
}

function peerOf(entry: string, defaultPort: number): PeerName | undefined {
  const bare = parseIp(entry);
  if (bare !== undefined) return { host: bare, port: defaultPort };
  const { host, port = String(defaultPort) } = splitHostPort(entry);
  const number = portOf(port);
  const address = parseIp(host);
  if (number === undefined || number === 0) return undefined;
  if (address !== undefined) return { host: address, port: number };
  // Digits and dots alone are a mistyped address, and a resolver might make something of it.
  return HOST_NAME.test(host) && !/^[\d.]+$/.test(host) ? { host, port: number } : undefined;
}

/** `host` comes without brackets, and is empty when brackets are missing around IPv6 or stand around something else. */
function splitHostPort(text: string): { readonly host: string; readonly port?: string } {
  const match = /^(?:\[([^\]]*:[^\]]*)\]|([^:[\]]*))(?::(.*))?$/s.exec(text);
  const [, bracketed, plain = "", port] = match ?? [];
  return { host: bracketed ?? plain, ...(port === undefined ? {} : { port }) };
}

function portOf(text: string): number | undefined {
  if (!/^\d{1,5}$/.test(text)) return undefined;
  const port = Number(text);
  return port <= 65_535 ? port : undefined;
}

export function good<Value>(value: Value): ParsedValue<Value> {
  return { ok: true, value };
}

export function bad(problem: string): { readonly ok: false; readonly problem: string } {
  return { ok: false, problem };
}
