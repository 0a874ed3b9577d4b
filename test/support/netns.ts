/**
 * Network namespaces for tests that need a real kernel: made with root's `ip`, named after the process, all removed in
 * close(), and by the next run's start if this one is killed.
 */
import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface, type Interface } from "node:readline";
import { errnoOf } from "../../src/base/errors.ts";

const PREFIX = "arpeggio-test";
/** What nobody waits for in vain when all is well: a child that starts on a busy machine, a kernel that is slow to tell. */
const EVENT_TIMEOUT_MS = 15_000;

/** A sanitizer's library belongs into the Node children only, not into `ip`. */
const { LD_PRELOAD: preload, ...environment } = process.env;
const NODE = preload === undefined ? [process.execPath] : ["env", `LD_PRELOAD=${preload}`, process.execPath];

/** Why namespaces cannot be used here; undefined when they can. Said aloud, for a skipped test proves nothing. */
export function netnsObstacle(): string | undefined {
  if (process.getuid?.() !== 0) return "network namespaces need root";
  try {
    execFileSync("ip", ["netns", "list"], { stdio: "ignore" });
    return undefined;
  } catch {
    return "network namespaces need `ip` (apt-get install iproute2)";
  }
}

/** `describe` for tests in namespaces: the body gets a lab that is closed afterwards, even when a test fails. */
export function describeNetns(title: string, body: (lab: Netns) => void): void {
  const obstacle = netnsObstacle();
  const suite = obstacle === undefined ? describe : describe.skip;
  suite(obstacle === undefined ? title : `${title} (skipped: ${obstacle})`, () => {
    const lab = new Netns();
    after(() => lab.close());
    body(lab);
  });
}

export interface VethEnd {
  readonly namespace: string;
  readonly link: string;
  readonly mac?: string;
  /** "192.0.2.1/24", "2001:db8::1/64"; IPv6 without duplicate address detection. */
  readonly addresses?: readonly string[];
}

export class Netns {
  readonly #namespaces: string[] = [];
  readonly #children: NetnsChild[] = [];
  readonly #processes: ChildProcess[] = [];
  static #count = 0;

  /** A new namespace with its loopback up; returns its full name. */
  create(label: string): string {
    removeLeftOvers();
    const name = `${PREFIX}-${process.pid}-${Netns.#count++}-${label}`;
    run("ip", ["netns", "add", name]);
    this.#namespaces.push(name);
    this.ip(name, "link set lo up");
    return name;
  }

  /** Joins two namespaces by a veth pair, both ends up. */
  veth(near: VethEnd, far: VethEnd): void {
    const ends = [near, far].map((end) => (end.mac === undefined ? "" : ` address ${end.mac}`));
    this.ip(
      near.namespace,
      `link add ${near.link}${ends[0]} type veth peer name ${far.link}${ends[1]} netns ${far.namespace}`,
    );
    for (const { namespace, link, addresses = [] } of [near, far]) {
      this.exec(namespace, "sysctl", "-qw", `net.ipv6.conf.${link}.router_solicitations=0`);
      this.ip(namespace, `link set ${link} up`);
      for (const address of addresses) this.address(namespace, link, address);
    }
  }

  /** A bridge that is up, with `ports` of its namespace. */
  bridge(namespace: string, name: string, ports: readonly string[]): void {
    this.ip(namespace, `link add ${name} type bridge`);
    for (const port of ports) this.ip(namespace, `link set ${port} master ${name}`);
    this.ip(namespace, `link set ${name} up`);
  }

  address(namespace: string, link: string, address: string): void {
    this.ip(namespace, `address add ${address} dev ${link}${address.includes(":") ? " nodad" : ""}`);
  }

  /** `ip` inside a namespace; the words of `command` are separated by single spaces. Returns what it prints. */
  ip(namespace: string, command: string): string {
    return run("ip", ["-n", namespace, ...command.split(" ")]);
  }

  /** Any program inside a namespace, to its end. Throws when it fails. Returns what it prints. */
  exec(namespace: string, program: string, ...args: readonly string[]): string {
    return run("ip", ["netns", "exec", namespace, program, ...args]);
  }

  /** Standard input for a program inside a namespace, for the batch modes of `ip` and `nft`. */
  feed(namespace: string, input: string, program: string, ...args: readonly string[]): string {
    return run("ip", ["netns", "exec", namespace, program, ...args], input);
  }

  /** A Node program inside a namespace that talks in lines of JSON (see serveLines); it ends with the lab. */
  node(namespace: string, script: string, ...args: readonly string[]): NetnsChild {
    const child = new NetnsChild(namespace, script, args);
    this.#children.push(child);
    return child;
  }

  /** Any program inside a namespace, until the lab ends it. */
  start(namespace: string, program: string, ...args: readonly string[]): NetnsProcess {
    const started = spawn("ip", ["netns", "exec", namespace, program, ...args], {
      stdio: ["ignore", "ignore", "inherit"],
      env: environment,
    });
    if (started.pid === undefined) throw new Error(`${program} does not start`);
    this.#processes.push(started);
    // `ip netns exec` becomes the program, so it is the program's own id.
    return { pid: started.pid };
  }

