/**
 * `GET /status`: what one speaker knows and does, as a static type and a JSON schema from one definition.
 * Fields are added, never renamed or given another meaning. Times are ISO 8601 in UTC; durations are named with their unit.
 */
import { Type } from "typebox";
import {
  ADDRESS_REASONS,
  ADDRESS_STATES,
  CONTEST_GROUNDS,
  DETECTIONS,
  KEY_PLACES,
  LINK_REASONS,
  MEMBER_STATES,
  PROOFS_OF_LIFE,
  READY_REASONS,
  RULE_REASONS,
  RULES,
  SOURCE_STATES,
  WATCH_STATES,
  WORD_FLAGS,
} from "./reasons.ts";

/** Documents are values: nobody who receives one may change it. */
export type Immutable<Value> = Value extends readonly (infer Item)[]
  ? readonly Immutable<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: Immutable<Value[Key]> }
    : Value;

/** What is not listed here is not served: a field by accident would become a promise. */
const closed = { additionalProperties: false } as const;

const Time = Type.String({ format: "date-time", description: "ISO 8601, UTC" });
const Count = Type.Integer({ minimum: 0 });
const Flags = Type.Array(Type.Enum(WORD_FLAGS));

const ReadyStatus = Type.Object(
  {
    isReady: Type.Boolean({
      description: "May lead: sources read, packet sockets open, one exchange with a peer done",
    }),
    reason: Type.Enum(READY_REASONS, { description: "What is still waited for" }),
    since: Time,
  },
  closed,
);

const WordStatus = Type.Object(
  {
    highestRule: Type.Enum(RULES, { description: "The highest election rule that this node can follow" }),
    ruleInUse: Type.Enum(RULES),
    flags: Flags,
    readySeconds: Type.Integer({ minimum: 0, description: "Coarse, as told to the others" }),
    restarts: Type.Integer({ minimum: 0, description: "Own restarts without a leave, in the last 15 minutes" }),
    refutes: Type.Integer({
      minimum: 0,
      description: "Death verdicts about this node that it refuted, in the last 15 minutes",
    }),
    links: Type.Array(
      Type.Object(
        {
          index: Count,
          mac: Type.String(),
          isUsable: Type.Boolean(),
          isReturning: Type.Optional(Type.Literal(true)),
          name: Type.Optional(Type.String()),
        },
        closed,
      ),
    ),
    prefixes: Type.Array(Type.Object({ linkIndex: Count, prefix: Type.String() }, closed)),
    isTruncated: Type.Boolean({ description: "Not everything fitted: what is not listed is unknown to the others" }),
  },
  { ...closed, description: "What this node tells the others of itself" },
);

const ElectionStatus = Type.Object(
  {
    rule: Type.Enum(RULES, { description: "The election rule in force" }),
    reason: Type.Enum(RULE_REASONS),
    member: Type.Optional(Type.String({ description: "The member that holds the rule down" })),
    refusedConfiguration: Type.Optional(
      Type.String({
        description: "A sentence: why pools and advertisements as read last do not count (metallb-1 only)",
      }),
    ),
    since: Time,
  },
  closed,
);

const KeyStatus = Type.Object(
  {
    sendsWith: Type.Enum(KEY_PLACES, { description: "The key that gossip is sent with" }),
    accepts: Type.Array(
      Type.Object(
        { key: Type.Enum(KEY_PLACES), until: Type.Optional(Time) },
        { ...closed, description: "until: absent, it stays" },
      ),
      { description: "All that are understood, the one that is sent with first" },
    ),
    switchAt: Type.Optional(
      Type.String({
        format: "date-time",
        description: "When the current key is sent with instead; absent: it is already. ISO 8601, UTC",
      }),
    ),
    switchesWhenHeard: Type.Optional(
      Type.Boolean({ description: "true: earlier, as soon as another node sends with it" }),
    ),
  },
  { ...closed, description: "Which keys are in use, by where they stand; nothing of the keys themselves" },
);

const GossipStatus = Type.Object(
  {
    isOn: Type.Boolean(),
    detection: Type.Enum(DETECTIONS, { description: "Who notices that a node died" }),
    isEncrypted: Type.Boolean(),
    keys: Type.Optional(KeyStatus),
    endpoint: Type.Optional(Type.String({ description: "Where this node listens, UDP and TCP" })),
  },
  closed,
);

const MemberWatchStatus = Type.Object(
  {
    by: Type.Array(Type.String(), { description: "Who pings it ten times a second, because it leads something" }),
    longestSilenceMs: Type.Optional(
      Type.Number({ description: "The rest only where this node watches it. The longest of 10 min that ended well" }),
    ),
    deadlineMs: Type.Optional(Type.Number({ description: "A silence so long is an accusation, as things stand" })),
    lastProof: Type.Optional(Type.Enum(PROOFS_OF_LIFE, { description: "What showed last that its process lives" })),
    lastProofAt: Type.Optional(Time),
    isAccused: Type.Optional(Type.Boolean()),
  },
  { ...closed, description: "Fast detection; absent for a member that leads nothing, and where it is off" },
);

