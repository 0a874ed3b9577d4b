/** Short ways to write what the allocator reads: resources as a user writes them, read as the daemon reads them. */
import { type AllocatorPool, readPool } from "../../src/allocator/pool.ts";
import { type Ip, parseIp } from "../../src/net/ip.ts";

export interface PoolSpec {
  readonly addresses: readonly unknown[];
  readonly autoAssign?: boolean;
  readonly avoidBuggyIPs?: boolean;
  readonly serviceAllocation?: unknown;
}

/** `metadata`: besides the name. */
export function pool(name: string, spec: PoolSpec | readonly string[], metadata: object = {}): AllocatorPool {
  const resource = {
    apiVersion: "metallb.io/v1beta1",
    kind: "IPAddressPool",
    metadata: { name, ...metadata },
    spec: Array.isArray(spec) ? { addresses: spec } : spec,
  };
  const read = readPool(resource);
  if (read === undefined) throw new Error(`no pool: ${name}`);
  return read;
}

export function ip(text: string): Ip {
  const parsed = parseIp(text);
  if (parsed === undefined) throw new Error(`no address: ${text}`);
  return parsed;
}

export function ips(...texts: readonly string[]): readonly Ip[] {
  return texts.map(ip);
}
