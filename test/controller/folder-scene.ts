/** A temporary folder of manifests, and the real controller over it: `dist/controller/main.js` as a process. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const MAIN = join(import.meta.dirname, "../../controller/main.js");
const STEP_MS = 20;
/** Faults come as JSON to who asks for it. */
const JSON_TOO = { accept: "application/json, text/plain;q=0.5" };

export function pool(name: string, ...addresses: readonly string[]): string {
  return `apiVersion: metallb.io/v1beta1\nkind: IPAddressPool\nmetadata: {name: ${name}}\nspec: {addresses: [${addresses.join(", ")}]}\n`;
}

export function service(name: string, annotations = ""): string {
  return `apiVersion: v1\nkind: Service\nmetadata: {name: ${name}, annotations: {${annotations}}}\nspec: {type: LoadBalancer, ports: [{port: 80}]}\n`;
}

export class FolderScene {
  readonly folder: string;
  #process: ChildProcess | undefined;
  #port = 0;
  #lines = "";

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async make(): Promise<FolderScene> {
    return new FolderScene(await mkdtemp(join(tmpdir(), "arpeggio-controller-")));
  }

  async close(): Promise<void> {
    await this.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  async write(name: string, text: string): Promise<void> {
    await writeFile(join(this.folder, name), text);
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.folder, name));
  }

  /** Resolves when it listens; its port is the kernel's choice. */
  async start(): Promise<void> {
    this.#lines = "";
    const { child, output } = this.run([`--source=files:${this.folder}`, "--http-address=127.0.0.1:0"]);
    this.#process = child;
    for (;;) {
      const started = /"msg":"controller started".*"port":(\d+)/.exec(output());
      this.#lines = output();
      if (started !== null) {
        this.#port = Number(started[1]);
        return;
      }
      if (child.exitCode !== null) throw new Error(output());
      await sleep(STEP_MS);
    }
  }

  run(words: readonly string[]): { readonly child: ChildProcess; readonly output: () => string } {
    let text = "";
    const child = spawn(process.execPath, [MAIN, ...words], { stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (part: Buffer) => (text += part.toString()));
    return { child, output: () => text };
  }

  /** What it logged until it had started. */
  get startLines(): string {
    return this.#lines;
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await ended;
  }

  async get(path: string): Promise<unknown> {
    const response = await fetch(`http://127.0.0.1:${this.#port}${path}`, { headers: JSON_TOO });
    const text = await response.text();
    return response.headers.get("content-type")?.startsWith("application/json") === true ? JSON.parse(text) : text;
  }

  async post(path: string, body: string): Promise<unknown> {
    const response = await fetch(`http://127.0.0.1:${this.#port}${path}`, { method: "POST", body, headers: JSON_TOO });
    return response.json();
  }

  /** Names of the status files, and what one says. */
  async statusFiles(): Promise<readonly string[]> {
    return (await readdir(join(this.folder, ".status")).catch(() => [])).filter((name) => !name.startsWith("."));
  }

  async statusOf(name: string): Promise<string> {
    return readFile(join(this.folder, ".status", `service.default.${name}.yaml`), "utf8").catch(() => "");
  }

  /** The addresses of a Service as its status file has them. */
  async addresses(name: string): Promise<readonly string[]> {
    return [...(await this.statusOf(name)).matchAll(/^ +- ip: "?([^"\n]+)"?$/gm)].map(([, ip = ""]) => ip);
  }

  /** Until it fits; the test's own timeout is the limit. */
  async until(fits: () => Promise<boolean>): Promise<void> {
    while (!(await fits())) await sleep(STEP_MS);
  }

  async untilHas(name: string, ...addresses: readonly string[]): Promise<void> {
    await this.until(async () => (await this.addresses(name)).join() === addresses.join());
  }
}
