/**
 * Runs in a node's namespace: answers every HTTP request with the node's name, and passes connections to a Unix socket on
 * to the speaker's HTTP port, so that /status of every node can be read from outside the namespaces.
 *
 * usage: backend-main.js NODE SOCKET
 */
import { rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { BACKEND_PORT, SPEAKER_HTTP_PORT } from "./topology.ts";

/** A second's requests at once: what the client's kernel sends again when a take-over ends its wait. */
const BACKLOG = 4_096;

const [, , node = "", socketPath = ""] = process.argv;
const body = `${node}\n`;
const answer = `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;

// Not node:http: at 500 new connections a second parsing them would cost more than everything else in the lab.
const backend = createServer((socket) => {
  socket.setNoDelay(true);
  socket.on("error", () => socket.destroy());
  socket.once("data", () => socket.end(answer));
});
backend.listen({ port: BACKEND_PORT, host: "::", backlog: BACKLOG });

rmSync(socketPath, { force: true });
const door = createServer((outside) => {
  const speaker = connect(SPEAKER_HTTP_PORT, "127.0.0.1");
  outside.on("error", () => speaker.destroy());
  speaker.on("error", () => outside.destroy());
  outside.pipe(speaker).pipe(outside);
});
door.listen(socketPath);
