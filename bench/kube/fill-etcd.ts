/**
 * Writes many Services and their slices into etcd, which takes seconds where the API server takes minutes. The server reads them like
 * any others. `node fill-etcd.js PORT SERVICES`, in etcd's network namespace.
 */
import { buildIpAddress, buildService, buildSlice, clusterIpOf } from "./large-objects.ts";

/** etcd takes 128 in one transaction. */
const PUTS = 100;

const [, , port = "", services = ""] = process.argv;

function put(key: string, value: unknown): unknown {
  return { requestPut: { key: base64(key), value: base64(JSON.stringify(value)) } };
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

async function transact(puts: readonly unknown[]): Promise<void> {
  const body = JSON.stringify({ success: puts });
  const answer = await fetch(`http://127.0.0.1:${port}/v3/kv/txn`, { method: "POST", body });
  if (!answer.ok) throw new Error(`etcd: ${answer.status} ${await answer.text()}`);
}

const all = Array.from({ length: Number(services) }, (_, number) => [
  put(`/registry/ipaddresses/${clusterIpOf(number)}`, buildIpAddress(number)),
  put(`/registry/services/specs/default/service-${number}`, buildService(number)),
  put(`/registry/endpointslices/default/service-${number}`, buildSlice(number, true)),
]).flat();
for (let from = 0; from < all.length; from += PUTS) await transact(all.slice(from, from + PUTS));
