/** The numbers of a speaker that a simulation may be given another value for, to say what that would cost. */
import { FENCE_TIMING, type FenceTiming } from "../../speaker/fence.ts";
import type { SpeakerPorts } from "../../speaker/speaker-ports.ts";
import { RETURN_TIMING, type ReturnTiming } from "../../src/election/return-timing.ts";
import { FAST_TIMING, type FastTiming } from "../../src/gossip/fast/fast-timing.ts";

export interface SpeakerTiming extends FastTiming, FenceTiming, ReturnTiming {}

export const SPEAKER_TIMING: SpeakerTiming = { ...FAST_TIMING, ...FENCE_TIMING, ...RETURN_TIMING };

/** `other`: those that differ from the product's. */
export function withTiming({ gossip, ...ports }: SpeakerPorts, other: Partial<SpeakerTiming>): SpeakerPorts {
  const timing = { ...SPEAKER_TIMING, ...other };
  return {
    ...ports,
    fenceTiming: timing,
    returnTiming: timing,
    ...(gossip === undefined ? {} : { gossip: { ...gossip, fastTiming: timing } }),
  };
}
