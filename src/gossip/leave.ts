/** Goodbye: directly to every member, then through the queue for those whom a lost datagram missed (memberlist.go:649-696). */

import type { Core } from "./core.ts";
import { isOther, type Members } from "./members.ts";
import type { Dead } from "./message.ts";
import { encodeMessage } from "./message-codec.ts";

/** MetalLB gives its Leave call one second; two members need 0.7 s for their four sends. */
const LEAVE_MS = 1_000;

export class Leave {
  readonly #core: Core;
  readonly #members: Members;
  #deadlineMs: number | undefined;

  constructor(core: Core, members: Members) {
    this.#core = core;
    this.#members = members;
  }

  start(): void {
    const core = this.#core;
    if (core.isLeaving) return;
    core.isLeaving = true;
    const { name, incarnation } = core.self;
    const dead: Dead = { kind: "dead", node: name, incarnation, from: name };
    const others = core.table.all().filter((member) => isOther(core, member));
    this.#deadlineMs = core.nowMs + LEAVE_MS;
    this.#members.dead(dead, () => this.#end(true));
    const bytes = encodeMessage(dead);
    for (const member of others) core.sendParts(member, [bytes]);
    if (others.length === 0) this.#end(true);
  }

  nextDeadlineMs(): number | undefined {
    return this.#deadlineMs;
  }

  tick(): void {
    if (this.#deadlineMs !== undefined && this.#core.nowMs >= this.#deadlineMs) this.#end(false);
  }

  #end(isComplete: boolean): void {
    if (this.#deadlineMs === undefined) return;
    this.#deadlineMs = undefined;
    this.#core.emit({ kind: "left", isComplete });
  }
}
