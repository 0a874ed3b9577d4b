/**
 * Collects all garbage of a running Node program, and prints what each of its threads then has in use, as JSON. It is asked through its own
 * inspector, which SIGUSR1 opens on its loopback: this runs in the network namespace of that program, and shuts the inspector again.
 *
 * usage: heap-main.js PID THREADS
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { ThreadHeap } from "./heap.ts";

const INSPECTOR = "http://127.0.0.1:9229/json/list";
/** Full collections of large heaps on a busy machine. */
const TIMEOUT_MS = 60_000;
const POLL_MS = 20;

interface Answer {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly sessionId: string; readonly message: string };
  readonly result?: { readonly usedSize?: number; readonly backingStorageSize?: number };
}
type Send = (message: string) => void;
type Ask = (method: string, params?: Readonly<Record<string, unknown>>) => Promise<Answer>;

class Thread {
  readonly #send: Send;
  readonly #waiting = new Map<number, (answer: Answer) => void>();

  constructor(send: Send) {
    this.#send = send;
  }

  readonly ask: Ask = (method, params = {}) => {
    const id = this.#waiting.size + 1;
    const { promise, resolve } = Promise.withResolvers<Answer>();
    this.#waiting.set(id, resolve);
    this.#send(JSON.stringify({ id, method, params }));
    return promise;
  };

  answered(answer: Answer): void {
    this.#waiting.get(answer.id ?? 0)?.(answer);
  }

  async heap(): Promise<ThreadHeap> {
    // What a finalizer lets go is garbage of the next time.
    for (let time = 0; time < 2; time++) await this.ask("HeapProfiler.collectGarbage");
    const { result } = await this.ask("Runtime.getHeapUsage");
    return { usedBytes: result?.usedSize ?? 0, bufferBytes: result?.backingStorageSize ?? 0 };
  }
}

async function inspectorUrl(): Promise<string> {
  for (;;) {
    const answer = await fetch(INSPECTOR).catch(() => undefined);
    const [target] = ((await answer?.json()) ?? []) as readonly { readonly webSocketDebuggerUrl: string }[];
    if (target !== undefined) return target.webSocketDebuggerUrl;
    await sleep(POLL_MS);
  }
}

const [, , pid, threads] = process.argv;
const limit = setTimeout(() => {
  throw new Error(`process ${pid} has not told of ${threads} threads within ${TIMEOUT_MS / 1_000} s`);
}, TIMEOUT_MS);
process.kill(Number(pid), "SIGUSR1");
const socket = new WebSocket(await inspectorUrl());
await new Promise((resolve) => socket.addEventListener("open", resolve, { once: true }));
const main = new Thread((message) => socket.send(message));
const others = new Map<string, Thread>();
socket.addEventListener("message", ({ data }) => {
  const answer = JSON.parse(String(data)) as Answer;
  const { sessionId = "", message = "{}" } = answer.params ?? {};
  switch (answer.method) {
    case "NodeWorker.attachedToWorker":
      others.set(
        sessionId,
        new Thread((text) => void main.ask("NodeWorker.sendMessageToWorker", { sessionId, message: text })),
      );
      return;
    case "NodeWorker.receivedMessageFromWorker":
      others.get(sessionId)?.answered(JSON.parse(message) as Answer);
      return;
    case undefined:
      main.answered(answer);
  }
});
await main.ask("NodeWorker.enable", { waitForDebuggerOnStart: false });
while (others.size + 1 < Number(threads)) await sleep(POLL_MS);
const heaps: ThreadHeap[] = [];
for (const thread of [main, ...others.values()]) heaps.push(await thread.heap());
process.stdout.write(`${JSON.stringify(heaps)}\n`);
await main.ask("NodeWorker.disable");
void main.ask("Runtime.evaluate", { expression: 'process.getBuiltinModule("node:inspector").close()' });
await new Promise((resolve) => socket.addEventListener("close", resolve, { once: true }));
clearTimeout(limit);