const MemberStatus = Type.Object(
  {
    name: Type.String(),
    state: Type.Enum(MEMBER_STATES),
    since: Time,
    endpoint: Type.String({ description: "192.0.2.1:7946 or [2001:db8::1]:7946" }),
    incarnation: Count,
    isGo: Type.Boolean({ description: "A member without Arpeggio's word: MetalLB's speaker" }),
    isReady: Type.Boolean({ description: "A Go member is always ready" }),
    flags: Flags,
    watch: Type.Optional(MemberWatchStatus),
  },
  closed,
);

const LinkStatus = Type.Object(
  {
    name: Type.String(),
    index: Count,
    mac: Type.String(),
    prefixes: Type.Array(Type.String(), { description: "Reached on the link without a gateway" }),
    isUsable: Type.Boolean({ description: "Addresses may be answered for on it" }),
    reason: Type.Optional(Type.Enum(LINK_REASONS, { description: "Why it is not usable" })),
    problems: Type.Array(Type.String(), { description: "Sentences" }),
  },
  closed,
);

export const WatchStatusSchema = Type.Object(
  {
    kind: Type.String({ description: "Resource kind, such as Service" }),
    state: Type.Enum(WATCH_STATES),
    objects: Count,
    lastEvent: Type.Optional(
      Type.String({
        format: "date-time",
        description: "Last event or bookmark, or the end of the last list; ISO 8601, UTC",
      }),
    ),
    reconnects: Count,
    relists: Count,
    lastError: Type.Optional(Type.String({ description: "A sentence; gone when the watch is well again" })),
  },
  closed,
);

const SourceStatus = Type.Object(
  {
    kind: Type.Union([Type.Literal("files"), Type.Literal("kubernetes")]),
    location: Type.Optional(Type.String({ description: "The folder, or the API server" })),
    state: Type.Enum(SOURCE_STATES),
    objects: Type.Record(Type.String(), Count, { description: "Resource kind, such as Service, to how many of it" }),
    problems: Type.Array(Type.String(), { description: "Sentences; with files they begin with file:line" }),
    lastChange: Type.Optional(Time),
    watches: Type.Optional(Type.Array(WatchStatusSchema, { description: "With the API server, one for each kind" })),
  },
  closed,
);

/** Of one kind of writes; counts are this process's. */
export const writesFields = {
  pending: Type.Integer({ minimum: 0, description: "Objects or subjects that wait to be looked at or written" }),
  written: Type.Integer({ minimum: 0, description: "Requests that changed something" }),
  failed: Type.Integer({ minimum: 0, description: "Requests without an answer, or not answered as wished for" }),
  isApiAway: Type.Boolean({ description: "The last request had no answer, or was asked to come later" }),
  lastError: Type.Optional(Type.String({ description: "A sentence; it stays when all is well again" })),
  lastErrorAt: Type.Optional(Time),
  missingRights: Type.Array(Type.String(), { description: "Sentences; gone when the right was granted and used" }),
};

const WrittenBackStatus = Type.Object(
  {
    objects: Type.Object(writesFields, {
      ...closed,
      description: "ServiceL2Statuses and this node's ConfigurationState",
    }),
    events: Type.Object(
      {
        ...writesFields,
        dropped: Type.Integer({
          minimum: 0,
          description: "Events that were overtaken by a later one of their subject, refused, or found no room",
        }),
      },
      closed,
    ),
    ledServices: Type.Integer({ minimum: 0, description: "Services that a ServiceL2Status of this node stands for" }),
    droppedFields: Type.Optional(
      Type.Array(Type.String(), {
        description: "Fields that the installed CRDs do not keep; absent: not known yet",
      }),
    ),
  },
  { ...closed, description: "What this node writes to the API server; leading an address never waits for it" },
);

const ViewsDiffer = Type.Object(
  {
    answering: Type.String({ description: "The node whose claim is the better one: it alone answers" }),
    decidedBy: Type.Enum(CONTEST_GROUNDS, { description: "What of the first two claims tells them apart, first" }),
    views: Type.Array(
      Type.Object(
        {
          node: Type.String(),
          rule: Type.String({ description: "Election rule that the node follows; lower is better" }),
          term: Type.Integer({ description: "Higher is better" }),
          freshness: Type.Integer({
            description: "Revision of the API that its view is of; higher is better, 0 is not comparable",
          }),
          tier: Type.Integer({ description: "As the node sees itself; lower is better" }),
          score: Type.Integer({ description: "Higher is better" }),
          endpointClass: Type.String(),
          hash: Type.String({ description: "SHA-256 of node#group; lower is better" }),
        },
        closed,
      ),
      { description: "Claims as the nodes sent them; that of the answering node comes first" },
    ),
  },
  {
    ...closed,
    description: "Several nodes hold themselves elected; absent: this node knows of none beside the leader",
  },
);

