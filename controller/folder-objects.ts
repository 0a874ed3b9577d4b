/** What a folder says, manifests and what was written about them, as the allocator reads it from an API server. Pure, but for what it remembers. */
import { createHash } from "node:crypto";
import { SERVICE_ANNOTATIONS } from "../api/annotations.ts";
import { readNodeAddresses } from "../src/allocator/node-addresses.ts";
import { type AllocatorPool, readPool } from "../src/allocator/pool.ts";
import { type AllocatorService, readService, type ServiceKey } from "../src/allocator/service.ts";
import { DEFAULT_NAMESPACE } from "../src/desired/resource-facts.ts";
import { fieldOf } from "../src/desired/resource-readers.ts";
import type { FolderDocuments } from "../src/files/file-state.ts";
import { laidOver, type Overlay, type Overlays } from "../src/files/overlay.ts";
import { type Family, familyOf, type Ip, parseIp } from "../src/net/ip.ts";

/** Of a Service whose manifest cannot be read now: what it has is taken, and nobody decides about it. */
const UNREAD_CLASS = "arpeggio.dev/manifest-unread";
/** There is no cluster, so nobody gives cluster IPs; they say which families a Service has. */
const CLUSTER_IPS: Readonly<Record<Family, string>> = { 4: "0.0.0.0", 6: "::" };
const RESERVATIONS = {
  apiVersion: "v1",
  kind: "ConfigMap",
  namespace: DEFAULT_NAMESPACE,
  name: "arpeggio-reservations",
};

export interface FolderObjects {
  readonly services: readonly AllocatorService[];
  readonly pools: readonly AllocatorPool[];
  readonly nodes: ReadonlyMap<string, readonly Ip[]>;
  /** Lines, as in the ConfigMap of a cluster. */
  readonly reserved: string;
  /** What no manifest is for any more. */
  readonly orphans: readonly Overlay[];
}

interface Known {
  readonly overlay: Overlay | undefined;
  readonly service: AllocatorService | undefined;
}

export class FolderReader {
  readonly #wallMs: () => number;
  /** When what has no time of its own was seen first, by kind and key. */
  #firstSeen = new Map<string, string>();
  /** By manifest: 10,000 Services are not read again because one changed. */
  readonly #known = new WeakMap<object, Known>();

  constructor(wallMs: () => number) {
    this.#wallMs = wallMs;
  }

  read({ values, unread, isWhole }: FolderDocuments, overlays: Overlays): FolderObjects {
    const services: AllocatorService[] = [];
    const pools: AllocatorPool[] = [];
    const nodes = new Map<string, readonly Ip[]>();
    const before = this.#firstSeen;
    this.#firstSeen = new Map();
    for (const [key, value] of values) {
      const known = before.get(key);
      if (known !== undefined) this.#firstSeen.set(key, known);
      const [kind, name = ""] = key.split(/ (.*)/s);
      if (kind === "services") {
        const service = this.service(name, value, overlays.get(key));
        if (service !== undefined) services.push(service);
      } else if (kind === "pools") {
        const pool = readPool(laidOver(value, this.base(key, value, overlays.get(key))));
        if (pool !== undefined) pools.push(pool);
      } else if (kind === "nodes") nodes.set(name, readNodeAddresses(value));
    }
    const orphans: Overlay[] = [];
    for (const [key, overlay] of overlays) {
      if (values.has(key) || overlay.kind === RESERVATIONS.kind) continue;
      if (isWhole && !unread.has(key)) orphans.push(overlay);
      else if (overlay.kind === "Service") services.push(...standIn(overlay));
    }
    const reserved = fieldOf(overlays.get(`ConfigMap ${DEFAULT_NAMESPACE}/${RESERVATIONS.name}`)?.status, "reserved");
    return { services, pools, nodes, orphans, reserved: typeof reserved === "string" ? reserved : "" };
  }

  /** A Service as an API server would show it. */
  service(key: ServiceKey, manifest: unknown, overlay: Overlay | undefined): AllocatorService | undefined {
    if (typeof manifest !== "object" || manifest === null) return undefined;
    const known = this.#known.get(manifest);
    if (known !== undefined && known.overlay === overlay) return known.service;
    const shown = laidOver(manifest, this.base(`services ${key}`, manifest, overlay));
    const service = readService(withServerFields(key, shown));
    this.#known.set(manifest, { overlay, service });
    return service;
  }

