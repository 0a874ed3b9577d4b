/** What a node does with news about a member (memberlist state.go:940-1309). Pure: each rule returns a verdict from a closed set. */
import { bytesEqual } from "../base/bytes.ts";
import { sameEndpoint } from "./endpoint-key.ts";
import type { Alive, Dead, Endpoint, Suspect, Versions } from "./message.ts";
import type { Member, MemberChange } from "./swim-event.ts";
import { areUsableVersions } from "./verify-protocol.ts";

/** A node name becomes a Kubernetes label and a map key; DNS allows 253. */
const MAX_NAME_BYTES = 253;
/** memberlist's limit, checked there by the owner only. */
export const MAX_META_BYTES = 512;
const MAX_INCARNATION = 0xffff_ffff;

/** What a rule has to know besides the news. */
export interface Judge {
  readonly selfName: string;
  readonly isLeaving: boolean;
  readonly nowMs: number;
  /** 0: a dead name never moves to another address. */
  readonly deadNodeReclaimMs: number;
}

export type Ignored = {
  readonly kind: "ignore";
  readonly why: "leaving" | "malformed" | "stale" | "echo" | "unknown" | "not-alive" | "known-accuser";
};
const ignore = (why: Ignored["why"]): Ignored => ({ kind: "ignore", why });

export type AliveVerdict =
  | Ignored
  | { readonly kind: "conflict"; readonly member: Member }
  | { readonly kind: "refute" }
  | { readonly kind: "accept"; readonly change: MemberChange };

export type SuspectVerdict = Ignored | { readonly kind: "confirm" | "refute" | "accept" };
export type DeadVerdict =
  | Ignored
  | { readonly kind: "refute" }
  | { readonly kind: "accept"; readonly state: "dead" | "left" };

/** An alive whose versions have been checked. */
export type UsableAlive = Alive & { readonly versions: Versions };

export function isUsableAlive(alive: Alive): alive is UsableAlive {
  return (
    alive.versions !== undefined &&
    areUsableVersions(alive.versions) &&
    isUsableName(alive.node) &&
    alive.meta.length <= MAX_META_BYTES
  );
}

export function isUsableName(name: string): boolean {
  return name !== "" && Buffer.byteLength(name) <= MAX_NAME_BYTES;
}

export function judgeAlive(known: Member | undefined, alive: UsableAlive, judge: Judge): AliveVerdict {
  const isSelf = alive.node === judge.selfName;
  if (isSelf && judge.isLeaving) return ignore("leaving");
  if (known === undefined) return alive.incarnation > 0 ? { kind: "accept", change: "joined" } : ignore("stale");
  const moves = !sameEndpoint(known.endpoint, alive.endpoint);
  // Before the incarnation is looked at: an older namesake must be noticed, too.
  if (moves && !mayMove(known, judge)) return { kind: "conflict", member: known };
  if (isSelf) return judgeOwnAlive(known, alive);
  if (!moves && alive.incarnation <= known.incarnation) return ignore("stale");
  return { kind: "accept", change: changeOf(known) };
}

function judgeOwnAlive(known: Member, alive: UsableAlive): AliveVerdict {
  if (alive.incarnation < known.incarnation) return ignore("stale");
  const isEcho =
    alive.incarnation === known.incarnation &&
    bytesEqual(alive.meta, known.meta) &&
    sameVersions(alive.versions, known.versions);
  return isEcho ? ignore("echo") : { kind: "refute" };
}

/** News of a living member is of a later incarnation, so that something about it is new. */
function changeOf(known: Member): MemberChange {
  if (known.state === "dead" || known.state === "left") return "joined";
  return known.state === "suspect" ? "alive-again" : "updated";
}

/** A name may appear at another address once it left, or was dead for long enough. */
function mayMove(known: Member, judge: Judge): boolean {
  if (known.state === "left") return true;
  if (known.state !== "dead" || judge.deadNodeReclaimMs <= 0) return false;
  return judge.nowMs - known.sinceMs > judge.deadNodeReclaimMs;
}

/** `isTimed`: a suspicion of this member is running. */
export function judgeSuspect(
  known: Member | undefined,
  suspect: Suspect,
  isTimed: boolean,
  judge: Judge,
): SuspectVerdict {
  if (known === undefined) return ignore("unknown");
  if (suspect.incarnation < known.incarnation) return ignore("stale");
  if (isTimed) return { kind: "confirm" };
  if (known.state !== "alive") return ignore("not-alive");
  if (known.name === judge.selfName) return { kind: "refute" };
  return { kind: "accept" };
}

export function judgeDead(known: Member | undefined, dead: Dead, judge: Judge): DeadVerdict {
  if (known === undefined) return ignore("unknown");
  if (dead.incarnation < known.incarnation) return ignore("stale");
  if (known.state === "dead" || known.state === "left") return ignore("not-alive");
  if (known.name === judge.selfName && !judge.isLeaving) return { kind: "refute" };
  return { kind: "accept", state: dead.from === dead.node ? "left" : "dead" };
}

/** Greater than ours and than the accused one; an incarnation is 32 bits wide. */
export function refutingIncarnation(own: number, accused: number): number {
  return Math.min(MAX_INCARNATION, Math.max(own, accused) + 1);
}

/** Port 0 means the receiver's own (state.go:945). */
export function withPort(endpoint: Endpoint, ownPort: number): Endpoint {
  return endpoint.port === 0 ? { ip: endpoint.ip, port: ownPort } : endpoint;
}

function sameVersions(a: Versions, b: Versions): boolean {
  return (
    a.protocolMin === b.protocolMin &&
    a.protocolMax === b.protocolMax &&
    a.protocolCurrent === b.protocolCurrent &&
    a.delegateMin === b.delegateMin &&
    a.delegateMax === b.delegateMax &&
    a.delegateCurrent === b.delegateCurrent
  );
}
