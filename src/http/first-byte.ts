/** Tells apart, on a port that speaks TLS, who speaks it and who does not, by the first byte that is heard. */
import type { Server, Socket } from "node:net";

/** A TLS record that holds a handshake (RFC 8446 §5.1): no method of HTTP begins so. */
const HANDSHAKE = 0x16;

/** Replaces what the server does with new connections: those that begin with TLS go on to it, the others to `refuse`. */
export function divertPlain(server: Server, waitMs: number, refuse: (socket: Socket) => void): void {
  const accept = server.listeners("connection");
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    const onError = (): void => void socket.destroy();
    const timer = setTimeout(onError, waitMs);
    socket.once("error", onError);
    socket.once("close", () => clearTimeout(timer));
    socket.once("data", (bytes: Buffer) => {
      clearTimeout(timer);
      socket.pause();
      socket.off("error", onError);
      if (bytes[0] !== HANDSHAKE) return refuse(socket);
      socket.unshift(bytes);
      for (const listener of accept) listener.call(server, socket);
    });
  });
}
