/** An API server in memory and an allocator on it: objects with versions, writes with a precondition, answers that can go astray. */
import { expect } from "chai";
import { SERVICE_ANNOTATIONS } from "../../api/annotations.ts";
import { Allocator } from "../../src/allocator/allocator.ts";
import type { AllocatorPool } from "../../src/allocator/pool.ts";
import type { AllocatorEvent, Effect, WriteAnswer } from "../../src/allocator/ports.ts";
import { isWritten, type StatusChange } from "../../src/allocator/reconcile.ts";
import { type AllocatorService, keyOf } from "../../src/allocator/service.ts";
import { ips } from "./objects.ts";
import { NOW_MS, SETTINGS } from "./worlds.ts";

type Write = Extract<Effect, { kind: "write" }>;
/** What becomes of a write. lost: it is made, the answer is not heard. late: not made when the answer fails to come; see `landLate`. */
type Fate = "answered" | "lost" | "late" | "refused";

const MAX_ROUNDS = 200;

export class Rig {
  allocator = new Allocator(SETTINGS);
  nowMs = NOW_MS;
  readonly services = new Map<string, AllocatorService>();
  pools: readonly AllocatorPool[] = [];
  namespaces: Readonly<Record<string, Readonly<Record<string, string>>>> = {};
  nodes: Readonly<Record<string, readonly string[]>> = {};
  reserved = "";
  pinned = "";
  /** Of the next writes, one each; "answered" when there is none left. */
  fates: Fate[] = [];
  writes = 0;
  /** After each write that is made. */
  onWrite: () => void = () => {};
  readonly events: string[] = [];
  readonly statuses = new Map<string, string>();
  /** Watch events that were not delivered yet: services only. */
  isWatchHeld = false;
  #held: AllocatorEvent[] = [];
  #late: Write[] = [];
  #version = 100;
  #terms = 0;

  /** A controller that begins: everything is read, then it leads. */
  start(fences = false): this {
    this.allocator = new Allocator(SETTINGS);
    this.#held = [];
    // A lease is free only when the writes of its last holder have arrived or never will; what is fenced does not rely on that.
    this.#late = fences ? this.#late.filter(({ key }) => this.addresses(key).length === 0) : [];
    this.noteAll();
    this.#terms++;
    this.note({ kind: "lead", ...(fences ? { fence: `c1/${this.#terms}` } : {}) });
    return this.settle();
  }

  noteAll(): void {
    this.notePools();
    this.noteNamespaces();
    this.noteNodes();
    this.noteReservations();
    this.note({ kind: "services", services: [...this.services.values()] });
  }

  setPools(...pools: readonly AllocatorPool[]): this {
    this.pools = pools;
    this.notePools();
    return this.settle();
  }

  notePools(): void {
    this.note({ kind: "pools", pools: this.pools });
  }

  noteNamespaces(): void {
    const named = Object.entries(this.namespaces).map(([name, labels]) => [name, { name, labels }] as const);
    this.note({ kind: "namespaces", namespaces: new Map(named) });
  }

  noteNodes(): void {
    const nodes = new Map(Object.entries(this.nodes).map(([name, texts]) => [name, ips(...texts)]));
    this.note({ kind: "nodes", nodes });
  }

  noteReservations(): void {
    this.note({ kind: "reservations", reserved: this.reserved, pinned: this.pinned });
  }

  /** By a user: spec, labels and annotations of what is given; status and our annotation stay as they are, unless they are new. */
  put(service: AllocatorService): this {
    this.#store(merged(this.services.get(keyOf(service)), service));
    return this.settle();
  }

  /** Whole, status included. */
  putWhole(service: AllocatorService): this {
    this.#store(service);
    return this.settle();
  }

  remove(key: string): this {
    this.services.delete(key);
    this.#watch({ kind: "service-gone", key });
    return this.settle();
  }

  /** As it is now, though its watch events are held back. */
  tell(key: string): this {
    const service = this.services.get(key);
    if (service !== undefined) this.note({ kind: "service", service });
    return this.settle();
  }

