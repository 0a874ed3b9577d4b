/** As much of an API server as `arpeggio` asks: the list of pods, and port-forward over a web socket (RFC 6455). */
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import type { Duplex } from "node:stream";

export interface FakePod {
  readonly name: string;
  readonly node: string;
  readonly phase?: string;
  /** What a port-forward to it meets: a speaker on that local port, an HTTP status instead of a web socket, or kubelet's complaint. */
  readonly forward:
    | { readonly port: number }
    | { readonly status: number }
    | { readonly complaint: string }
    | "nothing";
}

export interface FakeApiServer {
  readonly url: string;
  close(): void;
}

/** RFC 6455 §1.3 */
const ACCEPT_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const OPCODE_BINARY = 0x82;
const OPCODE_CLOSE = 0x88;
const MASKED = 0x80;
/** What the shorter forms of a frame's length can say, and less. */
const PIECE_BYTES = 32_768;

/** `listStatus`: what the list of pods answers with; pages of `pageSize` pods. */
export async function startFakeApiServer(
  pods: readonly FakePod[],
  { listStatus = 200, pageSize = 2 }: { readonly listStatus?: number; readonly pageSize?: number } = {},
): Promise<FakeApiServer> {
  const sockets = new Set<Duplex>();
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "", "http://localhost");
    const from = Number(url.searchParams.get("continue") ?? "0");
    const rest = from + pageSize < pods.length ? { continue: String(from + pageSize) } : {};
    response.writeHead(listStatus, { "content-type": "application/json" }).end(
      JSON.stringify({
        kind: "PodList",
        apiVersion: "v1",
        metadata: rest,
        items: pods.slice(from, from + pageSize).map(({ name, node, phase = "Running" }) => ({
          metadata: { name },
          spec: { nodeName: node, containers: [] },
          status: { phase },
        })),
      }),
    );
  });
  server.on("upgrade", (request, socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    const name = /\/pods\/([^/]+)\/portforward\?ports=17472$/.exec(request.url ?? "")?.[1];
    const pod = pods.find((one) => one.name === name);
    if (pod === undefined) socket.end("HTTP/1.1 404 Not Found\r\n\r\n");
    else serveForward(request, socket, pod.forward);
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      server.close();
    },
  };
}

function serveForward(request: IncomingMessage, socket: Duplex, forward: FakePod["forward"]): void {
  if (forward === "nothing") return;
  if ("status" in forward) {
    socket.end(`HTTP/1.1 ${forward.status} Refused\r\ncontent-length: 0\r\n\r\n`);
    return;
  }
  const accept = createHash("sha1").update(`${request.headers["sec-websocket-key"]}${ACCEPT_GUID}`).digest("base64");
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\n` +
      "sec-websocket-protocol: v4.channel.k8s.io\r\n\r\n",
  );
  // Both channels begin with the port, little-endian.
  for (const channel of [0, 1]) socket.write(frameOf(channel, Buffer.from([17472 & 0xff, 17472 >> 8])));
  if ("complaint" in forward) {
    socket.write(frameOf(1, Buffer.from(forward.complaint)));
    return;
  }
  const speaker = connect(forward.port, "127.0.0.1");
  speaker.on("data", (bytes) => {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES)
      socket.write(frameOf(0, bytes.subarray(at, at + PIECE_BYTES)));
  });
  speaker.on("end", () => socket.write(Buffer.from([OPCODE_CLOSE, 0])));
  speaker.on("error", () => socket.destroy());
  socket.on("close", () => speaker.destroy());
  let received = Buffer.alloc(0);
  socket.on("data", (bytes: Buffer) => {
    received = Buffer.concat([received, bytes]);
    for (;;) {
      const frame = takeFrame(received);
      if (frame === undefined) return;
      received = received.subarray(frame.length);
      // The first byte is the channel.
      if (frame.opcode === OPCODE_BINARY) speaker.write(frame.payload.subarray(1));
    }
  });
}

/** From a server: never masked. */
function frameOf(channel: number, bytes: Buffer): Buffer {
  const length = bytes.length + 1;
  const head = length < 126 ? [OPCODE_BINARY, length] : [OPCODE_BINARY, 126, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([...head, channel]), bytes]);
}

/** From a client: always masked; longer than 64 KiB is not needed here. */
function takeFrame(
  bytes: Buffer,
): { readonly opcode: number; readonly payload: Buffer; readonly length: number } | undefined {
  if (bytes.length < 2) return undefined;
  const short = bytes.readUInt8(1) & ~MASKED;
  const at = short === 126 ? 4 : 2;
  if (bytes.length < at + 4) return undefined;
  const size = short === 126 ? bytes.readUInt16BE(2) : short;
  const length = at + 4 + size;
  if (bytes.length < length) return undefined;
  const mask = bytes.subarray(at, at + 4);
  const payload = Buffer.from(bytes.subarray(at + 4, length).map((byte, i) => byte ^ (mask[i % 4] ?? 0)));
  return { opcode: bytes.readUInt8(0), payload, length };
}
