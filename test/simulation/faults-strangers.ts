/** F14: strangers on the segments and on the gossip port. Nothing that they send may throw, or be remembered without bound. */
import { shuffled } from "../../src/base/random.ts";
import type { Ip } from "../../src/net/ip.ts";
import { parseIp } from "../../src/net/ip.ts";
import { type Mac, parseMac } from "../../src/net/mac.ts";
import type { EthernetSwitch, SwitchPort } from "./ethernet-switch.ts";
import { type Fault, type FaultContext, instant, someMachine } from "./fault.ts";
import { answerFrame, requestFrame } from "./frames.ts";

const STRANGER_IP = parseIp("192.0.2.240") as Ip;
const ASKED_AT_ONCE = 400;
const LONGEST_DATAGRAM = 600;

/** A port that only sends. */
class StrangerPort implements SwitchPort {
  readonly groups = new Set<Mac>();
  readonly isUp = true;
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  receive(): void {}
}

function macOf(number: number): Mac {
  const [high, low] = [number >> 8, number & 0xff].map((byte) => byte.toString(16).padStart(2, "0"));
  return parseMac(`02:00:0f:00:${high}:${low}`) as Mac;
}

/** Random bytes to gossip ports, and datagrams of members with one byte changed or their end cut off. */
export const garbageFault: Fault = {
  name: "F14 random bytes",
  inject: (context) => {
    const { world, random, findings } = context;
    let last: Uint8Array | undefined;
    world.witnesses.push({
      datagram: (_atMs, _from, _to, bytes) => {
        last = bytes;
      },
    });
    for (let piece = 0; piece < 40; piece++) {
      const machine = someMachine(context);
      const own = random.bytes(1 + random.below(LONGEST_DATAGRAM));
      const kind = random.below(3);
      world.at(instant(context), () => {
        findings.count("fault random bytes");
        const from = { ip: STRANGER_IP, port: 7946 };
        machine.listener?.datagram(from, kind === 0 || last === undefined ? own : spoilt(last, own, kind === 1));
      });
    }
  },
};

/** Type bytes that only we use are left alone: a lie that decodes is another fault. */
function spoilt(bytes: Uint8Array, dice: Uint8Array, isCut: boolean): Uint8Array {
  const copy = bytes.slice(0, isCut ? Math.max(1, bytes.length - (dice[0] ?? 0)) : bytes.length);
  if (!isCut) copy[0] = dice[0] ?? 0;
  return copy;
}

/** Somebody asks for every address, ours and others, from hundreds of MACs at once, and sends frames that end too early. */
export const floodFault: Fault = {
  name: "F14 flood",
  inject: (context) => {
    const { world, random } = context;
    const segment = world.segments[random.below(world.segments.length)];
    if (segment === undefined) return;
    const port = new StrangerPort(`stranger ${instant(context)}`);
    segment.attach(port);
    const targets = [...shuffled(world.addresses, random).slice(0, 3), parseIp("192.0.2.222") as Ip];
    for (let wave = 0; wave < 3; wave++) floodOnce(context, segment, port, targets);
  },
};

function floodOnce(context: FaultContext, segment: EthernetSwitch, port: StrangerPort, targets: readonly Ip[]): void {
  const { world, random, findings } = context;
  const cut = 14 + random.below(60);
  world.at(instant(context), () => {
    findings.count("fault flood");
    for (let number = 0; number < ASKED_AT_ONCE; number++) {
      const target = targets[number % targets.length] as Ip;
      const asker = { mac: macOf(number), ip: target.includes(":") ? (parseIp("2001:db8::240") as Ip) : STRANGER_IP };
      const frame = requestFrame(asker, target);
      segment.transmit(port, number % 10 === 0 ? frame.subarray(0, cut) : frame);
    }
    // Answers that nobody has asked for.
    for (const target of targets) {
      if (world.addresses.includes(target)) continue;
      segment.transmit(port, answerFrame({ mac: macOf(1), ip: target }, { mac: macOf(2), ip: STRANGER_IP }));
    }
  });
}
