/** Our own metadata on its way to the others: urgent changes at once, the rest at most once a second (DESIGN D4). */
import { bytesEqual } from "../base/bytes.ts";
import type { Core } from "./core.ts";
import type { Members } from "./members.ts";

const LEAST_INTERVAL_MS = 1_000;

export class MetaUpdates {
  readonly #core: Core;
  readonly #members: Members;
  #wanted: Uint8Array | undefined;
  #nextMs = Number.NEGATIVE_INFINITY;

  constructor(core: Core, members: Members) {
    this.#core = core;
    this.#members = members;
  }

  set(meta: Uint8Array, isUrgent: boolean): void {
    const core = this.#core;
    this.#wanted = undefined;
    if (bytesEqual(meta, core.self.meta)) return;
    if (!core.isOpen) {
      // Nobody knows of us yet: the first announcement carries it.
      core.self = { ...core.self, meta };
      return;
    }
    if (core.isLeaving) return;
    if (isUrgent || core.nowMs >= this.#nextMs) this.#send(meta, isUrgent);
    else this.#wanted = meta;
  }

  nextDeadlineMs(): number | undefined {
    return this.#wanted === undefined ? undefined : this.#nextMs;
  }

  tick(): void {
    const core = this.#core;
    if (this.#wanted === undefined || core.nowMs < this.#nextMs) return;
    const meta = this.#wanted;
    this.#wanted = undefined;
    if (!core.isLeaving) this.#send(meta, false);
  }

  #send(meta: Uint8Array, isUrgent: boolean): void {
    this.#nextMs = this.#core.nowMs + LEAST_INTERVAL_MS;
    this.#members.changeMeta(meta, isUrgent);
  }
}
