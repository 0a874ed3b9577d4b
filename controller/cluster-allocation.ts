/** The allocator over a cluster: what is read is told to it, what it asks for is handed to whoever writes it. */
import { Allocator } from "../src/allocator/allocator.ts";
import type { AllocatorEvent, Effect } from "../src/allocator/ports.ts";
import type { Settings } from "../src/allocator/reconcile.ts";
import type { ServiceKey } from "../src/allocator/service.ts";
import type { Clock, Timer } from "../src/base/clock.ts";
import type { ApiServer } from "../src/kube/api-server.ts";
import { serviceOf } from "./cluster-objects.ts";
import { servicePath } from "./service-writer.ts";

export interface ClusterAllocationPorts {
  readonly api: Pick<ApiServer, "request" | "refreshCredentials">;
  readonly clock: Clock;
  /** All but `read-again`, in order. */
  readonly take: (effect: Exclude<Effect, { kind: "read-again" }>) => void;
}

/** A timer needs no more: the allocator is asked again then. */
const MAX_WAIT_MS = 60_000;

export class ClusterAllocation {
  readonly allocator: Allocator;
  readonly #ports: ClusterAllocationPorts;
  readonly #reading = new Set<ServiceKey>();
  #timer: Timer | undefined;
  #isSettling = false;
  #isClosed = false;
  #updates = 0;

  constructor(settings: Settings, ports: ClusterAllocationPorts) {
    this.allocator = new Allocator(settings);
    this.#ports = ports;
  }

  /** News so far. */
  get updates(): number {
    return this.#updates;
  }

  note(event: AllocatorEvent): void {
    if (this.#isClosed) return;
    this.#updates++;
    this.allocator.note(event, this.#ports.clock.wallMs());
    this.#settleSoon(0);
  }

  /** What was noted is settled first, so that what it leads to is said. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    if (this.#isSettling) this.#settle();
  }

  /** News that come together are decided together. */
  #settleSoon(delayMs: number): void {
    if (this.#isSettling && delayMs === 0) return;
    this.#isSettling = delayMs === 0;
    this.#timer?.cancel();
    this.#timer = this.#ports.clock.schedule(delayMs, () => this.#settle());
  }

  #settle(): void {
    this.#isSettling = false;
    const { clock, take } = this.#ports;
    for (const effect of this.allocator.settle(clock.wallMs())) {
      if (effect.kind === "read-again") void this.#readAgain(effect.key);
      else take(effect);
    }
    const { dueMs } = this.allocator;
    if (dueMs === undefined || this.#isSettling || this.#isClosed) return;
    this.#settleSoon(Math.min(MAX_WAIT_MS, Math.max(1, dueMs - clock.wallMs())));
  }

  /** What it answers counts only while nothing newer was heard. Not answered: the allocator asks again. */
  async #readAgain(key: ServiceKey): Promise<void> {
    if (this.#reading.has(key)) return;
    this.#reading.add(key);
    const { api } = this.#ports;
    const [namespace = "", name = ""] = key.split("/");
    const before = this.allocator.table.entries.get(key)?.service;
    const answer = await api.request({ method: "GET", path: servicePath(namespace, name) }).catch(() => undefined);
    this.#reading.delete(key);
    if (answer?.status === 401) api.refreshCredentials();
    const now = this.allocator.table.entries.get(key)?.service;
    // It went meanwhile: a watch said so, and says it if it is there again.
    if (now === undefined) return;
    if (answer?.status === 404 && now === before) this.note({ kind: "service-gone", key });
    const service = answer?.status === 200 ? serviceOf(answer.body) : undefined;
    if (service !== undefined) this.note({ kind: "service", service });
  }
}