  /** What was written about an object; where nothing was, what it says itself. */
  base(key: string, manifest: unknown, overlay: Overlay | undefined): Overlay {
    if (overlay !== undefined) return overlay;
    const metadata = fieldOf(manifest, "metadata");
    const from = fieldOf(fieldOf(metadata, "annotations"), SERVICE_ANNOTATIONS.allocatedFromPool);
    return {
      apiVersion: textOf(fieldOf(manifest, "apiVersion")),
      kind: textOf(fieldOf(manifest, "kind")),
      namespace: textOf(fieldOf(metadata, "namespace")) || DEFAULT_NAMESPACE,
      name: textOf(fieldOf(metadata, "name")),
      annotations: typeof from === "string" ? { [SERVICE_ANNOTATIONS.allocatedFromPool]: from } : {},
      createdAt: textOf(fieldOf(metadata, "creationTimestamp")) || this.#seen(key),
      status: fieldOf(manifest, "status") ?? {},
    };
  }

  #seen(key: string): string {
    const known = this.#firstSeen.get(key);
    if (known !== undefined) return known;
    const now = `${new Date(this.#wallMs()).toISOString().slice(0, 19)}Z`;
    this.#firstSeen.set(key, now);
    return now;
  }
}

/** What is kept by name, to be written. */
export function reservationsOverlay(reserved: string): Overlay {
  return { ...RESERVATIONS, annotations: {}, createdAt: "", status: { reserved } };
}

function standIn({ apiVersion, kind, namespace, name, createdAt, status }: Overlay): readonly AllocatorService[] {
  const service = readService(
    withServerFields(`${namespace}/${name}`, {
      apiVersion,
      kind,
      metadata: { namespace, name, creationTimestamp: createdAt },
      spec: { type: "LoadBalancer", loadBalancerClass: UNREAD_CLASS },
      status: { loadBalancer: fieldOf(status, "loadBalancer") ?? {} },
    }),
  );
  return service === undefined ? [] : [service];
}

/** An API server gives every object a uid and each of its forms a version, and a Service its cluster IPs. */
function withServerFields(key: ServiceKey, service: unknown): unknown {
  const [metadata, spec] = [fieldOf(service, "metadata"), fieldOf(service, "spec")];
  const whole = { ...objectOf(service), spec: { ...clusterIps(service, spec), ...objectOf(spec) } };
  const content = createHash("sha256").update(JSON.stringify(whole)).digest("hex");
  const uid = `${key}@${textOf(fieldOf(metadata, "creationTimestamp"))}`;
  // Never a number: that would be compared as one.
  return { ...whole, metadata: { ...objectOf(metadata), uid, resourceVersion: `v${content.slice(0, 24)}` } };
}

/** Those that are written win. */
function clusterIps(service: unknown, spec: unknown): object {
  if (textOf(fieldOf(spec, "clusterIP")) !== "") return {};
  return { clusterIPs: familiesOf(service, spec).map((family) => CLUSTER_IPS[family]) };
}

/** `ipFamilies`, both for a dual-stack policy; else those of the addresses that it asks for; else IPv4. */
function familiesOf(service: unknown, spec: unknown): readonly Family[] {
  const written = listOf(fieldOf(spec, "ipFamilies")).flatMap((name): Family[] =>
    name === "IPv4" ? [4] : name === "IPv6" ? [6] : [],
  );
  const isDual = /^(Prefer|Require)DualStack$/.test(textOf(fieldOf(spec, "ipFamilyPolicy")));
  if (isDual) return [...new Set<Family>([...written, 4, 6])];
  if (written.length > 0) return [...new Set(written)];
  const annotations = fieldOf(fieldOf(service, "metadata"), "annotations");
  const { loadBalancerIps, legacyLoadBalancerIps } = SERVICE_ANNOTATIONS;
  const asked = [loadBalancerIps, legacyLoadBalancerIps].map((name) => fieldOf(annotations, name));
  const texts = [...asked, fieldOf(spec, "loadBalancerIP")].find((text) => textOf(text) !== "");
  const ips = textOf(texts)
    .split(",")
    .flatMap((text) => parseIp(text.trim()) ?? []);
  return ips.length === 0 ? [4] : [...new Set(ips.map(familyOf))];
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function objectOf(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}
