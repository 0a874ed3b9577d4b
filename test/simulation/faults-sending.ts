/** F18: the kernel takes what is sent, or does not: no buffers for a while, or no link. What is refused is lost; nothing may throw. */

import { during, exponential, type Fault, instant, someMachine } from "./fault.ts";
import type { NetworkCard } from "./network-card.ts";

const ERRORS = ["EAGAIN", "ENOBUFS", "ENETDOWN"] as const;
/** A link that flaps changes so often, on the average. */
const FLAP_MS = 160;

export const sendErrorFault: Fault = {
  name: "F18 send errors",
  inject: (context) => {
    const { random, findings } = context;
    const machine = someMachine(context);
    const code = ERRORS[random.below(ERRORS.length)] ?? "ENOBUFS";
    // Without a link nothing leaves; without buffers some does.
    const rate = code === "ENETDOWN" ? 1 : 0.1 + 0.8 * random.float();
    const durationMs = exponential(random, 20, code === "ENETDOWN" ? 5_000 : 2_000);
    const frames = random.below(3) > 0;
    const datagrams = random.below(3) > 0 || !frames;
    during(
      context,
      `send errors ${code}`,
      "vanished",
      durationMs,
      () => {
        machine.refusal = {
          refusesFrame: () => frames && random.float() < rate && count("frame"),
          refusesDatagram: () => datagrams && random.float() < rate && count("datagram"),
        };
      },
      () => {
        machine.refusal = undefined;
      },
    );
    const count = (what: string): true => {
      findings.count(`18 refused ${what} (${code})`);
      return true;
    };
  },
};

/** Cards that have flapped: once more would keep them behind for longer than any world lasts. */
const FLAPPED = new WeakSet<NetworkCard>();

/** F11: carrier lost and found two or three times within a second, as a port does that is negotiating. */
export const flapFault: Fault = {
  name: "F11 flapping link",
  inject: (context) => {
    const { world, random, findings } = context;
    const machine = someMachine(context);
    const card = machine.cards[random.below(machine.cards.length)];
    if (card === undefined || FLAPPED.has(card)) return;
    FLAPPED.add(card);
    const changes = 2 * (2 + random.below(2));
    const beginMs = instant(context);
    const name = `flapping of ${card.name} ${beginMs}`;
    for (let change = 0; change < changes; change++) {
      world.at(beginMs + change * FLAP_MS + random.below(FLAP_MS), () => {
        if (change === 0) world.calm.begin(name, "damped", world.clock.nowMs());
        world.disturb(name, "damped");
        machine.changeCard(card, (changed) => changed.setCarrier(change % 2 === 1));
        if (change < changes - 1) return;
        findings.count("fault link flaps");
        world.calm.end(name, "damped", world.clock.nowMs());
      });
    }
  },
};

/** F11: 38 links of pods come to a machine, and go; nobody is to be answered on them. */
export const manyLinksFault: Fault = {
  name: "F11 40 links",
  inject: (context) => {
    const { random, findings } = context;
    const machine = someMachine(context);
    during(
      context,
      "40 links",
      "planned",
      exponential(random, 100, 10_000),
      () => {
        findings.count("fault 40 links");
        machine.changeBystanders(38);
      },
      () => machine.changeBystanders(0),
    );
  },
};
