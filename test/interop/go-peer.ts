/** The Go memberlist library as a process: test/interop/peer, which hack/test builds in two versions. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import type { Endpoint } from "../../src/gossip/message.ts";
import type { Ip } from "../../src/net/ip.ts";
import { EventList } from "./waiting.ts";

const FOLDER = resolve(import.meta.dirname, "../../../.cache/bin");

/** MetalLB's pin, and the newest when this was written. */
export const LIBRARIES = [
  { name: "memberlist 0.5.1", program: resolve(FOLDER, "gossip-peer") },
  { name: "memberlist 0.7.0", program: resolve(FOLDER, "gossip-peer-newest") },
] as const;

export interface PeerEvent {
  readonly event:
    | "ready"
    | "join"
    | "leave"
    | "update"
    | "conflict"
    | "message"
    | "state"
    | "leads"
    | "score"
    | "log"
    | "done"
    | "failed";
  readonly name?: string;
  readonly names?: readonly string[];
  readonly address?: string;
  readonly score?: number;
  readonly meta?: string;
  readonly hex?: string;
  readonly bytes?: number;
  readonly first?: number;
  readonly text?: string;
  readonly verb?: string;
  readonly error?: string;
  readonly port?: number;
}

export interface PeerOptions {
  readonly name: string;
  readonly ip: Ip;
  /** 0, or absent: the kernel chooses. */
  readonly port?: number;
  /** Where it runs; absent: here. */
  readonly namespace?: string;
  /** It says who leads them by MetalLB's election, at first and whenever that changes. */
  readonly addresses?: readonly Ip[];
  /** Hexadecimal, several with commas between, the first to send with; empty: no encryption. */
  readonly key?: string;
  readonly label?: string;
  readonly meta?: string;
  readonly stateBytes?: number;
  readonly isUncompressed?: boolean;
  /** memberlist's LAN timing, as MetalLB has it; else a faster one. */
  readonly isLan?: boolean;
}

export function isBuilt(program: string): boolean {
  return existsSync(program);
}

export class GoPeer {
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly events: EventList<PeerEvent>;
  readonly #process: ChildProcessWithoutNullStreams;

  private constructor(
    options: PeerOptions,
    port: number,
    events: EventList<PeerEvent>,
    child: ChildProcessWithoutNullStreams,
  ) {
    this.name = options.name;
    this.endpoint = { ip: options.ip, port };
    this.events = events;
    this.#process = child;
  }

  static async start(program: string, options: PeerOptions): Promise<GoPeer> {
    const {
      name,
      ip,
      key = "",
      label = "",
      meta = "",
      stateBytes = 0,
      isUncompressed = false,
      isLan = false,
      port: wantedPort = 0,
      namespace,
      addresses = [],
    } = options;
    const settings = [
      "-name",
      name,
      "-bind",
      ip,
      "-port",
      `${wantedPort}`,
      "-key",
      key,
      "-label",
      label,
      "-meta",
      meta,
    ];
    const flags = [...settings, "-state", `${stateBytes}`, `-no-compression=${isUncompressed}`, `-lan=${isLan}`];
    const argv = [program, ...flags, ...(addresses.length === 0 ? [] : ["-addresses", addresses.join(",")])];
    const [command = program, ...rest] = namespace === undefined ? argv : ["ip", "netns", "exec", namespace, ...argv];
    const child = spawn(command, rest);
    const events = new EventList<PeerEvent>(name);
    createInterface(child.stdout).on("line", (line) => events.push(JSON.parse(line) as PeerEvent));
    createInterface(child.stderr).on("line", (text) => events.push({ event: "log", text: `[ERR] ${text}` }));
    const { port = 0 } = await events.until("ready", ({ event }) => event === "ready");
    return new GoPeer(options, port, events, child);
  }

  /** Ends with the answer; a failed command is an event as well. */
  async command(line: string): Promise<PeerEvent> {
    const verb = line.split(" ")[0] ?? "";
    const before = this.events.all.length;
    this.#process.stdin.write(`${line}\n`);
    return this.events.until(
      `answer to ${verb}`,
      (event) => event.verb === verb && this.events.all.indexOf(event) >= before,
    );
  }

  join(to: Endpoint): Promise<PeerEvent> {
    return this.command(`join ${to.ip.includes(":") ? `[${to.ip}]` : to.ip}:${to.port}`);
  }

  /** Who leads the address by MetalLB's election over this member's own list. */
  async leaderOf(address: Ip): Promise<string> {
    return (await this.command(`leader ${address}`)).name ?? "";
  }

  /** Names of those that it holds alive or suspect. */
  async members(): Promise<readonly string[]> {
    return ((await this.command("members")).names ?? []).toSorted();
  }

  /** Where it holds this member to be; empty when there is no such member. */
  async whereIs(name: string): Promise<string> {
    return (await this.command(`where ${name}`)).text ?? "";
  }

  /** The highest health score so far; 0 is good. */
  worstScore(): number {
    return Math.max(0, ...this.events.all.map(({ score = 0 }) => score));
  }

  /** Lines of the library's log that speak of an error, but not of a member that was slow for a moment, as on a busy machine. */
  errors(): readonly string[] {
    return this.events.all
      .flatMap(({ event, text = "" }) => (event === "log" && text.includes("[ERR]") ? [text] : []))
      .filter((text) => !text.includes("Failed fallback TCP ping: timeout"));
  }

  /** SIGSTOP: its kernel goes on. */
  freeze(): void {
    this.#process.kill("SIGSTOP");
  }

  thaw(): void {
    this.#process.kill("SIGCONT");
  }

  /** No goodbye: SIGKILL. */
  async kill(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await exited;
  }
}
