/** One Service: what it shall have, what must be written for it, and what is said about it. Pure. */
import { SERVICE_ANNOTATIONS } from "../../api/annotations.ts";
import { type Ip, parseIp } from "../net/ip.ts";
import type { BookView } from "./book.ts";
import { decide, heldAddresses, type Verdict } from "./decide.ts";
import { type EventText, eventTexts } from "./event-texts.ts";
import type { Refusal } from "./refusal.ts";
import { refusalCode, refusalText } from "./refusal-text.ts";
import type { AllocatorService, Condition } from "./service.ts";
import { secondsText } from "./time-text.ts";
import type { World } from "./world.ts";

export interface Settings {
  /** `--lb-class`: empty serves the Services that name no class. */
  readonly loadBalancerClass: string;
  /** Off with `--no-conditions`. */
  readonly writesConditions: boolean;
}

/** The time moves with the status only, and is no difference by itself. */
type ConditionSaid = Omit<Condition, "lastTransitionTime">;

/** What of a Service is to be written; what is absent stays as it is. */
export interface StatusChange {
  /** `status.loadBalancer.ingress`, whole: entries of an address and nothing else. */
  readonly ingress?: readonly Ip[];
  /** Annotation `ip-allocated-from-pool`; null removes it. */
  readonly pool?: string | null;
  /** null removes it. */
  readonly condition?: Condition | null;
}

export interface Outcome {
  /** Whether the Service is ours to decide about, and if not, why. */
  readonly concern: "ours" | "not-load-balancer" | "other-class" | "being-deleted";
  /** What it has from now on, once the change is written: book' is the book with this. */
  readonly addresses: readonly Ip[];
  readonly pool?: string;
  readonly refusal?: Refusal;
  /** Something it wants is missing: it is tried again whenever that may have changed. */
  readonly isWaiting: boolean;
  /** Absent: nothing is to be written. */
  readonly change?: StatusChange;
  /** All that there is to say now; whoever says it says each once. */
  readonly events: readonly EventText[];
}

/** The book must not hold the Service itself. `wallMs`: for the condition. */
export function reconcile(
  service: AllocatorService,
  world: World,
  book: BookView,
  settings: Settings,
  wallMs: number,
): Outcome {
  const concern = concernOf(service, settings);
  if (concern !== "ours") return untouched(service, concern);
  const verdict = decide(service, world, book);
  const change = changeOf(service, verdict, settings, wallMs);
  return {
    concern,
    addresses: verdict.addresses,
    ...(verdict.pool === undefined ? {} : { pool: verdict.pool }),
    ...(verdict.refusal === undefined ? {} : { refusal: verdict.refusal }),
    isWaiting: verdict.refusal !== undefined || verdict.notes.some(({ kind }) => kind === "second-family-missing"),
    ...(change === undefined ? {} : { change }),
    events: eventTexts(service, verdict),
  };
}

/** Whether a Service is ours to decide about. */
export function concernOf(service: AllocatorService, { loadBalancerClass }: Settings): Outcome["concern"] {
  if (!service.isLoadBalancer) return "not-load-balancer";
  if ((service.loadBalancerClass ?? "") !== loadBalancerClass) return "other-class";
  return service.isBeingDeleted ? "being-deleted" : "ours";
}

/** What the allocator wrote is removed where the Service is not its own any more. The API server clears the addresses itself. */
function untouched(service: AllocatorService, concern: Exclude<Outcome["concern"], "ours">): Outcome {
  const { condition, annotations, ingress, hasHostnames } = service;
  const isFree = concern === "not-load-balancer";
  const change: StatusChange = {
    ...(isFree && (ingress.length > 0 || hasHostnames) ? { ingress: [] } : {}),
    ...(isFree && annotations[SERVICE_ANNOTATIONS.allocatedFromPool] !== undefined ? { pool: null } : {}),
    ...(concern !== "being-deleted" && condition !== undefined ? { condition: null } : {}),
  };
  const isNothing = Object.keys(change).length === 0;
  const addresses = isFree ? [] : parsed(ingress);
  return { concern, addresses, isWaiting: false, events: [], ...(isNothing ? {} : { change }) };
}

/** Every address of the status, each once: what is taken, whoever took it. */
export function statusAddresses({ isLoadBalancer, ingress }: AllocatorService): readonly Ip[] {
  return isLoadBalancer ? parsed(ingress) : [];
}

/** Whether the Service says what the change would write. */
export function isWritten(service: AllocatorService, { ingress, pool, condition }: StatusChange): boolean {
  if (ingress !== undefined && !isShown(service, ingress)) return false;
  if (pool !== undefined && (service.annotations[SERVICE_ANNOTATIONS.allocatedFromPool] ?? null) !== pool) return false;
  return condition === undefined || isSameCondition(service.condition, condition ?? undefined);
}

function parsed(ingress: readonly string[]): readonly Ip[] {
  return [...new Set(ingress.flatMap((text) => parseIp(text) ?? []))];
}

function changeOf(
  service: AllocatorService,
  verdict: Verdict,
  { writesConditions }: Settings,
  wallMs: number,
): StatusChange | undefined {
  const change: StatusChange = {
    ...(isShown(service, verdict.addresses) ? {} : { ingress: verdict.addresses }),
    ...poolChange(service, verdict),
    ...(writesConditions ? conditionChange(service, verdict, wallMs) : {}),
  };
  return Object.keys(change).length === 0 ? undefined : change;
}

/** Sets are compared: another order is no reason to write, because the first address decides who leads under `metallb-1`. */
function isShown({ ingress, hasHostnames }: AllocatorService, addresses: readonly Ip[]): boolean {
  if (hasHostnames || ingress.length !== addresses.length) return false;
  const held = heldAddresses(ingress);
  return held !== undefined && held.every((ip) => addresses.includes(ip));
}

function poolChange(
  { annotations }: AllocatorService,
  { addresses, pool, refusal }: Verdict,
): Pick<StatusChange, "pool"> {
  const shown = annotations[SERVICE_ANNOTATIONS.allocatedFromPool];
  // Addresses that stand although nothing can be said about them: so does the annotation.
  if (refusal?.reason === "cluster-ips-unreadable" && addresses.length > 0) return {};
  const wanted = addresses.length === 0 ? undefined : pool;
  return shown === wanted ? {} : { pool: wanted ?? null };
}

function conditionChange(service: AllocatorService, verdict: Verdict, wallMs: number): Pick<StatusChange, "condition"> {
  const before = service.condition;
  const wanted = conditionOf(verdict);
  if (isSameCondition(before, wanted)) return {};
  const lastTransitionTime = before?.status === wanted.status ? before.lastTransitionTime : secondsText(wallMs);
  return { condition: { ...wanted, lastTransitionTime } };
}

function isSameCondition(a: ConditionSaid | undefined, b: ConditionSaid | undefined): boolean {
  return a?.status === b?.status && a?.reason === b?.reason && a?.message === b?.message;
}

function conditionOf({ addresses, pool, refusal }: Verdict): ConditionSaid {
  const has = addresses.join(", ");
  if (refusal === undefined)
    return { status: "True", reason: "Allocated", message: `${has} from IPAddressPool ${pool ?? ""}` };
  const keeps = addresses.length === 0 ? "" : `; it keeps ${has}`;
  return { status: "False", reason: refusalCode(refusal), message: `${refusalText(refusal)}${keeps}` };
}
