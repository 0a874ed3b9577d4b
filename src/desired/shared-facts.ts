/**
 * Facts that came by structured cloning carry every text and every endpoint anew, though thousands of Services have the same few:
 * here equal ones become one object. Pure, but for what it remembers.
 */
import { shared } from "../base/shared.ts";
import type { EndpointFacts, EndpointSliceFacts, ServiceFacts } from "./snapshot.ts";
import type { SnapshotChange } from "./snapshot-difference.ts";

/** More different ones than that are hardly shared. */
const KEPT = 10_000;

type Writable<Facts> = { -readonly [Key in keyof Facts]: Facts[Key] };

export class SharedFacts {
  readonly #texts = new Map<string, string>();
  readonly #endpoints = new Map<string, EndpointFacts>();

  /** In place: the facts are the caller's alone. */
  share({ kind, facts }: SnapshotChange): void {
    if (facts === undefined) return;
    if (kind === "services") this.#shareService(facts);
    if (kind === "endpointSlices") this.#shareSlice(facts);
  }

  #shareService(service: Writable<ServiceFacts>): void {
    service.namespace = shared(this.#texts, service.namespace, service.namespace, KEPT);
    service.externalTrafficPolicy = service.externalTrafficPolicy === "Local" ? "Local" : "Cluster";
  }

  #shareSlice(slice: Writable<EndpointSliceFacts>): void {
    slice.namespace = shared(this.#texts, slice.namespace, slice.namespace, KEPT);
    slice.endpoints = slice.endpoints.map((endpoint) => {
      const { nodeName, ready, serving, terminating } = endpoint;
      return shared(this.#endpoints, JSON.stringify([nodeName, ready, serving, terminating]), endpoint, KEPT);
    });
  }
}
