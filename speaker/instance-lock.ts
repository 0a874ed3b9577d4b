/** One speaker of a name per host: an abstract Unix socket, which the kernel drops with the process, however it dies. */
import { createServer, type Server } from "node:net";
import { ArpeggioError, errnoOf } from "../src/base/errors.ts";

/** Resolves to a function that gives the name back. Throws ERR_ALREADY_RUNNING with a sentence when somebody holds it. */
export async function takeInstanceLock(nodeName: string): Promise<() => void> {
  const server: Server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => {
      const isTaken = errnoOf(cause) === "EADDRINUSE";
      const message = isTaken
        ? `another speaker named ${nodeName} is already running on this host; stop it, or give this one another --node-name`
        : `the lock of node name ${nodeName} cannot be taken: ${errnoOf(cause)}`;
      reject(new ArpeggioError(isTaken ? "ERR_ALREADY_RUNNING" : "ERR_LISTEN", message, { cause }));
    });
    server.listen(`\0arpeggio-speaker/${nodeName}`, resolve);
  });
  server.unref();
  return () => void server.close();
}
