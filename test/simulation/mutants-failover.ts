/** Speakers with one fault in what concerns fast detection and the fence: each for one of the invariants 4, 6, 7, 10 and 12. */
import type { Speaker } from "../../speaker/speaker.ts";
import type { SpeakerPorts } from "../../speaker/speaker-ports.ts";
import type { Mutant } from "./mutants.ts";
import { withTiming } from "./other-timing.ts";

/** Elects without whom it has not heard for a quarter of a second, whatever anybody else hears. */
function impatient(speaker: Speaker, { clock }: SpeakerPorts): void {
  const { members, gossip } = speaker;
  const update = members.update.bind(members);
  const isHeard = (name: string): boolean => {
    const own = gossip?.fast?.watched(name)?.own;
    return own === undefined || clock.nowMs() - own.lastProofMs < 250;
  };
  members.update = (all, unproven) => {
    update(
      all.filter(({ name }) => isHeard(name)),
      unproven,
    );
  };
  const again = (): void => {
    speaker.packetProblemsChanged();
    clock.schedule(100, again);
  };
  clock.schedule(100, again);
}

export const FAILOVER_MUTANTS: readonly Mutant[] = [
  {
    name: "leaves detection to memberlist",
    invariant: 4,
    scenario: "failover",
    seed: 1,
    settings: (settings) => ({ ...settings, detectsFast: false }),
  },
  {
    name: "elects without whom it has not heard for 250 ms",
    invariant: 6,
    scenario: "steady",
    seed: 2,
    speaker: impatient,
  },
  {
    name: "does not notice that it stood still",
    invariant: 7,
    scenario: "failover",
    seed: 1,
    speaker: ({ fence }) => {
      fence.turn = () => false;
      // The same gap is looked for once more where frames leave.
      Object.defineProperty(fence, "framesUntilMs", { get: () => Number.POSITIVE_INFINITY });
    },
  },
  {
    // The first alone moves nothing back: whoever does not hear it does not elect it again.
    name: "asks nobody else about a leader that it does not hear itself, and elects it again without having heard it",
    invariant: 10,
    scenario: "cut",
    seed: 7,
    ports: (ports) => withTiming(ports, { helpers: 0, deafMs: Number.MAX_SAFE_INTEGER }),
    speaker: ({ members }) => {
      const update = members.update.bind(members);
      members.update = (all) => update(all);
    },
  },
  {
    name: "takes itself for the only watcher",
    invariant: 12,
    scenario: "failover",
    seed: 1,
    speaker: ({ gossip, council }) => {
      if (gossip === undefined) return;
      const command = gossip.command.bind(gossip);
      const self = gossip.self.name;
      gossip.command = (given) => {
        if (given.kind !== "watch" || council.decisions.length === 0) return command(given);
        return command({ ...given, view: { ...given.view, watchers: [self] } });
      };
    },
  },
];
