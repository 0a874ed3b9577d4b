/** Speakers with one fault in what makes strict addresses strict (invariant 17). */
import type { Speaker } from "../../speaker/speaker.ts";
import type { SpeakerPorts } from "../../speaker/speaker-ports.ts";
import type { LeaseGrant } from "../../src/election/strict/lease-messages.ts";
import type { Mutant } from "./mutants.ts";

/** Nearly a lease. */
const FORGOTTEN_MS = 800;

/** Calls `change` with every grant that is heard. */
function withGrants(change: (grant: LeaseGrant) => LeaseGrant): NonNullable<Mutant["speaker"]> {
  return ({ strict }: Speaker) => {
    const { leases } = strict;
    const hear = leases.hear.bind(leases);
    leases.hear = (message, voter, nowMs) =>
      hear(message.kind === "lease-grant" ? change(message) : message, voter, nowMs);
  };
}

export const STRICT_MUTANTS: readonly Mutant[] = [
  {
    name: "counts whom it hears, not who grants",
    invariant: 17,
    scenario: "strict",
    seed: 1,
    speaker: withGrants((grant) => ({ ...grant, pages: grant.pages.map((page) => ({ ...page, denied: [] })) })),
  },
  {
    name: "grants to another before a lease is over",
    invariant: 17,
    scenario: "strict",
    seed: 31,
    speaker: ({ strict }: Speaker) => {
      const { leases } = strict;
      const hear = leases.hear.bind(leases);
      leases.hear = (message, voter, nowMs) =>
        hear(message, voter, message.kind === "lease-ask" ? nowMs - FORGOTTEN_MS : nowMs);
    },
  },
  {
    name: "answers on until it hears that a lease is over",
    invariant: 17,
    scenario: "strict",
    seed: 1,
    speaker: ({ strict }: Speaker, { clock }: SpeakerPorts) => {
      const { leases } = strict;
      const untilMs = leases.untilMs.bind(leases);
      const takeChanges = leases.takeChanges.bind(leases);
      leases.untilMs = (ip) => (untilMs(ip) > Number.NEGATIVE_INFINITY ? clock.nowMs() + 1 : untilMs(ip));
      leases.takeChanges = () => ({ ...takeChanges(), lost: [] });
    },
  },
];
