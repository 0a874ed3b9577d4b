/**
 * Preloaded into a speaker, `NODE_OPTIONS=--import=…/turns.js`, this measures turns of the event loop of each of its threads. Ten times a
 * second each appends a line to the file that $TURNS_FILE names: the longest that a timer of 1 ms had to wait, on the clock and in
 * processor time of the thread, so that other work on the machine can be told apart, the longest pause for garbage, and its heap.
 */
import { openSync, writeSync } from "node:fs";
import { PerformanceObserver } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import { isMainThread } from "node:worker_threads";
import { threadMs } from "../speaker/thread-time.ts";

const TURN_MS = 1;
const TOLD_EVERY_MS = 100;

const file = openSync(process.env["TURNS_FILE"] ?? "/dev/null", "a");
const thread = isMainThread ? "main" : "wire";
let [wallMs, cpuMs, garbageMs] = [0, 0, 0];
let lastMs = performance.now();
let lastCpuMs = threadMs();
let toldMs = lastMs;

new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) garbageMs = Math.max(garbageMs, duration);
}).observe({ entryTypes: ["gc"] });

setInterval(() => {
  const nowMs = performance.now();
  const nowCpuMs = threadMs();
  wallMs = Math.max(wallMs, nowMs - lastMs - TURN_MS);
  cpuMs = Math.max(cpuMs, nowCpuMs - lastCpuMs);
  [lastMs, lastCpuMs] = [nowMs, nowCpuMs];
  if (nowMs - toldMs < TOLD_EVERY_MS) return;
  const { used_heap_size: usedBytes, total_heap_size: heldBytes, external_memory: externalBytes } = getHeapStatistics();
  const line = { thread, atMs: Date.now(), wallMs, cpuMs, garbageMs, usedBytes, heldBytes, externalBytes };
  writeSync(file, `${JSON.stringify(line)}\n`);
  [wallMs, cpuMs, garbageMs] = [0, 0, 0];
  toldMs = nowMs;
}, TURN_MS).unref();
