/**
 * Processes that outlive the command that started them. Each has a record in the state folder, `ROLE.pid` with its id and
 * the kernel's start time of it, so that an id that was given to another process meanwhile is never signalled.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

interface ProcessRecord {
  readonly pid: number;
  /** Clock ticks after boot; field 22 of /proc/PID/stat. */
  readonly startTicks: string;
}

/** How long a killed process may take to disappear before that is an error. */
const KILL_TIMEOUT_MS = 5_000;
const POLL_MS = 5;

/** Starts `argv` with its output in `folder/role.log`, and records it; with "ipc" it has a channel to us as long as we live. */
export function startProcess(folder: string, role: string, argv: readonly string[], channel?: "ipc"): ChildProcess {
  mkdirSync(folder, { recursive: true });
  const log = openSync(join(folder, `${role}.log`), "a");
  const [command = "", ...rest] = argv;
  const child = spawn(command, rest, {
    detached: true,
    stdio: ["ignore", log, log, ...(channel === undefined ? [] : [channel])],
  });
  closeSync(log);
  const { pid } = child;
  const startTicks = pid === undefined ? undefined : startTicksOf(pid);
  if (pid === undefined || startTicks === undefined) throw new Error(`${argv.join(" ")} could not be started`);
  child.unref();
  writeFileSync(join(folder, `${role}.pid`), `${pid} ${startTicks}\n`);
  return child;
}

/** Sends the signal if the recorded process still lives; says whether it did. */
export function signalProcess(folder: string, role: string, signal: NodeJS.Signals): boolean {
  const pid = livingPid(folder, role);
  if (pid === undefined) return false;
  process.kill(pid, signal);
  return true;
}

/** The recorded process's id, while it lives. */
export function livingPid(folder: string, role: string): number | undefined {
  const record = readRecord(folder, role);
  return record !== undefined && startTicksOf(record.pid) === record.startTicks ? record.pid : undefined;
}

/** SIGKILL, which a stopped process obeys too, and waits until it is gone. */
export async function killProcess(folder: string, role: string): Promise<void> {
  signalProcess(folder, role, "SIGKILL");
  if (!(await waitUntilGone(folder, role, KILL_TIMEOUT_MS))) throw new Error(`${role} of ${folder} cannot be killed`);
  rmSync(join(folder, `${role}.pid`), { force: true });
}

export async function waitUntilGone(folder: string, role: string, timeoutMs: number): Promise<boolean> {
  for (let waitedMs = 0; livingPid(folder, role) !== undefined; waitedMs += POLL_MS) {
    if (waitedMs > timeoutMs) return false;
    await sleep(POLL_MS);
  }
  return true;
}

/** Roles that have a record in the folder. */
export function recordedRoles(folder: string): readonly string[] {
  return readdirSync(folder).flatMap((name) => (name.endsWith(".pid") ? [name.slice(0, -".pid".length)] : []));
}

function readRecord(folder: string, role: string): ProcessRecord | undefined {
  let text: string;
  try {
    text = readFileSync(join(folder, `${role}.pid`), "utf8");
  } catch {
    return undefined; // never started
  }
  const [pid, startTicks = ""] = text.trim().split(" ");
  return { pid: Number(pid), startTicks };
}

/** Undefined for a process that is gone, or that is dead and only waits for its parent to take note. */
function startTicksOf(pid: number): string | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return undefined;
  }
  // The name in parentheses may hold spaces: fields are counted from the last parenthesis.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields[0] === "Z" || fields[0] === "X" ? undefined : fields[19];
}