const OrphanStatus = Type.Object(
  {
    leader: Type.String({ description: "Who is elected, as this node sees it" }),
    reason: Type.String({ description: "Why that node does not lead it, in its own words; silent: it says nothing" }),
  },
  { ...closed, description: "This node has taken the address because who should lead it does not; absent: it has not" },
);

const StickyStatus = Type.Object(
  {
    isInForce: Type.Boolean({ description: "false: the election rule in force knows no sticky addresses" }),
    holder: Type.Optional(Type.String({ description: "Who holds it, or held it last; absent: nobody ever did" })),
    term: Type.Integer({ minimum: 0, description: "Grows by one with every take-over; 0: nobody ever held it" }),
    insteadOf: Type.Optional(
      Type.String({ description: "Who would lead if the address were not sticky; absent: the same node" }),
    ),
  },
  { ...closed, description: "An advertisement asks that it stays where it is; absent: none does" },
);

const StrictStatus = Type.Object(
  {
    isInForce: Type.Boolean({
      description: "False: answered like any other address, under the rule of MetalLB's speakers or without gossip",
    }),
    expected: Type.Optional(
      Type.Integer({ minimum: 0, description: "Speakers that are expected; absent: not known yet" }),
    ),
    needed: Type.Optional(Type.Integer({ minimum: 1, description: "So many have to grant it" })),
    lease: Type.Optional(
      Type.Object(
        {
          isHeld: Type.Boolean({ description: "This node may answer" }),
          until: Type.Optional(
            Type.String({ format: "date-time", description: "When it ends unless it is renewed; ISO 8601, UTC" }),
          ),
          grantedBy: Type.Array(Type.String(), { description: "Speakers that have granted it within the last second" }),
          heard: Type.Array(Type.String(), { description: "Speakers that have answered within the last second" }),
          holder: Type.Optional(Type.String({ description: "Another node that this one has granted it to" })),
        },
        { ...closed, description: "Absent on a node that does not lead the address" },
      ),
    ),
  },
  { ...closed, description: "Nobody answers rather than two (arpeggio.dev/uniqueness: strict); absent: not asked for" },
);

/** What both documents say of an address. */
export const addressFields = {
  address: Type.String(),
  state: Type.Enum(ADDRESS_STATES, { description: "What this node does for the address" }),
  leader: Type.Optional(Type.String({ description: "Node name; absent: nobody" })),
  reason: Type.Enum(ADDRESS_REASONS, { description: "Why that leader, or why nobody" }),
  since: Type.String({ format: "date-time", description: "When this leader, or nobody, came to be; ISO 8601, UTC" }),
  previousLeader: Type.Optional(Type.String()),
  viewsDiffer: Type.Optional(ViewsDiffer),
  orphan: Type.Optional(OrphanStatus),
  sticky: Type.Optional(StickyStatus),
  strict: Type.Optional(StrictStatus),
  requestsAnswered: Type.Integer({ minimum: 0, description: "ARP and Neighbor Discovery requests, by this process" }),
  announcementsSent: Type.Optional(
    Type.Integer({ minimum: 0, description: "Unasked-for frames, by this process; absent: none" }),
  ),
  lastAnnouncement: Type.Optional(
    Type.String({ format: "date-time", description: "Last unasked-for frame by this process; ISO 8601, UTC" }),
  ),
};

const AddressStatus = Type.Object(
  {
    ...addressFields,
    group: Type.Optional(
      Type.String({ description: "Key of the group of addresses that are led together; absent: in no election" }),
    ),
    services: Type.Array(Type.String({ description: "namespace/name" })),
  },
  closed,
);

export const StatusSchema = Type.Object(
  {
    node: Type.String(),
    version: Type.String(),
    at: Time,
    startedAt: Time,
    ready: ReadyStatus,
    word: WordStatus,
    election: ElectionStatus,
    gossip: GossipStatus,
    members: Type.Array(MemberStatus),
    links: Type.Array(LinkStatus),
    sources: Type.Array(SourceStatus),
    writtenBack: Type.Optional(WrittenBackStatus),
    addresses: Type.Array(AddressStatus),
  },
  { ...closed, title: "Status" },
);

export type StatusDocument = Immutable<Type.Static<typeof StatusSchema>>;
