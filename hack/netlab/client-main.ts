/**
 * Runs in the client's namespace: requests at the pace that it is told, each on a new connection, however slow the answers are.
 * The neighbour entry is the kernel's own. Told by IPC when to start and to stop; see observations.ts.
 */
import { connect, type Socket } from "node:net";
import { monotonicMs } from "./monotonic-ms.ts";
import {
  type ClientReport,
  type Command,
  REQUEST_INTERVAL_MS,
  type RequestRecord,
  SYN_TIMEOUT_MS,
} from "./observations.ts";

/** An answer that has not come a second after the connection stood is counted as none. */
const ANSWER_TIMEOUT_MS = 1_000;
const SWEEP_MS = 10;

/** So long without a turn of the loop, and this process stood still: a machine that was paused has lost nobody's SYN. */
const STOOD_STILL_MS = 100;

interface OpenRequest {
  readonly startMs: number;
  /** The same and the next by runningMs(). */
  readonly startRunningMs: number;
  connectedRunningMs?: number;
  readonly socket: Socket;
  connectedMs?: number;
  text: string;
}

const requests: RequestRecord[] = [];
/** In the order of their start. */
const open = new Set<OpenRequest>();
let lastNode = "";

let lastTurnMs = monotonicMs();
let stoodStillMs = 0;

/** monotonicMs() without the time in which this process stood still. Asked at every turn. */
function runningMs(): number {
  const nowMs = monotonicMs();
  if (nowMs - lastTurnMs > STOOD_STILL_MS) stoodStillMs += nowMs - lastTurnMs;
  lastTurnMs = nowMs;
  return nowMs - stoodStillMs;
}

function send(address: string, port: number): void {
  const socket = connect({ host: address, port, noDelay: true });
  const request: OpenRequest = { startMs: monotonicMs(), startRunningMs: runningMs(), socket, text: "" };
  open.add(request);
  socket.once("connect", () => {
    request.connectedMs = monotonicMs();
    request.connectedRunningMs = runningMs();
    socket.write("GET / HTTP/1.1\r\nHost: lab.example.org\r\nConnection: close\r\n\r\n");
  });
  socket.on("data", (chunk: Buffer) => {
    request.text += chunk.toString("latin1");
    // The lab's backends answer with their node's name, the cluster's with "POD NODE".
    const node = /\r\n\r\n(?:\S+ )?(\S+)\n/.exec(request.text)?.[1];
    if (node !== undefined) end(request, "answered", node);
  });
  // An error is followed by "close"; both an early end and an error leave the request unanswered.
  socket.on("error", () => undefined);
  socket.once("close", () => end(request, "broken"));
}

function end(request: OpenRequest, outcome: RequestRecord["outcome"], node?: string): void {
  if (!open.delete(request)) return;
  const { startMs, startRunningMs, connectedMs, connectedRunningMs = runningMs(), socket } = request;
  const endMs = monotonicMs();
  const isLate = connectedRunningMs - startRunningMs > SYN_TIMEOUT_MS;
  requests.push({
    startMs,
    endMs,
    outcome: isLate ? "silent" : outcome,
    ...(connectedMs !== undefined && { connectedMs }),
    ...(node !== undefined && { node }),
  });
  if (node !== undefined && node !== lastNode) {
    lastNode = node;
    report({ kind: "answered-by", node, atMs: endMs });
  }
  // A reset leaves no TIME-WAIT behind, so that minutes of drills run out of neither ports nor conntrack entries.
  socket.resetAndDestroy();
}

/** Gives up on requests whose time is over. */
function sweep(): void {
  const nowMs = runningMs();
  for (const request of open) {
    const { startRunningMs, connectedRunningMs } = request;
    if (connectedRunningMs === undefined && nowMs - startRunningMs > SYN_TIMEOUT_MS) end(request, "silent");
    if (connectedRunningMs !== undefined && nowMs - connectedRunningMs > ANSWER_TIMEOUT_MS) end(request, "broken");
  }
}

function report(message: ClientReport): void {
  process.send?.(message);
}

let sender: NodeJS.Timeout | undefined;
const sweeper = setInterval(sweep, SWEEP_MS);

function start(address: string, port: number, requestIntervalMs = REQUEST_INTERVAL_MS): void {
  const firstMs = monotonicMs();
  let sent = 0;
  // A timer that comes late sends what is due, so that a busy machine does not thin the stream out.
  sender = setInterval(() => {
    const due = Math.floor((monotonicMs() - firstMs) / requestIntervalMs);
    for (; sent < due; sent++) send(address, port);
  }, 1);
}

function stop(): void {
  clearInterval(sender);
  const waiter = setInterval(() => {
    if (open.size > 0) return;
    clearInterval(waiter);
    clearInterval(sweeper);
    report({ kind: "done", requests });
  }, SWEEP_MS);
}

process.on("message", (command: Command) => {
  if (command.kind === "start") start(command.address, command.port, command.requestIntervalMs);
  else stop();
});
process.once("disconnect", () => process.exit());
