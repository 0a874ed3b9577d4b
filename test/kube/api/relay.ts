/** A TCP relay before an API server: connections that a test cuts, and a server that is away without being stopped. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

export class Relay {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isAway = false;
  /** Connections so far. */
  accepted = 0;

  private constructor(target: URL) {
    this.#server = createServer((near) => {
      this.accepted++;
      this.#keep(near);
      if (this.#isAway) {
        near.destroy();
        return;
      }
      const far = connect(Number(target.port), target.hostname);
      this.#keep(far);
      near.pipe(far);
      far.pipe(near);
      near.once("close", () => far.destroy());
      far.once("close", () => near.destroy());
    });
  }

  static async open(target: string): Promise<Relay> {
    const url = new URL(target);
    const relay = new Relay(url);
    // The server's certificate is good for its address, whatever the port.
    relay.#server.listen(0, url.hostname);
    await once(relay.#server, "listening");
    return relay;
  }

  get url(): string {
    const { address, port } = this.#server.address() as AddressInfo;
    return `https://${address}:${port}`;
  }

  get open(): number {
    return this.#sockets.size / 2;
  }

  /** Every connection ends with a reset. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** Until `isAway` is false again no connection is made. */
  setAway(isAway: boolean): void {
    this.#isAway = isAway;
    if (isAway) this.cut();
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, "close");
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => this.#sockets.delete(socket));
  }
}
