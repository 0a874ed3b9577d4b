/** Clusters of Go members in MetalLB's timing, and how long their survivors take to notice that one is gone. */
import { setTimeout as sleep } from "node:timers/promises";
import { parseIp } from "../../src/net/ip.ts";
import { GoPeer } from "../../test/interop/go-peer.ts";

export type GoFault = "kill" | "freeze";

const KEY = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
/** Until all have joined; the rest is random, so that faults come at every phase of a probe round of 1 s. */
const SETTLE_MS = 1_500;
const PHASE_MS = 1_000;

/** Milliseconds to the last survivor's notice, one for each of `clusters` that run side by side: together they use a few % of a core. */
export function detectionTimes(
  program: string,
  fault: GoFault,
  nodes: number,
  clusters: number,
): Promise<readonly number[]> {
  return Promise.all(
    Array.from({ length: clusters }, (_, cluster) => detectionTime(program, fault, nodes, `127.0.${73 + cluster}`)),
  );
}

async function detectionTime(program: string, fault: GoFault, nodes: number, prefix: string): Promise<number> {
  const peers: GoPeer[] = [];
  try {
    for (let index = 0; index < nodes; index++) {
      const ip = parseIp(`${prefix}.${index + 1}`);
      if (ip === undefined) throw new Error(`${prefix} has no address ${index + 1}`);
      peers.push(await GoPeer.start(program, { name: `g${index}`, ip, key: KEY, isLan: true }));
    }
    const [victim, ...survivors] = peers;
    if (victim === undefined) throw new Error("a cluster of nobody");
    for (const peer of survivors) await peer.join(victim.endpoint);
    await sleep(SETTLE_MS + Math.random() * PHASE_MS);
    const beganMs = performance.now();
    if (fault === "kill") await victim.kill();
    else victim.freeze();
    const isNotice = ({ event, name }: { readonly event: string; readonly name?: string }) =>
      event === "leave" && name === victim.name;
    await Promise.all(survivors.map((peer) => peer.events.until("leave", isNotice)));
    return performance.now() - beganMs;
  } finally {
    await Promise.all(peers.map((peer) => peer.kill()));
  }
}
