/**
 * What MetalLB's announcer does for one address beside a Go member: while its election names this member, the kernel of its host holds the
 * address, and so answers for it; it is announced at once.
 */
import { runCommand, runIpBatch } from "../../hack/netlab/run-command.ts";
import type { Host } from "../../hack/netlab/topology.ts";
import type { Ip } from "../../src/net/ip.ts";
import type { GoPeer } from "./go-peer.ts";

export class GoAnnouncer {
  readonly #host: Host;
  readonly #address: Ip;
  #work: Promise<void> = Promise.resolve();
  #announces = false;
  #hasEnded = false;

  /** From now on; the peer tells who leads `address`. */
  constructor(peer: GoPeer, host: Host, address: Ip) {
    this.#host = host;
    this.#address = address;
    peer.events.follow((told) => {
      if (told.event !== "leads" || told.address !== address) return;
      this.#set(told.name === peer.name);
    });
  }

  /** The process has ended. */
  async end(): Promise<void> {
    this.#set(false);
    this.#hasEnded = true;
    await this.#work;
  }

  #set(announces: boolean): void {
    if (this.#hasEnded) return;
    this.#work = this.#work.then(() => this.#become(announces));
    // Whoever waits for the end is told.
    this.#work.catch(() => undefined);
  }

  async #become(announces: boolean): Promise<void> {
    if (announces === this.#announces) return;
    this.#announces = announces;
    const { namespace } = this.#host;
    await runIpBatch(namespace, [`addr ${announces ? "add" : "del"} ${this.#address}/32 dev eth0`]);
    if (!announces) return;
    await runCommand(["ip", "netns", "exec", namespace, "arping", "-q", "-U", "-c", "1", "-I", "eth0", this.#address]);
  }
}
