/**
 * The machine's way to the API server: runs in the control plane's network namespace, and accepts connections on a socket of the machine's
 * own, which it gets over IPC. A socket stays in the namespace that it was made in.
 *
 * usage: door-main.js ADDRESS PORT
 */
import { connect, type Server, type Socket } from "node:net";

const [, , address = "", port = ""] = process.argv;

process.once("message", (_message, handle) => {
  (handle as Server).on("connection", (outside: Socket) => {
    const inside = connect(Number(port), address);
    for (const [one, other] of [
      [outside, inside],
      [inside, outside],
    ] as const) {
      one.setNoDelay(true);
      one.on("error", () => other.destroy());
      one.once("close", () => other.destroy());
    }
    outside.pipe(inside).pipe(outside);
  });
  process.send?.("open");
});
