/** Starts the door to the API server (see door-main.ts). It outlives the command. */
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { startProcess } from "../netlab/processes.ts";
import { inNamespace } from "../netlab/run-command.ts";
import type { Host } from "../netlab/topology.ts";

const DOOR_PROGRAM = join(import.meta.dirname, "door-main.js");

/** Returns the port on 127.0.0.1. The process is recorded in the folder as `door`. */
export async function openDoor(folder: string, control: Host, apiPort: number): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("a TCP port has a number");
  const argv = inNamespace(control.namespace, [process.execPath, DOOR_PROGRAM, control.ipv4, String(apiPort)]);
  const child = startProcess(folder, "door", argv, "ipc");
  child.send("listen", server);
  await once(child, "message");
  child.disconnect();
  server.close();
  return bound.port;
}
