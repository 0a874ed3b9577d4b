/** One daemon of a name per host: an abstract Unix socket, which the kernel drops with the process, however it dies. */
import { createServer, type Server } from "node:net";
import { ArpeggioError, errnoOf } from "../base/errors.ts";

export interface InstanceLock {
  /** At most 100 bytes. */
  readonly name: string;
  /** What is locked, for the sentence when it cannot be: `the lock of node name n1`. */
  readonly title: string;
  /** The sentence when somebody holds it. */
  readonly takenSentence: string;
}

/** Resolves to a function that gives the name back. Throws ERR_ALREADY_RUNNING with a sentence when somebody holds it. */
export async function takeInstanceLock({ name, title, takenSentence }: InstanceLock): Promise<() => void> {
  const server: Server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => {
      const isTaken = errnoOf(cause) === "EADDRINUSE";
      const message = isTaken ? takenSentence : `${title} cannot be taken: ${errnoOf(cause)}`;
      reject(new ArpeggioError(isTaken ? "ERR_ALREADY_RUNNING" : "ERR_LISTEN", message, { cause }));
    });
    server.listen(`\0${name}`, resolve);
  });
  server.unref();
  return () => void server.close();
}
