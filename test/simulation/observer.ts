/** Asks every machine that a request for an address reaches, and hears who answers: evidence from outside, free of loss. */
import { familyOf, type Ip, parseIp } from "../../src/net/ip.ts";
import { type Mac, parseMac } from "../../src/net/mac.ts";
import type { EthernetSwitch, SwitchPort } from "./ethernet-switch.ts";
import { readFrame, requestFrame } from "./frames.ts";
import type { Machine } from "./machine.ts";
import { NetworkCard } from "./network-card.ts";
import { type Answerer, Violation } from "./witness.ts";

const OBSERVER_MAC = parseMac("02:00:00:00:0b:5e") as Mac;
const OBSERVER_IPS = { 4: parseIp("192.0.2.250") as Ip, 6: parseIp("2001:db8::250") as Ip };

export class Observer implements SwitchPort {
  readonly name = "observer";
  readonly groups = new Set<Mac>();
  readonly isUp = true;
  readonly #segments: readonly EthernetSwitch[];
  readonly #nowMs: () => number;
  readonly #machineOf = new Map<SwitchPort, Machine>();
  readonly #frames = new Map<Ip, { readonly frame: Uint8Array; readonly destination: Mac }>();

  constructor(segments: readonly EthernetSwitch[], machines: readonly Machine[], nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#segments = segments;
    for (const machine of machines) for (const card of machine.cards) this.#machineOf.set(card, machine);
  }

  receive(): void {}

  whoAnswers(ip: Ip): readonly Answerer[] {
    const { frame, destination } = this.#frameFor(ip);
    const answerers: Answerer[] = [];
    for (const segment of this.#segments) {
      for (const port of segment.reach(this, destination)) {
        const machine = this.#machineOf.get(port);
        if (machine === undefined || !(port instanceof NetworkCard)) continue;
        const answers = machine.ask(port, frame);
        if (answers.length > 1)
          throw new Violation(22, this.#nowMs(), `${port.name} answers ${answers.length} times for ${ip}`);
        for (const answer of answers) {
          if (!machine.isNewsPending) this.#check(answer, port, ip);
          answerers.push({ node: machine.name, machine, card: port });
        }
      }
    }
    return answerers;
  }

  /** Every answer names the address, the card that heard the request, and nothing else. */
  #check(bytes: Uint8Array, card: NetworkCard, ip: Ip): void {
    const answer = readFrame(bytes);
    if (answer === undefined)
      throw new Violation(22, this.#nowMs(), `${card.name} answers for ${ip} with a frame that does not decode`);
    const named = answer.form === "advertisement" ? answer.targetIp : answer.senderIp;
    const isRight = named === ip && answer.source === card.mac && answer.senderMac === card.mac;
    if (!isRight)
      throw new Violation(
        22,
        this.#nowMs(),
        `${card.name} (${card.mac}) answers for ${ip} with ${JSON.stringify(answer)}`,
      );
  }

  #frameFor(ip: Ip): { readonly frame: Uint8Array; readonly destination: Mac } {
    const known = this.#frames.get(ip);
    if (known !== undefined) return known;
    const frame = requestFrame({ mac: OBSERVER_MAC, ip: OBSERVER_IPS[familyOf(ip)] }, ip);
    const made = { frame, destination: readFrame(frame)?.destination as Mac };
    this.#frames.set(ip, made);
    return made;
  }
}
