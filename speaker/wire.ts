/**
 * Where the wire thread begins. Its program is loaded some of it a turn, the parts that others import first: all of it in one turn takes
 * three times what a turn may (DESIGN §5). `hack/bundle` makes files of what is imported here.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { workerData } from "node:worker_threads";
import type { WireSettings } from "./thread-messages.ts";

const PARTS: readonly (() => Promise<unknown>)[] = [
  () => import("node:crypto"),
  () => import("node:zlib"),
  () => import("node:dgram"),
  // Bound sockets ask it whether they are shared.
  () => import("node:cluster"),
  () => import("../src/desired/derive.ts"),
  () => import("../src/election/election.ts"),
  () => import("../src/gossip/codec.ts"),
  () => import("../src/gossip/driver.ts"),
  () => import("../src/announcer/driver.ts"),
  () => import("../src/sys/packet-links.ts"),
  () => import("../src/sys/gossip-transport.ts"),
  () => import("./council.ts"),
  () => import("./speaker.ts"),
  () => import("./wire-thread.ts"),
];

for (const load of PARTS) {
  await load();
  await nextTurn();
}
const { runWireThread } = await import("./wire-thread.ts");
await runWireThread(workerData as WireSettings);
