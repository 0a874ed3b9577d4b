/**
 * What the controller shows, as static types and JSON schemas from one definition. Lists are `{items, continue?}`; numbers of addresses
 * are decimal text, because a /64 has more than JSON's numbers can say; times are RFC 3339.
 */
import { Type } from "typebox";
import { type Immutable, WatchStatusSchema, writesFields } from "./status.ts";

const closed = { additionalProperties: false } as const;

const Count = Type.Integer({ minimum: 0 });
const AddressCount = Type.String({ pattern: "^[0-9]+$", description: "Decimal" });
const Time = Type.String({ format: "date-time" });
const Addresses = Type.Array(Type.String());
const Continue = Type.Optional(Type.String({ description: "There is more: ask again with this value of `continue`" }));

export const ControllerStatusSchema = Type.Object(
  {
    version: Type.String(),
    startedAt: Time,
    state: Type.Enum(["reading", "standing-by", "waiting", "allocating"], {
      description:
        "reading: not everything was read yet. standing-by: another controller holds the Lease. waiting: this one holds it, and something else forbids to allocate or everything is read anew",
    }),
    waitsFor: Type.Optional(Type.Array(Type.String(), { description: "Why it does not allocate, a sentence each" })),
    source: Type.Object(
      {
        kind: Type.Enum(["files", "kubernetes"]),
        location: Type.String({ description: "The folder, or the API server" }),
        problems: Type.Array(Type.String(), { description: "What cannot be used as it is, a sentence each" }),
        updates: Type.Optional(
          Type.Integer({ minimum: 0, description: "With the API server: changes of objects since the start" }),
        ),
        watches: Type.Optional(
          Type.Array(WatchStatusSchema, { description: "With the API server, one for each kind" }),
        ),
      },
      closed,
    ),
    lease: Type.Optional(
      Type.Object(
        {
          name: Type.String(),
          identity: Type.String({ description: "Of this process" }),
          isHeld: Type.Boolean({ description: "By this process" }),
          holder: Type.Optional(Type.String({ description: "Absent: nobody, or not known" })),
          renewedAt: Type.Optional(Time),
          transitions: Count,
          problem: Type.Optional(Type.String({ description: "Why the last request about it failed" })),
        },
        closed,
      ),
    ),
    neighbours: Type.Optional(
      Type.Object(
        {
          otherAllocators: Type.Array(Type.String(), {
            description: "Pods of MetalLB's controller: while there are any nothing is allocated",
          }),
          problems: Type.Array(Type.String(), {
            description: "Why the Secret with the gossip key is not as it should be",
          }),
          webhook: Type.Optional(
            Type.Enum(["absent", "kept", "unknown"], {
              description:
                "MetalLB's webhook configuration, with --takeover: unknown to a replica that does not hold the Lease",
            }),
          ),
          webhookStaysBecause: Type.Optional(Type.String()),
        },
        { ...closed, description: "What MetalLB's controller does or left behind, with the API server" },
      ),
    ),
    pools: Count,
    services: Type.Object(
      { known: Count, allocated: Count, pending: Count },
      { ...closed, description: "known: of every type; pending: something that they want is missing" },
    ),
    writes: Type.Optional(
      Type.Object(
        {
          services: Type.Object(
            {
              pending: Count,
              written: Count,
              conflicts: Type.Integer({
                minimum: 0,
                description: "The Service had changed: it is read and decided again",
              }),
              failed: Count,
              lastError: Type.Optional(Type.String({ description: "A sentence; it stays when all is well again" })),
              lastErrorAt: Type.Optional(Time),
            },
            closed,
          ),
          objects: Type.Object(writesFields, {
            ...closed,
            description: "Numbers of pools, reservations and the ConfigurationState",
          }),
          events: Type.Object({ ...writesFields, dropped: Count }, closed),
        },
        { ...closed, description: "To the API server; counts are this process's" },
      ),
    ),
    fault: Type.Optional(Type.String({ description: "Why what was decided could not be written; it is tried again" })),
  },
  closed,
);

export const PoolsSchema = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          name: Type.String(),
          autoAssign: Type.Boolean({ description: "Services that name no pool may get addresses of it" }),
          assignedIPv4: AddressCount,
          assignedIPv6: AddressCount,
          availableIPv4: AddressCount,
          availableIPv6: AddressCount,
          services: Type.Integer({ minimum: 0, description: "That have addresses of it" }),
          problem: Type.Optional(
            Type.String({ description: "Why it is refused: it gives nothing new, what is assigned stays" }),
          ),
        },
        closed,
      ),
    ),
    continue: Continue,
  },
  closed,
);

export const PoolAddressesSchema = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          address: Type.String(),
          services: Type.Array(
            Type.Object(
              { namespace: Type.String(), name: Type.String(), ports: Type.Array(Type.String()) },
              { ...closed, description: "ports: such as TCP/80" },
            ),
          ),
          key: Type.Optional(Type.String({ description: "The sharing key of those that share it" })),
          keptFor: Type.Optional(
            Type.Object(
              { namespace: Type.String(), name: Type.String(), until: Type.Optional(Time) },
              { ...closed, description: "The name of a Service that it is kept for" },
            ),
          ),
        },
        closed,
      ),
    ),
    continue: Continue,
  },
  closed,
);

export const AllocationSchema = Type.Object(
  {
    namespace: Type.String(),
    name: Type.String(),
    allocated: Type.Boolean({ description: "It has an address, and every request is met" }),
    addresses: Addresses,
    pool: Type.Optional(Type.String({ description: "The pool of its addresses" })),
    reason: Type.String({ description: "UpperCamelCase, as in the condition arpeggio.dev/Allocated" }),
    message: Type.String({ description: "A sentence: why it has no address, or not what it asks for, and what to do" }),
    isPending: Type.Boolean({ description: "A change is decided and not yet written" }),
    pools: Type.Array(
      Type.Object(
        {
          name: Type.String(),
          admitted: Type.Boolean(),
          reason: Type.Enum(["automatic", "by-name", "refused", "not-admitted", "lacks-family"]),
        },
        closed,
      ),
    ),
  },
  closed,
);

export const PendingSchema = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        { namespace: Type.String(), name: Type.String(), reason: Type.String(), message: Type.String() },
        closed,
      ),
      { description: "Services that something is missing for, oldest first" },
    ),
    continue: Continue,
  },
  closed,
);

export const ImpactSchema = Type.Object(
  {
    problem: Type.Optional(Type.String({ description: "Why the pool would be refused" })),
    moves: Type.Array(
      Type.Object(
        {
          namespace: Type.String(),
          name: Type.String(),
          from: Addresses,
          to: Type.Array(Type.String(), { description: "Empty: it would have none" }),
          message: Type.Optional(Type.String({ description: "Why it would have none, or not what it asks for" })),
        },
        closed,
      ),
      { description: "Services whose addresses would change, oldest first" },
    ),
  },
  closed,
);

export type ControllerStatusDocument = Immutable<Type.Static<typeof ControllerStatusSchema>>;
export type PoolsDocument = Immutable<Type.Static<typeof PoolsSchema>>;
export type PoolAddressesDocument = Immutable<Type.Static<typeof PoolAddressesSchema>>;
export type AllocationDocument = Immutable<Type.Static<typeof AllocationSchema>>;
export type PendingDocument = Immutable<Type.Static<typeof PendingSchema>>;
export type ImpactDocument = Immutable<Type.Static<typeof ImpactSchema>>;
