/** Runs in a host's namespace for a test: asks who has an address, on any link, and reports which MACs answered. Told by IPC; see asker.ts. */
import { monotonicMs } from "../../hack/netlab/monotonic-ms.ts";
import { buildProbe, readClaim } from "../../hack/netlab/probe.ts";
import { openSegmentSocket, ownMac } from "../../hack/netlab/segment-link.ts";
import { familyOf, type Ip } from "../../src/net/ip.ts";
import type { Mac } from "../../src/net/mac.ts";

export interface Question {
  readonly number: number;
  readonly link: string;
  readonly address: Ip;
  /** How long silence is waited for. */
  readonly limitMs: number;
}

export interface Answer {
  readonly kind: "answer";
  readonly number: number;
  /** Each once, in the order of their first answers. */
  readonly macs: readonly Mac[];
}

const PROBE_INTERVAL_MS = 50;
/** After the first answer: whoever else answers, answers the same broadcasts. */
const OTHERS_MS = 150;

function ask({ number, link, address, limitMs }: Question): void {
  const mac = ownMac(link);
  const macs = new Set<Mac>();
  let endMs = monotonicMs() + limitMs;
  let probe = -1;
  const socket = openSegmentSocket(
    familyOf(address),
    [address],
    (batch) => {
      for (let index = 0; index < batch.count; index++) {
        const claim = readClaim(batch.frame(index), address, probe);
        // What nobody asked for is no answer.
        if (claim?.probe === undefined) continue;
        if (macs.size === 0) endMs = Math.min(endMs, monotonicMs() + OTHERS_MS);
        macs.add(claim.mac);
      }
    },
    link,
  );
  const prober = setInterval(sendOrEnd, PROBE_INTERVAL_MS);
  sendOrEnd();

  function sendOrEnd(): void {
    if (monotonicMs() < endMs) {
      socket.send(buildProbe(mac, address, ++probe));
      socket.flush();
      return;
    }
    clearInterval(prober);
    socket.close();
    process.send?.({ kind: "answer", number, macs: [...macs] } satisfies Answer);
  }
}

process.on("message", ask);
process.once("disconnect", () => process.exit());
