/** How this node comes into the cluster: the peers it knows, since when it talks to them, and what came of the first contact (DESIGN D4). */
import type { Endpoint } from "../src/gossip/message.ts";
import type { FirstContact } from "../src/gossip/swim-event.ts";

export class Joining {
  #endpoints: readonly Endpoint[] = [];
  #named = 0;
  #isOpen = false;
  #hasJustOpened = false;
  #contact: "join-done" | "join-refused" | undefined;

  get endpoints(): readonly Endpoint[] {
    return this.#endpoints;
  }

  /** Known by address, or only by a name that the user gave. */
  get knownPeers(): number {
    return Math.max(this.#endpoints.length, this.#named);
  }

  /** It dials, and answers who dials. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  setPeers(endpoints: readonly Endpoint[], named: number): void {
    this.#endpoints = endpoints;
    this.#named = named;
  }

  open(): void {
    this.#isOpen = true;
    this.#hasJustOpened = true;
  }

  /** Peers are dialled now, which is much for one turn: once. */
  takeOpening(): boolean {
    const hasJustOpened = this.#hasJustOpened;
    this.#hasJustOpened = false;
    return hasJustOpened;
  }

  /** A peer that is named but not known by address yet may be there: it is waited for like one that is silent. */
  contacted(how: FirstContact): void {
    if (how === "merged") this.#contact = "join-done";
    else if (how === "all-refused" || this.#named === 0) this.#contact = "join-refused";
  }

  /** What came of the first contact: once. */
  takeContact(): "join-done" | "join-refused" | undefined {
    const contact = this.#contact;
    this.#contact = undefined;
    return contact;
  }
}
