/** Runs the system's tools, one process each, and gives their output. */
import { execFile } from "node:child_process";

/** Runs `argv` with `input` on its standard input; throws with the command and what it said when it fails. */
export function runCommand(argv: readonly string[], input = ""): Promise<string> {
  const [command = "", ...rest] = argv;
  return new Promise((resolve, reject) => {
    const child = execFile(command, rest, { maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${argv.join(" ")}: ${stderr.trim() || error.message}`, { cause: error }));
    });
    // A tool that ends without reading closes the pipe; its exit code says what was wrong.
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(input);
  });
}

/** The command line that runs `argv` in a namespace; the process keeps its id across the execs. */
export function inNamespace(namespace: string, argv: readonly string[]): readonly string[] {
  return ["ip", "netns", "exec", namespace, ...argv];
}

/** `ip` commands in a namespace, one a line, in one process. */
export async function runIpBatch(namespace: string, lines: readonly string[]): Promise<void> {
  await runCommand(["ip", "-n", namespace, "-batch", "-"], `${lines.join("\n")}\n`);
}

/**
 * The command line that runs `argv` before everything else on the machine: an instrument that waits for a processor would measure
 * the machine instead of the speakers. `nice` does not do it: where the kernel groups tasks by session, it counts within the session only.
 * Where real-time scheduling is not granted, figures are as good as the machine is idle.
 */
export function asInstrument(argv: readonly string[]): readonly string[] {
  const script = 'chrt --rr 1 true 2>/dev/null && exec chrt --rr 1 "$@"; exec "$@"';
  return ["sh", "-c", script, "instrument", ...argv];
}