  /** Everything that was held back arrives. */
  release(): this {
    this.isWatchHeld = false;
    for (const event of this.#held.splice(0)) this.note(event);
    return this.settle();
  }

  /** Writes whose sender gave up on them arrive now. */
  landLate(): this {
    for (const write of this.#late.splice(0)) this.#land(write);
    return this.settle();
  }

  /** What is under way arrives within five seconds. */
  wait(ms: number): this {
    if (ms >= 5_000) this.landLate();
    this.nowMs += ms;
    return this.settle();
  }

  /** Until there is nothing more to write. */
  settle(): this {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const effects = this.allocator.settle(this.nowMs);
      for (const effect of effects) this.#take(effect);
      if (!effects.some(({ kind }) => kind === "write" || kind === "read-again")) return this;
    }
    throw new Error("writes without end");
  }

  addresses(key: string): readonly string[] {
    return this.services.get(key)?.ingress ?? [];
  }

  note(event: AllocatorEvent): void {
    this.allocator.note(event, this.nowMs);
  }

  #take(effect: Effect): void {
    switch (effect.kind) {
      case "write":
        this.#write(effect, this.fates.shift() ?? "answered");
        break;
      case "read-again": {
        const service = this.services.get(effect.key);
        if (service === undefined) this.note({ kind: "service-gone", key: effect.key });
        else this.note({ kind: "service", service });
        break;
      }
      case "event":
        this.events.push(`${effect.key}: ${effect.text.reason}`);
        break;
      case "pool-status":
        this.statuses.set(effect.pool, Object.values(effect.numbers).join(" "));
        break;
      case "reserve":
        this.reserved = effect.reserved;
        break;
      default:
        effect satisfies never;
    }
  }

  #write(write: Write, fate: Fate): void {
    const { key, id } = write;
    const answer = (rest: object) => this.note({ kind: "written", key, id, ...rest } as WriteAnswer);
    if (fate === "refused") return answer({ answer: "refused" });
    if (fate === "late") {
      this.#late.push(write);
      return answer({ answer: "unknown" });
    }
    const result = this.#land(write);
    if (fate === "lost") return answer({ answer: "unknown" });
    if (typeof result === "string") return answer({ answer: result });
    return answer({ answer: "done", service: result });
  }

  #land({ key, uid, resourceVersion, change }: Write): AllocatorService | "gone" | "conflict" {
    const service = this.services.get(key);
    if (service?.uid !== uid) return "gone";
    if (service.resourceVersion !== resourceVersion) return "conflict";
    expect(isWritten(service, change), `a write that changes nothing: ${key}`).to.equal(false);
    this.writes++;
    const stored = this.#store(applied(service, change));
    this.onWrite();
    return stored;
  }

  #store(service: AllocatorService): AllocatorService {
    const stored = { ...service, resourceVersion: String(++this.#version) };
    this.services.set(keyOf(stored), stored);
    this.#watch({ kind: "service", service: stored });
    return stored;
  }

  #watch(event: AllocatorEvent): void {
    if (this.isWatchHeld) this.#held.push(event);
    else this.note(event);
  }
}

/** One that has started. */
export function rig(...pools: readonly AllocatorPool[]): Rig {
  const made = new Rig();
  made.pools = pools;
  return made.start();
}

function merged(before: AllocatorService | undefined, next: AllocatorService): AllocatorService {
  if (before === undefined || before.uid !== next.uid) return next;
  const key = SERVICE_ANNOTATIONS.allocatedFromPool;
  const from = before.annotations[key];
  const { condition: _condition, ...rest } = next;
  return {
    ...rest,
    createdAt: before.createdAt,
    annotations: { ...next.annotations, ...(from === undefined ? {} : { [key]: from }) },
    // The API server clears it on a change of type.
    ingress: next.isLoadBalancer ? before.ingress : [],
    ...(before.condition === undefined ? {} : { condition: before.condition }),
  };
}

/** As the API server stores it. */
export function applied(service: AllocatorService, { ingress, pool, condition }: StatusChange): AllocatorService {
  const { condition: before, annotations, ...rest } = service;
  const { [SERVICE_ANNOTATIONS.allocatedFromPool]: shown, ...others } = annotations;
  const from = pool === undefined ? shown : (pool ?? undefined);
  const said = condition === undefined ? before : (condition ?? undefined);
  return {
    ...rest,
    annotations: from === undefined ? others : { ...others, [SERVICE_ANNOTATIONS.allocatedFromPool]: from },
    ...(ingress === undefined ? {} : { ingress, hasHostnames: false }),
    ...(said === undefined ? {} : { condition: said }),
  };
}
