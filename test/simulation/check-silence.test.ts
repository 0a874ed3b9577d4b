/** What counts as an announcement war (invariant 8), and what does not. */
import { expect } from "chai";
import { type Ip, parseIp } from "../../src/net/ip.ts";
import { BROADCAST_MAC, ZERO_MAC } from "../../src/net/mac.ts";
import { SilenceChecker } from "./check-silence.ts";
import type { NeighbourFrame } from "./frames.ts";
import type { Machine } from "./machine.ts";
import type { NetworkCard } from "./network-card.ts";
import { Findings } from "./witness.ts";

const VIP: Ip = parseIp("192.0.2.100") ?? expect.fail();

/** "n1" announces, "-" is nobody answering, two seconds apart; true if it was a war. */
function isWar(story: string, needsLease: boolean): boolean {
  const checker = new SilenceChecker(
    {
      settledFromMs: () => undefined,
      views: () => "constant",
      carriesUserMessage: () => false,
      mayContest: () => true,
      needsLease,
    },
    new Findings(),
  );
  try {
    for (const [index, step] of story.split(" ").entries()) {
      const atMs = 1_000 + 2_000 * index;
      if (step === "-") checker.answered(atMs, VIP, []);
      else checker.sent(atMs, { name: step } as Machine, { name: `${step}.eth0` } as NetworkCard, announcement());
      checker.looked(atMs);
    }
  } catch {
    return true;
  }
  return false;
}

function announcement(): NeighbourFrame {
  return {
    form: "arp-request",
    source: ZERO_MAC,
    destination: BROADCAST_MAC,
    senderIp: VIP,
    senderMac: ZERO_MAC,
    targetIp: VIP,
  };
}

describe("invariant 8", () => {
  for (const { story, needsLease, is } of [
    { story: "n1 n1", needsLease: true, is: true },
    { story: "n1 - n1", needsLease: true, is: false },
    { story: "n1 - n1 - n1", needsLease: true, is: false },
    { story: "n1 - n1", needsLease: false, is: true },
    { story: "n1 - n2", needsLease: true, is: false },
    { story: "n1 - n2 - n1", needsLease: true, is: true },
    { story: "n1 - n1 n1", needsLease: true, is: true },
  ]) {
    const address = needsLease ? "a strict address" : "an address";
    it(`${is ? "is broken" : "holds"} when bursts for ${address} are ${story}`, () => {
      expect(isWar(story, needsLease)).to.equal(is);
    });
  }
});
