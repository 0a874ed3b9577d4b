/** Invariants 22 and 24: who answers does so for what it says it leads, with the MAC of the link, and who leads says so. */
import type { Ip } from "../../src/net/ip.ts";
import { BROADCAST_MAC, isGroupMac } from "../../src/net/mac.ts";
import { isUnsolicited, type NeighbourFrame } from "./frames.ts";
import type { Machine } from "./machine.ts";
import type { NetworkCard } from "./network-card.ts";
import type { Answerer, Findings, Witness } from "./witness.ts";

/** What `/status` may say of an address that its node answers for. */
const ANSWERING_STATES: ReadonlySet<string> = new Set(["leading", "handing-over"]);

export interface TruthRules {
  readonly machines: readonly Machine[];
  readonly addresses: ReadonlySet<Ip>;
  readonly isSettled: () => boolean;
}

export class TruthChecker implements Witness {
  readonly #rules: TruthRules;
  readonly #findings: Findings;

  constructor(rules: TruthRules, findings: Findings) {
    this.#rules = rules;
    this.#findings = findings;
  }

  answered(atMs: number, ip: Ip, answerers: readonly Answerer[]): void {
    const isSettled = this.#rules.isSettled();
    for (const machine of this.#rules.machines) {
      const answers = answerers.some((answerer) => answerer.machine === machine);
      if (!machine.isAwake || (!answers && !isSettled)) continue;
      const says = machine.tenant?.saysOf(ip);
      if (says === undefined) continue;
      if (answers) this.#judgeAnswerer(atMs, machine.name, ip, says);
      else if (says.state === "leading" && says.leader === machine.name) {
        this.#findings.violated(24, atMs, `${machine.name} says that it leads ${ip}, and does not answer`);
      }
    }
  }

  #judgeAnswerer(
    atMs: number,
    name: string,
    ip: Ip,
    { state, leader }: { readonly state: string; readonly leader?: string | undefined },
  ): void {
    this.#findings.count(`24 answers, and says ${state}`);
    if (!ANSWERING_STATES.has(state)) {
      this.#findings.violated(24, atMs, `${name} answers for ${ip}, and says ${state}`);
    }
    if (state === "leading" && leader !== name) {
      this.#findings.violated(24, atMs, `${name} answers for ${ip} as leading it, and says that ${leader} leads`);
    }
  }

  sent(atMs: number, machine: Machine, card: NetworkCard, frame: NeighbourFrame): void {
    const ip = frame.form === "advertisement" ? frame.targetIp : frame.senderIp;
    const isReply = frame.form === "arp-reply" || frame.form === "advertisement";
    if (!isReply || isUnsolicited(frame) || !this.#rules.addresses.has(ip)) return;
    this.#findings.count("22 reply");
    const hasOwnMac = frame.source === card.mac && frame.senderMac === card.mac;
    if (!hasOwnMac && !machine.isNewsPending) {
      this.#findings.violated(22, atMs, `${card.name} (${card.mac}) replies for ${ip} as ${frame.source}`);
    }
    if (frame.destination === BROADCAST_MAC || isGroupMac(frame.destination)) {
      this.#findings.violated(22, atMs, `${card.name} replies for ${ip} to ${frame.destination}`);
    }
  }
}
