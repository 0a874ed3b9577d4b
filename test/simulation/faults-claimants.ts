/** F14, the rest: strangers that claim what is led here, answer for everything, or ask 50,000 times a second; and a kernel that answers for an address its speaker does not lead. */
import { shuffled } from "../../src/base/random.ts";
import { familyOf, type Ip, parseIp } from "../../src/net/ip.ts";
import { type Mac, parseMac } from "../../src/net/mac.ts";
import { isNear } from "./check-leader.ts";
import type { EthernetSwitch, SwitchPort } from "./ethernet-switch.ts";
import { during, exponential, type Fault, instant, someMachine } from "./fault.ts";
import { answerFrame, readFrame, requestFrame } from "./frames.ts";

const STRANGER_MAC = parseMac("02:00:0f:00:ff:01") as Mac;
const STRANGER_IPS: Readonly<Record<4 | 6, Ip>> = {
  4: parseIp("192.0.2.241") as Ip,
  6: parseIp("2001:db8::241") as Ip,
};
const FLOOD_FRAMES_PER_MS = 50;

/** Hears what is asked, and says what it is told to. */
class Claimant implements SwitchPort {
  readonly groups = new Set<Mac>();
  readonly isUp = true;
  readonly name: string;
  readonly segment: EthernetSwitch;
  /** Whether it answers for an address. */
  answers: (ip: Ip) => boolean = () => false;

  constructor(name: string, segment: EthernetSwitch) {
    this.name = name;
    this.segment = segment;
    segment.attach(this);
  }

  receive(bytes: Uint8Array): void {
    const asked = readFrame(bytes);
    if (asked === undefined || (asked.form !== "arp-request" && asked.form !== "solicitation")) return;
    if (asked.senderIp === asked.targetIp || !this.answers(asked.targetIp)) return;
    this.segment.transmit(
      this,
      answerFrame({ mac: STRANGER_MAC, ip: asked.targetIp }, { mac: asked.source, ip: asked.senderIp }),
    );
  }

  claim(ip: Ip): void {
    this.segment.transmit(this, answerFrame({ mac: STRANGER_MAC, ip }, { mac: "ff:ff:ff:ff:ff:ff" as Mac, ip }));
  }
}

/** A stranger says, again and again, that an address of ours is its own; and answers for it. */
export const strangerFault: Fault = {
  name: "F14 stranger claims",
  inject: (context) => {
    const { world, random, findings } = context;
    const segment = world.segments[random.below(world.segments.length)];
    const [ip] = shuffled(world.addresses, random);
    if (segment === undefined || ip === undefined) return;
    const stranger = new Claimant(`claimant ${instant(context)}`, segment);
    let isOn = false;
    const again = (): void => {
      if (!isOn) return;
      findings.count("fault stranger claims");
      stranger.claim(ip);
      world.at(world.clock.nowMs() + 200 + random.below(800), again);
    };
    during(
      context,
      "stranger",
      "planned",
      exponential(random, 500, 10_000),
      () => {
        isOn = true;
        stranger.answers = (asked) => asked === ip;
        again();
      },
      () => {
        isOn = false;
        stranger.answers = () => false;
      },
    );
  },
};

/** A gateway answers for whatever is asked. */
export const proxyArpFault: Fault = {
  name: "F14 proxy ARP",
  inject: (context) => {
    const { world, random, findings } = context;
    const segment = world.segments[random.below(world.segments.length)];
    if (segment === undefined) return;
    const gateway = new Claimant(`gateway ${instant(context)}`, segment);
    during(
      context,
      "proxy ARP",
      "vanished",
      exponential(random, 500, 10_000),
      () => {
        gateway.answers = () => {
          findings.count("fault proxy ARP");
          return true;
        };
      },
      () => {
        gateway.answers = () => false;
      },
    );
  },
};

/** 50,000 requests a second for what is led, and for what is not, to one machine. */
export const bigFloodFault: Fault = {
  name: "F14 flood of 50,000 frames a second",
  inject: (context) => {
    const { world, random, findings } = context;
    const card = someMachine(context).cards[0];
    if (card === undefined) return;
    const port = new Claimant(`flooder ${instant(context)}`, card.segment);
    const targets = [...shuffled(world.addresses, random).slice(0, 3), parseIp("192.0.2.223") as Ip];
    const durationMs = 20 + random.below(100);
    const beginMs = instant(context);
    world.at(beginMs, () => world.disturb(`a flood to ${card.name} for ${durationMs} ms`, "planned"));
    for (let tick = 0; tick < durationMs; tick++) {
      world.at(beginMs + tick, () => {
        for (let number = 0; number < FLOOD_FRAMES_PER_MS; number++) {
          const target = targets[number % targets.length] as Ip;
          findings.count("fault flood of 50,000 frames a second");
          const asker = { mac: STRANGER_MAC, ip: STRANGER_IPS[familyOf(target)] };
          card.segment.transmit(port, requestFrame(asker, target, card.mac));
        }
      });
    }
  },
};

/** The kernel of one node answers for an address whoever leads it (a load balancer in the kernel without strict ARP). */
export const kernelFault: Fault = {
  name: "F14 kernel answers",
  inject: (context) => {
    const { world, random, findings } = context;
    const machine = someMachine(context);
    const [ip] = shuffled(world.addresses, random);
    if (ip === undefined) return;
    const cards = machine.cards.filter((card) => isNear(card, ip));
    during(
      context,
      "kernel responder",
      "planned",
      exponential(random, 500, 10_000),
      () => {
        findings.count("fault kernel answers");
        for (const card of cards) card.kernelAnswers.add(ip);
      },
      () => {
        for (const card of cards) card.kernelAnswers.delete(ip);
      },
    );
  },
};
