/**
 * Whether a controller of MetalLB's runs beside ours. It knows no lease, so two would give one address twice: while its Pod object
 * stands, in whatever state but ended, ours allocates nothing. With its grace period of 0 the object goes before the process does, and what
 * that sent last still arrives: hence the wait afterwards. Pure.
 */

/** A Pod of our namespace, as far as it matters here. */
export interface NeighbourPod {
  readonly name: string;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly phase?: string;
  readonly isBeingDeleted: boolean;
}

/** How long the last one must have been gone. */
export const GONE_MS = 5_000;

export interface OtherAllocators {
  /** Undefined: the Pods are not listed yet. */
  readonly pods: readonly NeighbourPod[] | undefined;
  /** Monotonic: since when none is there, or since when that is known. */
  readonly goneSinceMs?: number;
}

export const UNREAD: OtherAllocators = { pods: undefined };

/** Labels of the Pods in MetalLB's plain manifests, and in its Helm chart. */
const LABELS: readonly Readonly<Record<string, string>>[] = [
  { app: "metallb", component: "controller" },
  { "app.kubernetes.io/name": "metallb", "app.kubernetes.io/component": "controller" },
];
/** On every Pod of ours, whatever else it wears to be found by MetalLB's. */
const OUR_LABEL = "arpeggio.dev/component";
const ENDED: readonly (string | undefined)[] = ["Succeeded", "Failed"];

export function isOurs({ labels }: Pick<NeighbourPod, "labels">): boolean {
  return labels[OUR_LABEL] !== undefined;
}

export function isOtherAllocator(pod: NeighbourPod): boolean {
  if (isOurs(pod) || ENDED.includes(pod.phase)) return false;
  return LABELS.some((wanted) => Object.entries(wanted).every(([key, value]) => pod.labels[key] === value));
}

/** `pods`: all of the namespace. */
export function seePods(before: OtherAllocators, pods: Iterable<NeighbourPod>, nowMs: number): OtherAllocators {
  const others = [...pods].filter(isOtherAllocator).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  if (others.length > 0) return { pods: others };
  return { pods: [], goneSinceMs: before.goneSinceMs ?? nowMs };
}

/** When allocating may begin, unless something changes; undefined: not as things are. */
export function allowedAtMs({ goneSinceMs }: OtherAllocators): number | undefined {
  return goneSinceMs === undefined ? undefined : goneSinceMs + GONE_MS;
}

/** Why nothing is allocated; undefined: nothing of this kind is in the way. */
export function standStillSentence(others: OtherAllocators, nowMs: number): string | undefined {
  if (others.pods === undefined) return "the Pods of the namespace are not read yet";
  const [first] = others.pods;
  if (first !== undefined) {
    const names = others.pods.map(({ name, isBeingDeleted }) => (isBeingDeleted ? `${name} (terminating)` : name));
    return `MetalLB's controller runs here too, and only one may allocate: ${names.join(", ")}`;
  }
  const atMs = allowedAtMs(others);
  if (atMs !== undefined && nowMs >= atMs) return undefined;
  return `that no controller of MetalLB's runs is known for less than ${GONE_MS / 1_000} s`;
}

/** The event on each such Pod. */
export function otherAllocatorText(): { readonly type: "Warning"; readonly reason: string; readonly message: string } {
  return {
    type: "Warning",
    reason: "otherAllocatorRunning",
    message: `arpeggio-controller allocates no address while this controller runs: two would give one address twice. Scale its Deployment to 0 or delete it; ${GONE_MS / 1_000} s after its last Pod is gone Arpeggio takes over`,
  };
}
