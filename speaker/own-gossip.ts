/** This node's gossip over the speaker's ports. */
import { GossipDriver, type GossipOptions } from "../src/gossip/driver.ts";
import type { SpeakerPorts, SpeakerSettings } from "./speaker-ports.ts";

/** Undefined: gossip is off. */
export function gossipOf(
  { nodeName, detectsFast }: SpeakerSettings,
  ports: SpeakerPorts,
  hooks: Pick<GossipOptions, "tell" | "settled">,
): GossipDriver | undefined {
  const { gossip } = ports;
  if (gossip === undefined) return undefined;
  return new GossipDriver({
    ...ports,
    ...gossip,
    ...hooks,
    name: nodeName,
    endpoint: gossip.transport.local,
    detectsFast,
  });
}
