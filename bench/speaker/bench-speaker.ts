/** A speaker as the wire thread composes it, on a memory network, frames and groups left out. */
import { Speaker } from "../../speaker/speaker.ts";
import { type Random, SeededRandom } from "../../src/base/random.ts";
import { rankHeads } from "../../src/election/rank-hash.ts";
import { createCodec } from "../../src/gossip/codec.ts";
import { Keyring } from "../../src/gossip/keyring.ts";
import type { MemoryHost } from "../../src/gossip/memory-host.ts";
import type { MemoryNetwork } from "../../src/gossip/memory-network.ts";
import { MemoryTransport } from "../../src/gossip/memory-transport.ts";
import type { Endpoint } from "../../src/gossip/message.ts";
import { TIMING_PRESETS } from "../../src/gossip/timing.ts";
import { nativeRankHeads } from "../../src/sys/rank-heads.ts";
import { portsWithoutWire } from "./no-wire.ts";

export function benchSpeaker(
  nodeName: string,
  endpoint: Endpoint,
  host: MemoryHost,
  { network, random }: { readonly network: MemoryNetwork; readonly random: Random },
): Speaker {
  const timing = TIMING_PRESETS.lan;
  const keyring = new Keyring(new Uint8Array(32).fill(7));
  return new Speaker(
    {
      nodeName,
      electionCap: "auto",
      loadBalancerClass: "",
      ignoresExcludeLabel: false,
      ignoresCordon: false,
      excludedLinks: [],
      pastTroubles: [],
      detectsFast: true,
      reportsServices: true,
    },
    {
      clock: host,
      random: new SeededRandom(random.below(2 ** 32)),
      turns: host,
      gossip: {
        transport: new MemoryTransport(network, host, endpoint),
        codec: createCodec({ label: "", timing, random, keyring }),
        timing,
      },
      rankHeads: nativeRankHeads(rankHeads),
      ...portsWithoutWire(),
    },
    () => undefined,
  );
}
