/** What a speaker holds when all its garbage is collected, and how much of the machine's memory it has. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { inNamespace, runCommand } from "./run-command.ts";

const SPEAKER_THREADS = "2";
const PROGRAM = join(import.meta.dirname, "heap-main.js");

export interface ThreadHeap {
  readonly usedBytes: number;
  /** Of array buffers, which are outside of the heap. */
  readonly bufferBytes: number;
}

/** Of the speaker's main thread, and of its wire thread; each stands still for as long as its garbage takes. */
export async function collectedHeaps(namespace: string, pid: number): Promise<readonly ThreadHeap[]> {
  const text = await runCommand(inNamespace(namespace, [process.execPath, PROGRAM, String(pid), SPEAKER_THREADS]));
  return JSON.parse(text) as readonly ThreadHeap[];
}

/** In bytes, what is shared with other processes too. */
export function residentBytesOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1]) * 1_024;
}
