/** Where the wire thread begins. `hack/bundle` makes files of what is imported here. */
import { workerData } from "node:worker_threads";
import { loadInTurns } from "./load-in-turns.ts";
import type { WireSettings } from "./thread-messages.ts";

await loadInTurns([
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
]);
const { runWireThread } = await import("./wire-thread.ts");
await runWireThread(workerData as WireSettings);