  async close(): Promise<void> {
    await Promise.all(this.#processes.splice(0).map(endOf));
    const ends = await Promise.allSettled(this.#children.splice(0).map((child) => child.close()));
    for (const name of this.#namespaces.splice(0).toReversed()) run("ip", ["netns", "delete", name]);
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  }
}

export interface NetnsProcess {
  readonly pid: number;
}

async function endOf(started: ChildProcess): Promise<void> {
  if (started.exitCode !== null || started.signalCode !== null) return;
  started.kill("SIGKILL");
  await once(started, "exit");
}

type Line = { readonly reply: number; readonly value?: unknown; readonly error?: string } | { readonly event: unknown };

/** The test's end of a child that serves commands. */
export class NetnsChild {
  readonly #process: ChildProcess;
  readonly #lines: Interface;
  readonly #waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  readonly #events: unknown[] = [];
  readonly #exit: Promise<number | null>;
  #wake: (() => void) | undefined;
  #hasEnded = false;
  #calls = 0;

  constructor(namespace: string, script: string, args: readonly string[]) {
    const options: SpawnOptions = { stdio: ["pipe", "pipe", "inherit"], env: environment };
    const command = ["netns", "exec", namespace, ...NODE, "--enable-source-maps", script, ...args];
    this.#process = spawn("ip", command, options);
    this.#exit = new Promise((resolve) => {
      this.#process.once("exit", (code) => resolve(code));
    });
    void this.#exit.then(() => this.#failAll());
    const { stdout } = this.#process;
    if (stdout === null) throw new Error("the child has no output");
    this.#lines = createInterface({ input: stdout });
    this.#lines.on("line", (line) => this.#onLine(JSON.parse(line) as Line));
  }

  /** Runs a command in the child; rejects with the child's message when it throws there. */
  call(command: string, ...args: readonly unknown[]): Promise<unknown> {
    if (this.#hasEnded) return Promise.reject(new Error("the child has ended"));
    const id = this.#calls++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#process.stdin?.write(`${JSON.stringify({ id, command, args })}\n`);
    });
  }

  /** Waits until an event of the child satisfies `isWanted`, among those not waited for yet. */
  async event<Event>(isWanted: (event: Event) => boolean, timeoutMs = EVENT_TIMEOUT_MS): Promise<Event> {
    const deadlineMs = performance.now() + timeoutMs;
    for (;;) {
      const index = this.#events.findIndex((event) => isWanted(event as Event));
      if (index >= 0) return this.#events.splice(0, index + 1).at(-1) as Event;
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0) {
        const seen = this.#events.map((event) => JSON.stringify(event).slice(0, 500));
        throw new Error(`no such event in ${timeoutMs} ms; the last of ${seen.length}:\n${seen.slice(-5).join("\n")}`);
      }
      await this.#nextLine(leftMs);
    }
  }

  /** Forgets the events that came so far. */
  forget(): void {
    this.#events.length = 0;
  }

  /** Throws when the child did not end by itself and well: it crashed, hangs, or (under a sanitizer) leaks. */
  async close(): Promise<void> {
    this.#process.stdin?.end();
    const kill = setTimeout(() => this.#process.kill("SIGKILL"), 10_000);
    const code = await this.#exit;
    clearTimeout(kill);
    this.#lines.close();
    if (code !== 0) throw new Error(`a child in a namespace ended with code ${code}`);
  }

  #nextLine(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timeout = setTimeout(resolve, timeoutMs);
      this.#wake = () => {
        clearTimeout(timeout);
        resolve();
      };
    });
  }

  #onLine(line: Line): void {
    if ("event" in line) {
      this.#events.push(line.event);
      this.#wake?.();
      return;
    }
    const waiting = this.#waiting.get(line.reply);
    this.#waiting.delete(line.reply);
    if (line.error === undefined) waiting?.resolve(line.value);
    else waiting?.reject(new Error(line.error));
  }

  #failAll(): void {
    this.#hasEnded = true;
    for (const call of this.#waiting.values()) call.reject(new Error("the child has ended"));
    this.#waiting.clear();
  }
}

/** The child's end: runs the named command for every line of input, ends with the input; `emit` sends an event. */
export function serveLines(
  commands: Readonly<Record<string, (...args: never[]) => unknown>>,
  onEnd: () => void,
): (event: unknown) => void {
  const serve = async (text: string): Promise<void> => {
    const { id, command, args } = JSON.parse(text) as { id: number; command: string; args: never[] };
    try {
      const work = commands[command];
      if (work === undefined) throw new Error(`no command ${command}`);
      writeLine({ reply: id, value: await work(...args) });
    } catch (error) {
      writeLine({ reply: id, error: error instanceof Error ? error.message : String(error) });
    }
  };
  const lines = createInterface({ input: process.stdin });
  lines.on("line", (text) => void serve(text));
  lines.once("close", onEnd);
  return (event) => writeLine({ event });
}

function writeLine(line: Line): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function run(program: string, args: readonly string[], input?: string): string {
  return execFileSync(program, args, {
    encoding: "utf8",
    stdio: ["pipe", "pipe", "pipe"],
    env: environment,
    input: input ?? "",
  });
}

let hasRemoved = false;

/** Namespaces of test processes that are no more; one with our own id was another, for we have made none yet. */
function removeLeftOvers(): void {
  if (hasRemoved) return;
  hasRemoved = true;
  for (const line of run("ip", ["netns", "list"]).split("\n")) {
    const match = /^(arpeggio-test-(\d+)-\S+)/.exec(line);
    if (match?.[1] === undefined) continue;
    const pid = Number(match[2]);
    if (pid !== process.pid && isAlive(pid)) continue;
    run("ip", ["netns", "delete", match[1]]);
  }
}

/** Whether there is a process of that id, whosever it is. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) === "EPERM";
  }
}
