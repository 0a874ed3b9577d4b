/** `arpeggio status -o json`: what all speakers say, put side by side. Fields are added, never renamed or given another meaning. */
import { Type } from "typebox";
import { ADDRESS_REASONS, ADDRESS_STATES, READY_REASONS, RULES, SOURCE_STATES } from "./reasons.ts";
import type { Immutable } from "./status.ts";

const closed = { additionalProperties: false } as const;

const Time = Type.String({ format: "date-time", description: "ISO 8601, UTC" });
const Count = Type.Integer({ minimum: 0 });

/** How a speaker was reached: a pod, or a URL. */
const reachedFields = {
  node: Type.Optional(Type.String({ description: "Node name; absent: a URL that gave no answer" })),
  pod: Type.Optional(Type.String()),
  url: Type.Optional(Type.String()),
  problem: Type.Optional(
    Type.String({ description: "Why it gave no answer, a sentence; what it says is absent then" }),
  ),
};

export const Problems = Type.Array(Type.String(), {
  description: "Sentences: who gives no answer, is not ready or disagrees. Empty: nothing is wrong with the answers",
});

const SpeakerSaying = Type.Object(
  {
    version: Type.String(),
    isReady: Type.Boolean(),
    readyReason: Type.Enum(READY_REASONS, { description: "What it still waits for" }),
    rule: Type.Enum(RULES, { description: "The election rule in force" }),
    members: Type.Optional(
      Type.Object(
        {
          alive: Count,
          suspect: Count,
          dead: Count,
          metallb: Type.Integer({ minimum: 0, description: "Of those alive or suspect, speakers of MetalLB" }),
        },
        { ...closed, description: "As this speaker sees them, itself among them; absent: gossip is off" },
      ),
    ),
    sources: Type.Array(
      Type.Object(
        {
          kind: Type.String(),
          state: Type.Enum(SOURCE_STATES),
          problems: Type.Array(Type.String(), { description: "Sentences" }),
        },
        closed,
      ),
    ),
  },
  closed,
);

const SpeakerEntry = Type.Object({ ...reachedFields, says: Type.Optional(SpeakerSaying) }, closed);

const Dissent = Type.Object(
  {
    node: Type.String(),
    knows: Type.Boolean({ description: "false: it has no Service with this address" }),
    leader: Type.Optional(Type.String({ description: "Whom it names; absent: nobody" })),
  },
  closed,
);

const AddressEntry = Type.Object(
  {
    address: Type.String(),
    toldBy: Type.String({ description: "The node whose answer this is: the leader, if it answers" }),
    at: Type.String({ format: "date-time", description: "When it said so, by its clock; ISO 8601, UTC" }),
    leader: Type.Optional(Type.String({ description: "Node name; absent: nobody" })),
    reason: Type.Enum(ADDRESS_REASONS, { description: "Why that leader, or why nobody" }),
    since: Time,
    previousLeader: Type.Optional(Type.String()),
    services: Type.Array(Type.String({ description: "namespace/name" })),
    dissents: Type.Array(Dissent, { description: "Ready speakers that name another leader" }),
  },
  closed,
);

export const ClusterStatusSchema = Type.Object(
  {
    at: Time,
    speakers: Type.Array(SpeakerEntry),
    addresses: Type.Array(AddressEntry),
    problems: Problems,
  },
  { ...closed, title: "ClusterStatus" },
);

export type ClusterStatusDocument = Immutable<Type.Static<typeof ClusterStatusSchema>>;

const View = Type.Object(
  {
    node: Type.String(),
    isReady: Type.Boolean({ description: "false: it is not counted" }),
    knows: Type.Boolean({ description: "false: it has no Service with this address; the rest is absent then" }),
    leader: Type.Optional(Type.String({ description: "Whom it names; absent: nobody" })),
    state: Type.Optional(Type.Enum(ADDRESS_STATES, { description: "What it does for the address itself" })),
    reason: Type.Optional(Type.Enum(ADDRESS_REASONS)),
  },
  closed,
);

export const ViewEntry = Type.Object({ ...reachedFields, says: Type.Optional(View) }, closed);
