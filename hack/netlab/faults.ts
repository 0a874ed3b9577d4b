/** Faults of the segment, made at the switch. Cutting takes well under a millisecond: `ip` is already running and waits for a line. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { inNamespace, runCommand, runIpBatch } from "./run-command.ts";
import { type Host, segmentHosts, type Topology } from "./topology.ts";

const FAULT_TABLE = "table bridge faults";

export class SwitchFaults {
  readonly #topology: Topology;
  readonly #ip: ChildProcessWithoutNullStreams;

  constructor(topology: Topology) {
    this.#topology = topology;
    this.#ip = spawn("ip", ["-n", topology.switchNamespace, "-batch", "-"]);
    // Writing to an `ip` that ended over a bad line must not end us; the drill then finds nothing cut.
    this.#ip.stdin.on("error", () => undefined);
  }

  /** The host's cable is pulled: it loses carrier, and everybody loses it. */
  pullCable(host: Host): void {
    this.#ip.stdin.write(`link set ${host.name} down\n`);
  }

  plugCable(host: Host): void {
    this.#ip.stdin.write(`link set ${host.name} up\n`);
  }

  /** The host keeps its carrier, and nothing passes in either direction. */
  partition(host: Host): void {
    this.#ip.stdin.write(`link set ${host.name} nomaster\n`);
  }

  healPartition(host: Host): void {
    this.#ip.stdin.write(`link set ${host.name} master br0\n`);
  }

  /** Nothing that one host sends reaches the other, which the first still hears. */
  async cutOneWay(from: Host, to: Host): Promise<void> {
    await this.#nft(
      `${FAULT_TABLE} { chain forward { type filter hook forward priority 0; iifname "${from.name}" oifname "${to.name}" drop; }; }`,
    );
  }

  /** Nothing passes between the ones and the others, in either direction; whoever is neither hears both. */
  async split(ones: readonly Host[], others: readonly Host[]): Promise<void> {
    const [one, other] = [ones, others].map((hosts) => `{ ${hosts.map(({ name }) => `"${name}"`).join(", ")} }`);
    await this.#nft(
      `${FAULT_TABLE} { chain forward { type filter hook forward priority 0; iifname ${one} oifname ${other} drop; iifname ${other} oifname ${one} drop; }; }`,
    );
  }

  /** Nothing passes between these hosts and all others, in either direction; every cable stays plugged in. */
  async separate(hosts: readonly Host[]): Promise<void> {
    const island = `{ ${hosts.map(({ name }) => `"${name}"`).join(", ")} }`;
    await this.#nft(
      `${FAULT_TABLE} { chain forward { type filter hook forward priority 0; iifname ${island} oifname != ${island} drop; iifname != ${island} oifname ${island} drop; }; }`,
    );
  }

  /** No datagram passes between the two, but TCP does. */
  async loseDatagrams(one: Host, other: Host): Promise<void> {
    const rules = [
      [one, other],
      [other, one],
    ].map(([from, to]) => `iifname "${from?.name}" oifname "${to?.name}" ip protocol udp drop;`);
    await this.#nft(`${FAULT_TABLE} { chain forward { type filter hook forward priority 0; ${rules.join(" ")} }; }`);
  }

  /** Each frame through the switch is dropped with this probability, independently. */
  async loseFrames(percent: number): Promise<void> {
    await this.#nft(
      `${FAULT_TABLE} { chain forward { type filter hook forward priority 0; numgen random mod 100 < ${percent} drop; }; }`,
    );
  }

  /** Ends what cutOneWay, split, separate and loseFrames began. */
  async passAll(): Promise<void> {
    await this.#nft(`${FAULT_TABLE}\ndelete ${FAULT_TABLE}`);
  }

  /** The state after `lab up`, whatever was done before, by us or by a drill that was interrupted. */
  async repair(): Promise<void> {
    await this.passAll();
    const ports = segmentHosts(this.#topology).map(({ name }) => name);
    await runIpBatch(
      this.#topology.switchNamespace,
      ports.map((name) => `link set ${name} master br0 up`),
    );
  }

  close(): void {
    this.#ip.stdin.end();
  }

  async #nft(script: string): Promise<void> {
    await runCommand(inNamespace(this.#topology.switchNamespace, ["nft", "-f", "-"]), `${script}\n`);
  }
}
