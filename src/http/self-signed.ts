/** A certificate that a server makes for itself (X.509 v3, RFC 5280), so that strangers on the wire cannot read along. */
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import type { Random } from "../base/random.ts";
import { type Ip, ipBytes } from "../net/ip.ts";
import * as der from "./der.ts";

/** PEM both. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** With RSA alone old cipher suites that name it can be spoken; everything else is better with ECDSA. */
export type KeyKind = "ecdsa" | "rsa";

export interface SelfSignedSubject {
  readonly nodeName: string;
  readonly ips: readonly Ip[];
  /** Since 1970. */
  readonly wallMs: number;
  readonly keyKind: KeyKind;
  /** A cryptographic source: it makes the serial number. */
  readonly random: Random;
}

const DAY_MS = 86_400_000;
/** For clocks that go wrong. */
const BEFORE_MS = DAY_MS;
/** Longer than any process runs: it is made anew at each start, and nobody checks it. */
const VALID_MS = 3_650 * DAY_MS;
/** RFC 5280 §4.1.2.2 allows 20. */
const SERIAL_BYTES = 16;
const RSA_BITS = 2_048;
const OID = {
  ecdsaWithSha256: "1.2.840.10045.4.3.2",
  rsaWithSha256: "1.2.840.113549.1.1.11",
  commonName: "2.5.4.3",
  subjectAltName: "2.5.29.17",
  extendedKeyUsage: "2.5.29.37",
  serverAuth: "1.3.6.1.5.5.7.3.1",
} as const;
/** GeneralName (RFC 5280 §4.2.1.6) */
const DNS_NAME = 2;
const IP_ADDRESS = 7;

export function makeSelfSigned(subject: SelfSignedSubject): Certificate {
  const { privateKey, publicKey } = keyPair(subject.keyKind);
  const algorithm = signatureAlgorithm(subject.keyKind);
  const name = der.derSequence(
    der.derSet(der.derSequence(der.derObjectIdentifier(OID.commonName), der.derUtf8("arpeggio-speaker"))),
  );
  const { wallMs } = subject;
  const signed = der.derSequence(
    der.derExplicit(0, der.derInteger(Uint8Array.of(2))),
    der.derInteger(subject.random.bytes(SERIAL_BYTES)),
    algorithm,
    name,
    der.derSequence(der.derTime(wallMs - BEFORE_MS), der.derTime(wallMs + VALID_MS)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der.derExplicit(3, der.derSequence(alternativeNames(subject), serverUsage())),
  );
  const certificate = der.derSequence(signed, algorithm, der.derBits(sign("sha256", signed, privateKey)));
  return { cert: pem("CERTIFICATE", certificate), key: privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
}

function keyPair(kind: KeyKind): { readonly privateKey: KeyObject; readonly publicKey: KeyObject } {
  if (kind === "rsa") return generateKeyPairSync("rsa", { modulusLength: RSA_BITS });
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

function signatureAlgorithm(kind: KeyKind): Uint8Array {
  if (kind === "ecdsa") return der.derSequence(der.derObjectIdentifier(OID.ecdsaWithSha256));
  return der.derSequence(der.derObjectIdentifier(OID.rsaWithSha256), der.derNull());
}

function alternativeNames({ nodeName, ips }: SelfSignedSubject): Uint8Array {
  const names = [
    der.derImplicit(DNS_NAME, der.ascii(nodeName)),
    ...ips.map((ip) => der.derImplicit(IP_ADDRESS, ipBytes(ip))),
  ];
  return extension(OID.subjectAltName, der.derSequence(...names));
}

function serverUsage(): Uint8Array {
  return extension(OID.extendedKeyUsage, der.derSequence(der.derObjectIdentifier(OID.serverAuth)));
}

function extension(oid: string, value: Uint8Array): Uint8Array {
  return der.derSequence(der.derObjectIdentifier(oid), der.derOctets(value));
}

function pem(label: string, bytes: Uint8Array): string {
  const lines = Buffer.from(bytes)
    .toString("base64")
    .replaceAll(/.{64}(?=.)/g, "$&\n");
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}
