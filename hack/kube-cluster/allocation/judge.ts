/**
 * Whether addresses were given well, from what the API server says became of Services: code of its own, which has nothing of the
 * allocator's, so that one mistake is not made twice. Pure.
 */
import type { ServiceWrite } from "./service-writes.ts";

/** Something that must not be, with who did it. */
export interface Offence {
  readonly atMs: number;
  readonly key: string;
  readonly address: string;
  readonly pod: string | undefined;
  /** Who has the address as well. */
  readonly other?: string;
}

export interface Judgement {
  /** Writes that gave a Service an address. */
  readonly allocations: number;
  /** An address was given that another Service had at that revision. Nobody may share here. */
  readonly doubles: readonly Offence[];
  /** The allocator took an address away from a Service that is there, and nobody asked for it. */
  readonly lost: readonly Offence[];
  /** Services of type LoadBalancer that are there at the end and have no address. */
  readonly without: readonly string[];
  /** How long each waited, from its creation or its becoming a LoadBalancer, for the first address after that. */
  readonly waitsMs: readonly number[];
}

interface Life {
  readonly write: ServiceWrite;
  /** Since when it wants an address that it has not. */
  readonly wantsSinceMs?: number;
}

/** `writes`: in order of their revisions. `allocator`: the user whose doing it is. */
export function judgeAllocation(writes: readonly ServiceWrite[], allocator: string): Judgement {
  const lives = new Map<string, Life>();
  /** Address → uids of those that have it. */
  const holders = new Map<string, Set<string>>();
  const doubles: Offence[] = [];
  const lost: Offence[] = [];
  const waitsMs: number[] = [];
  let allocations = 0;
  for (const write of writes) {
    const { uid, key, atMs, pod } = write;
    const before = lives.get(uid);
    const had = before?.write.addresses ?? [];
    const has = write.isDeleted ? [] : write.addresses;
    for (const address of had.filter((one) => !has.includes(one))) {
      holders.get(address)?.delete(uid);
      if (!write.isDeleted && write.user === allocator) lost.push({ atMs, key, address, pod });
    }
    const given = has.filter((one) => !had.includes(one));
    if (given.length > 0) allocations++;
    for (const address of given) {
      const all = holders.get(address) ?? new Set<string>();
      for (const other of all) {
        doubles.push({ atMs, key, address, pod, other: lives.get(other)?.write.key ?? other });
      }
      holders.set(address, all.add(uid));
    }
    if (write.isDeleted) {
      lives.delete(uid);
      continue;
    }
    const wants = write.type === "LoadBalancer" && has.length === 0;
    const wantsSinceMs = wants ? (before?.wantsSinceMs ?? atMs) : undefined;
    if (before?.wantsSinceMs !== undefined && has.length > 0) waitsMs.push(atMs - before.wantsSinceMs);
    lives.set(uid, { write, ...(wantsSinceMs === undefined ? {} : { wantsSinceMs }) });
  }
  const without = [...lives.values()].filter(({ wantsSinceMs }) => wantsSinceMs !== undefined);
  return { allocations, doubles, lost, without: without.map(({ write }) => write.key), waitsMs };
}

/** What was done to the replica that held the Lease. */
export interface Deed {
  readonly kind: "kill" | "terminate" | "freeze" | "cut";
  readonly atMs: number;
  /** Whom it was done to. */
  readonly pod: string;
}

export interface Succession {
  readonly deed: Deed;
  /** Until the next replica wrote to a Service; undefined: none did before the next deed. */
  readonly takeoverMs: number | undefined;
  /** Writes of the former one that were let through after that, until the next deed. */
  readonly lateWrites: number;
}

/** A process that is killed writes nothing any more: what its Pod writes later is its successor's. */
const DEAD_AFTER_MS = 1_000;

/** `deeds`: oldest first. */
export function judgeSuccessions(
  writes: readonly ServiceWrite[],
  allocator: string,
  deeds: readonly Deed[],
): readonly Succession[] {
  const own = writes.filter(({ user }) => user === allocator).toSorted((a, b) => a.atMs - b.atMs);
  return deeds.map((deed, index) => {
    const untilMs = deeds[index + 1]?.atMs ?? Number.POSITIVE_INFINITY;
    const after = own.filter(({ atMs }) => atMs >= deed.atMs && atMs < untilMs);
    const first = after.find(
      ({ pod, atMs }) => pod !== deed.pod || (deed.kind === "kill" && atMs > deed.atMs + DEAD_AFTER_MS),
    );
    if (first === undefined) return { deed, takeoverMs: undefined, lateWrites: 0 };
    const late = after.filter(({ pod, atMs }) => pod === deed.pod && pod !== first.pod && atMs > first.atMs);
    return { deed, takeoverMs: first.atMs - deed.atMs, lateWrites: late.length };
  });
}
