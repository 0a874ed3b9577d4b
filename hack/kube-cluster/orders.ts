/** Orders to PID 1 of the hub or of a node, through the pipe in its state folder (see services.sh). */
import { closeSync, constants, existsSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runCommand } from "../netlab/run-command.ts";

const ORDER_TIMEOUT_MS = 30_000;
const POLL_MS = 10;

let tokens = 0;

/** What PID 1 finds when it starts. */
export async function makeStateFolder(state: string): Promise<void> {
  for (const name of ["etc", "services", "logs", "replies"]) mkdirSync(join(state, name), { recursive: true });
  await runCommand(["mkfifo", join(state, "orders")]);
}

/** Until PID 1 reads orders. */
export async function waitForInit(state: string): Promise<void> {
  await waitForFile(join(state, "ready"), `${state} does not start; see logs/init.log in it`);
}

/** Ends when the order was carried out. */
export async function order(state: string, text: string): Promise<void> {
  const token = `${process.pid}-${++tokens}`;
  const reply = join(state, "replies", token);
  // Without a reader this throws ENXIO, where a blocking open would wait for ever.
  const pipe = openSync(join(state, "orders"), constants.O_WRONLY | constants.O_NONBLOCK);
  writeSync(pipe, `${token} ${text}\n`);
  closeSync(pipe);
  await waitForFile(reply, `${state} does not obey: ${text}`);
  rmSync(reply);
}

async function waitForFile(path: string, complaint: string): Promise<void> {
  const deadlineMs = performance.now() + ORDER_TIMEOUT_MS;
  while (!existsSync(path)) {
    if (performance.now() > deadlineMs) throw new Error(complaint);
    await sleep(POLL_MS);
  }
}
