/** Exchange of everything known over a stream: periodic, to join, and after a split (memberlist state.go:523-560, net.go:929-1050). */
import type { Core } from "./core.ts";
import { endpointKey } from "./endpoint-key.ts";
import type { Members } from "./members.ts";
import type { Endpoint, NodeRecord, PushPull } from "./message.ts";
import type { DialFailure, Member, PushPullOutcome } from "./swim-event.ts";
import { areCompatible } from "./verify-protocol.ts";

/** Exchanges of ours that run at one time. */
const MAX_RUNNING = 256;
const NODES_BEFORE_SCALING = 32;

/** The period grows with the cluster, because every exchange carries all of it (util.go:95-103). */
export function pushPullScale(nodes: number): number {
  if (nodes <= NODES_BEFORE_SCALING) return 1;
  return Math.ceil(Math.log2(nodes) - Math.log2(NODES_BEFORE_SCALING)) + 1;
}

export class PushPulls {
  readonly #core: Core;
  readonly #members: Members;
  /** Dial number → whom we dialled. */
  readonly #running = new Map<number, Endpoint>();
  readonly #runningTo = new Set<string>();
  readonly #watchers: ((endpoint: Endpoint, outcome: PushPullOutcome) => void)[] = [];
  #nextMs = Number.POSITIVE_INFINITY;
  #userState: Uint8Array = new Uint8Array(0);

  constructor(core: Core, members: Members) {
    this.#core = core;
    this.#members = members;
  }

  watch(watcher: (endpoint: Endpoint, outcome: PushPullOutcome) => void): void {
    this.#watchers.push(watcher);
  }

  setUserState(bytes: Uint8Array): void {
    this.#userState = bytes;
  }

  open(): void {
    const { timing, random, nowMs } = this.#core;
    if (timing.pushPullIntervalMs > 0) this.#nextMs = nowMs + random.below(timing.pushPullIntervalMs);
  }

  nextDeadlineMs(): number | undefined {
    return Number.isFinite(this.#nextMs) ? this.#nextMs : undefined;
  }

  tick(): void {
    const core = this.#core;
    if (core.nowMs < this.#nextMs) return;
    this.#nextMs = core.nowMs + core.timing.pushPullIntervalMs * pushPullScale(core.table.size);
    if (core.isLeaving) return;
    const [peer] = core.table.pick(1, (member) => member.state === "alive" && !core.isSelf(member.name));
    if (peer !== undefined) this.start(peer.endpoint, false);
  }

  /** False when one to that address runs already, or too many do. */
  start(endpoint: Endpoint, isJoin: boolean, timeoutMs = this.#core.timing.tcpTimeoutMs): boolean {
    const key = endpointKey(endpoint);
    if (this.#runningTo.has(key) || this.#running.size >= MAX_RUNNING) return false;
    const core = this.#core;
    core.counters.pushPulls++;
    this.#runningTo.add(key);
    this.#running.set(core.dial(endpoint, this.#state(isJoin), timeoutMs), endpoint);
    return true;
  }

  /** A peer's exchange: our state goes out before theirs is merged, so the joiner finds in it what was said of it (net.go:309-333). */
  accept(connection: number, from: Endpoint, theirs: PushPull): void {
    this.#core.emit({ kind: "answer", connection, message: this.#state(theirs.isJoin) });
    this.#told(from, this.#merge(from, theirs));
  }

  answered(dial: number, theirs: PushPull): void {
    const endpoint = this.#finish(dial);
    if (endpoint !== undefined) this.#told(endpoint, this.#merge(endpoint, theirs));
  }

  /** The peer answered, but with an error or with what is no push/pull. */
  refused(dial: number): void {
    const endpoint = this.#finish(dial);
    if (endpoint !== undefined) this.#told(endpoint, "refused");
  }

  failed(dial: number, failure: DialFailure): void {
    const endpoint = this.#finish(dial);
    if (endpoint !== undefined) this.#told(endpoint, failure === "closed" ? "refused" : failure);
  }

  #finish(dial: number): Endpoint | undefined {
    const endpoint = this.#running.get(dial);
    if (endpoint === undefined) return undefined;
    this.#running.delete(dial);
    this.#runningTo.delete(endpointKey(endpoint));
    return endpoint;
  }

  #merge(from: Endpoint, theirs: PushPull): PushPullOutcome {
    if (!areCompatible(theirs.nodes, this.#core.table.all())) return "incompatible";
    this.#members.merge(theirs.nodes);
    if (theirs.userState.length > 0) this.#core.emit({ kind: "user-state", from, bytes: theirs.userState });
    return "done";
  }

  #told(endpoint: Endpoint, outcome: PushPullOutcome): void {
    if (outcome !== "done") this.#core.counters.pushPullsFailed++;
    this.#core.emit({ kind: "push-pull-done", endpoint, outcome });
    for (const watcher of this.#watchers) watcher(endpoint, outcome);
  }

  #state(isJoin: boolean): PushPull {
    return {
      kind: "push-pull",
      isJoin,
      nodes: this.#core.table.all().map(recordOf),
      userState: this.#userState,
    };
  }
}

function recordOf({ name, endpoint, meta, incarnation, state, versions }: Member): NodeRecord {
  return { name, endpoint, meta, incarnation, state, versions };
}
