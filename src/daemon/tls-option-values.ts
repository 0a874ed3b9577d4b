/** The grammar of the TLS options, which are MetalLB's: Go's and IANA's names in, OpenSSL's out. Pure. */
import { getCiphers } from "node:tls";
import type { TlsSettings } from "../http/metrics-server.ts";
import { bad, good, type ParsedValue } from "../options/option-values.ts";

const VERSIONS = { VersionTLS12: "TLSv1.2", VersionTLS13: "TLSv1.3" } as const;

/** Go speaks all of TLS 1.3, whatever is chosen; to name its suites is no mistake. */
const OF_TLS13 = /^TLS_(AES_128_GCM_SHA256|AES_256_GCM_SHA384|CHACHA20_POLY1305_SHA256)$/;
const OF_TLS12 =
  /^TLS_(?:(ECDHE_ECDSA|ECDHE_RSA)|RSA)_WITH_(?:AES_(\d+)_(?:(GCM)|CBC)_(SHA\d*)|(CHACHA20_POLY1305)(?:_SHA256)?)$/;

/** IANA's number → OpenSSL's name (registry "TLS Supported Groups"). */
const GROUPS: ReadonlyMap<number, string> = new Map([
  [23, "P-256"],
  [24, "P-384"],
  [25, "P-521"],
  [29, "X25519"],
  [30, "X448"],
  [4587, "SecP256r1MLKEM768"],
  [4588, "X25519MLKEM768"],
  [4589, "SecP384r1MLKEM1024"],
]);
const MAX_GROUP = 65_535;

/** The empty text is the default, as in MetalLB. */
export function parseTlsVersion(text: string): ParsedValue<TlsSettings["minVersion"]> {
  if (text === "") return good("TLSv1.3");
  if (text === "VersionTLS12" || text === "VersionTLS13") return good(VERSIONS[text]);
  return bad(`"${text}" is neither VersionTLS12 nor VersionTLS13`);
}

/** OpenSSL's list; undefined for Node's own. */
export function parseCipherSuites(text: string): ParsedValue<string | undefined> {
  const known = new Set(getCiphers());
  const chosen: string[] = [];
  for (const name of wordsOf(text)) {
    const suite = OF_TLS13.test(name) ? undefined : opensslName(name);
    if (suite !== undefined && known.has(suite.toLowerCase())) chosen.push(suite);
    else if (!OF_TLS13.test(name)) return bad(`"${name}" is no cipher suite that is known here`);
  }
  return good(chosen.length === 0 ? undefined : chosen.join(":"));
}

/** OpenSSL's list; undefined for Node's own. Numbers that are not known here are left out, as Go does. */
export function parseGroups(text: string): ParsedValue<string | undefined> {
  const seen = new Set<number>();
  for (const word of wordsOf(text)) {
    const number = /^\d{1,5}$/.test(word) ? Number(word) : 0;
    if (number < 1 || number > MAX_GROUP) return bad(`"${word}" is no number from 1 to ${MAX_GROUP}`);
    if (seen.has(number)) return bad(`${word} stands there twice`);
    seen.add(number);
  }
  const names = [...seen].flatMap((number) => GROUPS.get(number) ?? []);
  if (seen.size > 0 && names.length === 0) return bad(`none of ${text} is known here`);
  return good(names.length === 0 ? undefined : names.join(":"));
}

function opensslName(name: string): string | undefined {
  const match = OF_TLS12.exec(name);
  if (match === null) return undefined;
  const [, exchange, bits, mode, hash, chacha] = match;
  const cipher = chacha === undefined ? [`AES${bits}`, ...(mode === undefined ? [] : [mode]), hash] : [chacha];
  return [...(exchange === undefined ? [] : [exchange]), ...cipher].join("-").replaceAll("_", "-");
}

function wordsOf(text: string): readonly string[] {
  const words = text.split(",").map((word) => word.trim());
  return words.filter((word) => word !== "");
}
