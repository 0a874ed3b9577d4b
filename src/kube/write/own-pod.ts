/**
 * The Pod that this speaker runs in, which owns what it writes: Kubernetes deletes a status with the Pod of its speaker. Run without a
 * pod name, or under one that the list of Pods does not have (outside a cluster), statuses are written without an owner: the next
 * leader deletes them, or the next start of a speaker on this node.
 */
import type { Clock } from "../../base/clock.ts";
import type { OwnerReference, WatchedObjects } from "../watched.ts";

/** So long the Pods may take to be listed, before something is written without an owner. */
const LISTING_MS = 10_000;

export type OwnPod =
  | { readonly isSettled: true; readonly owner: OwnerReference | undefined }
  | { readonly isSettled: false; readonly againAtMs: number };

export class OwnPodSearch {
  readonly #watched: Pick<WatchedObjects, "pods">;
  readonly #podName: string | undefined;
  readonly #giveUpMs: number;
  #owner: OwnerReference | undefined;

  constructor(watched: Pick<WatchedObjects, "pods">, podName: string | undefined, clock: Clock) {
    this.#watched = watched;
    this.#podName = podName;
    this.#giveUpMs = clock.nowMs() + LISTING_MS;
  }

  /** Once found it stays: a pod's name and uid are those of this process. */
  at(nowMs: number): OwnPod {
    this.#owner ??= this.#find();
    const isLooking = this.#owner === undefined && this.#podName !== undefined && this.#watched.pods === undefined;
    if (isLooking && nowMs < this.#giveUpMs) return { isSettled: false, againAtMs: this.#giveUpMs };
    return { isSettled: true, owner: this.#owner };
  }

  #find(): OwnerReference | undefined {
    if (this.#podName === undefined) return undefined;
    const pod = this.#watched.pods?.get(this.#podName);
    return pod === undefined ? undefined : { apiVersion: "v1", kind: "Pod", name: pod.name, uid: pod.uid };
  }
}
