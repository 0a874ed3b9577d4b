/**
 * Three controllers, their Lease and an API server on one virtual clock: requests and answers take their time or get lost, processes
 * stand still, writes arrive up to 5 s after their sender gave up. Whatever happens, nobody gets an address that somebody has.
 */
import { expect } from "chai";
import fc from "fast-check";
import { Allocator } from "../../src/allocator/allocator.ts";
import type { AllocatorEvent, Effect } from "../../src/allocator/ports.ts";
import { statusAddresses } from "../../src/allocator/reconcile.ts";
import { type AllocatorService, keyOf } from "../../src/allocator/service.ts";
import { SeededRandom } from "../../src/base/random.ts";
import { initialLease, isHolder, type LeaseEvent, leaseDeadlineMs, stepLease } from "../../src/kube/lease/lease.ts";
import type { LeaseObject, LeaseRecord } from "../../src/kube/lease/lease-object.ts";
import { pool } from "../allocator/objects.ts";
import { applied } from "../allocator/rig.ts";
import { IPV4_ONLY, service } from "../allocator/services.ts";
import { NOW_MS, SETTINGS } from "../allocator/worlds.ts";

const HISTORIES = Number(process.env["CONTROLLER_HISTORIES"] ?? "60");
const STEP_MS = 100;
/** After it the sender has given up: a request that is still on its way may arrive for `STRAY_MS` more. */
const TIMEOUT_MS = 4_000;
const STRAY_MS = 5_000;
const CALM_MS = 60_000;
/** Fewer than Services. */
const POOL = pool("main", ["192.0.2.0/32"]);
const NAMES = ["a", "b", "c"];

type Write = Extract<Effect, { kind: "write" }>;

class Post {
  nowMs = NOW_MS;
  #due: { readonly atMs: number; readonly run: () => void }[] = [];

  later(delayMs: number, run: () => void): void {
    this.#due.push({ atMs: this.nowMs + delayMs, run });
  }

  advance(): void {
    this.nowMs += STEP_MS;
    const due = this.#due.filter(({ atMs }) => atMs <= this.nowMs).toSorted((a, b) => a.atMs - b.atMs);
    this.#due = this.#due.filter(({ atMs }) => atMs > this.nowMs);
    for (const { run } of due) run();
  }
}

class Server {
  readonly services = new Map<string, AllocatorService>();
  lease: LeaseObject | undefined;
  readonly watchers: ((event: AllocatorEvent) => void)[] = [];
  /** Of everything that watches tell: how much there was. */
  told = 0;
  #version = 100;

  put(facts: AllocatorService): void {
    this.#store({ ...facts, uid: `${facts.uid}-${this.#version}` });
  }

  remove(key: string): void {
    this.services.delete(key);
    this.#tell({ kind: "service-gone", key });
  }

  write({ key, uid, resourceVersion, change }: Write): AllocatorService | "gone" | "conflict" {
    const found = this.services.get(key);
    if (found?.uid !== uid) return "gone";
    if (found.resourceVersion !== resourceVersion) return "conflict";
    const stored = this.#store(applied(found, change));
    expect(doubled([...this.services.values()])).to.deep.equal([]);
    return stored;
  }

  writeLease(record: LeaseRecord, resourceVersion: string | undefined): LeaseObject | undefined {
    if (this.lease?.resourceVersion !== resourceVersion) return undefined;
    this.lease = { resourceVersion: String(++this.#version), record };
    return this.lease;
  }

  #tell(event: AllocatorEvent): void {
    this.told++;
    for (const tell of this.watchers) tell(event);
  }

  #store(facts: AllocatorService): AllocatorService {
    const stored = { ...facts, resourceVersion: String(++this.#version) };
    this.services.set(keyOf(stored), stored);
    this.#tell({ kind: "service", service: stored });
    return stored;
  }
}

/** One process: what a controller's daemon does, reduced to order and time. */
class Controller {
  #lease;
  readonly #allocator = new Allocator(SETTINGS);
  readonly #world: World;
  readonly #identity: string;
  readonly #inbox: (() => void)[] = [];
  /** What watches told, and up to where the last list knew it already: a watch goes on from its list. */
  readonly #heard: (readonly [place: number, event: AllocatorEvent])[] = [];
  #listedAt = 0;
  #isListing = false;
  frozenUntilMs = 0;
  /** Until then no request about the Lease arrives, and no news of Services; everything else does. */
  leaseCutUntilMs = 0;
  watchCutUntilMs = 0;

  constructor(identity: string, world: World) {
    this.#identity = identity;
    this.#world = world;
    this.#lease = initialLease(identity);
    for (const event of SURROUNDINGS) this.#allocator.note(event, NOW_MS);
    // A watch is late, but in order.
    let lastMs = 0;
    world.server.watchers.push((event) => {
      const place = world.server.told;
      lastMs = Math.max(lastMs, world.post.nowMs + world.random.below(1_500), this.watchCutUntilMs);
      world.post.later(lastMs - world.post.nowMs, () => this.#hear(() => this.#watch(place, event)));
    });
    this.#tellLease({ kind: "observed", lease: undefined });
  }

  get isActing(): boolean {
    return this.#allocator.leads && isHolder(this.#lease, this.#world.post.nowMs);
  }

  run(): void {
    const { nowMs } = this.#world.post;
    if (this.frozenUntilMs > nowMs) return;
    for (const take of this.#inbox.splice(0)) take();
    const dueMs = leaseDeadlineMs(this.#lease);
    if (dueMs !== undefined && dueMs <= nowMs) this.#tellLease({ kind: "tick" });
    if (!isHolder(this.#lease, nowMs)) {
      if (this.#allocator.leads) this.#allocator.note({ kind: "stand-by" }, nowMs);
      return;
    }
    if (!this.#allocator.leads) this.#list();
    for (const effect of this.#allocator.settle(nowMs)) this.#act(effect);
  }

  /** A process that stands still hears later, what came first first. */
  #hear(take: () => void): void {
    if (this.frozenUntilMs > this.#world.post.nowMs) this.#inbox.push(take);
    else take();
  }

  #tellLease(event: LeaseEvent): void {
    const { nowMs } = this.#world.post;
    const { state, effects } = stepLease(this.#lease, event, { nowMs, wallMs: nowMs });
    this.#lease = state;
    const { server } = this.#world;
    const isCut = this.leaseCutUntilMs > nowMs;
    for (const effect of effects) {
      if (effect.kind === "read") {
        this.#ask(
          () => server.lease,
          (lease) => this.#tellLease({ kind: "observed", lease }),
          () => this.#tellLease({ kind: "tick" }),
          isCut,
        );
        continue;
      }
      this.#ask(
        () => server.writeLease(effect.record, effect.resourceVersion),
        (lease) =>
          this.#tellLease(lease === undefined ? { kind: "not-written", why: "conflict" } : { kind: "written", lease }),
        () => this.#tellLease({ kind: "not-written", why: "failed" }),
        isCut,
      );
    }
  }

  #watch(place: number, event: AllocatorEvent): void {
    if (place <= this.#listedAt) return;
    this.#heard.push([place, event]);
    this.#allocator.note(event, this.#world.post.nowMs);
  }

  /** After winning everything is listed, then it may act. */
  #list(): void {
    if (this.#isListing) return;
    this.#isListing = true;
    const { server, post } = this.#world;
    this.#ask(
      () => ({ services: [...server.services.values()], told: server.told }),
      ({ services, told }) => {
        this.#isListing = false;
        if (!isHolder(this.#lease, post.nowMs)) return;
        this.#listedAt = told;
        this.#allocator.note({ kind: "services", services }, post.nowMs);
        for (const [place, event] of this.#heard) if (place > told) this.#allocator.note(event, post.nowMs);
        const fence = `${this.#identity}/${this.#lease.observed?.lease?.record.transitions}`;
        this.#allocator.note({ kind: "lead", fence }, post.nowMs);
      },
      () => {
        this.#isListing = false;
      },
    );
  }

  #act(effect: Effect): void {
    const { post, server } = this.#world;
    if (effect.kind === "read-again") {
      const { key } = effect;
      this.#ask(
        () => server.services.get(key),
        (found) =>
          this.#allocator.note(
            found === undefined ? { kind: "service-gone", key } : { kind: "service", service: found },
            post.nowMs,
          ),
        () => {},
      );
    }
    if (effect.kind !== "write") return;
    const { key, id } = effect;
    const answer = (rest: object) =>
      this.#allocator.note({ kind: "written", key, id, ...rest } as AllocatorEvent, post.nowMs);
    // Asked again for each: the loop may have stood still since the last.
    if (!isHolder(this.#lease, post.nowMs)) return answer({ answer: "refused" });
    this.#ask(
      () => server.write(effect),
      (result) => answer(typeof result === "string" ? { answer: result } : { answer: "done", service: result }),
      () => answer({ answer: "unknown" }),
    );
  }

  /** `take` gets what the server said, unless it comes too late or is lost: then `giveUp` is called at the time limit. */
  #ask<Answer>(serve: () => Answer, take: (answer: Answer) => void, giveUp: () => void, isCut = false): void {
    const { post, random } = this.#world;
    const hasTrouble = this.#world.isTroubled && random.below(4) === 0;
    const thereMs = hasTrouble ? random.below(TIMEOUT_MS + STRAY_MS) : random.below(200);
    const backMs = hasTrouble ? random.below(2 * TIMEOUT_MS) : random.below(200);
    const isLost = isCut || (hasTrouble && random.below(3) === 0);
    let isOver = false;
    post.later(TIMEOUT_MS, () =>
      this.#hear(() => {
        if (isOver) return;
        isOver = true;
        giveUp();
      }),
    );
    if (isLost) return;
    post.later(thereMs, () => {
      const answer = serve();
      post.later(backMs, () =>
        this.#hear(() => {
          if (isOver) return;
          isOver = true;
          take(answer);
        }),
      );
    });
  }
}

const SURROUNDINGS: readonly AllocatorEvent[] = [
  { kind: "pools", pools: [POOL] },
  { kind: "namespaces", namespaces: new Map() },
  { kind: "nodes", nodes: new Map() },
  { kind: "reservations", reserved: "", pinned: "" },
];

class World {
  readonly post = new Post();
  readonly server = new Server();
  readonly random: SeededRandom;
  isTroubled = true;
  readonly controllers: readonly Controller[];

  constructor(seed: number) {
    this.random = new SeededRandom(seed);
    this.controllers = ["c1", "c2", "c3"].map((name) => new Controller(name, this));
  }

  run(ms: number): void {
    for (let passedMs = 0; passedMs < ms; passedMs += STEP_MS) {
      this.post.advance();
      for (const controller of this.controllers) controller.run();
    }
  }
}

function doubled(services: readonly AllocatorService[]): readonly string[] {
  const all = services.flatMap((one) => statusAddresses(one).map((ip) => ({ ip, key: keyOf(one) })));
  return all.filter(({ ip }, index) => all.findIndex((other) => other.ip === ip) !== index).map(({ ip }) => ip);
}

function trouble(what: "frozenUntilMs" | "leaseCutUntilMs" | "watchCutUntilMs") {
  return {
    weight: 1,
    arbitrary: fc.tuple(fc.nat(2), fc.nat(30_000)).map(([index, ms]) => (world: World) => {
      const controller = world.controllers[index];
      if (controller) controller[what] = world.post.nowMs + ms;
    }),
  };
}

const step = fc.oneof(
  { weight: 3, arbitrary: fc.nat(2).map((index) => (world: World) => create(world, NAMES[index] ?? "")) },
  { weight: 2, arbitrary: fc.nat(2).map((index) => (world: World) => world.server.remove(`default/${NAMES[index]}`)) },
  trouble("frozenUntilMs"),
  trouble("leaseCutUntilMs"),
  trouble("watchCutUntilMs"),
  { weight: 1, arbitrary: fc.boolean().map((isTroubled) => (world: World) => void (world.isTroubled = isTroubled)) },
);

function create(world: World, name: string): void {
  if (!world.server.services.has(`default/${name}`)) world.server.put(service(name, IPV4_ONLY));
}

describe("several controllers", () => {
  it("never give one address to two Services, and serve everybody when all is well again", () => {
    let took = 0;
    fc.assert(
      fc.property(fc.nat(), fc.array(fc.tuple(step, fc.nat(8_000)), { maxLength: 25, size: "max" }), (seed, story) => {
        const world = new World(seed);
        for (const [take, ms] of story) {
          take(world);
          world.run(ms);
        }
        world.isTroubled = false;
        world.run(CALM_MS);
        expect(world.controllers.filter(({ isActing }) => isActing)).to.have.lengthOf(1);
        const { size } = world.server.services;
        const served = [...world.server.services.values()].filter((one) => statusAddresses(one).length === 1);
        expect(served).to.have.lengthOf(Math.min(1, size));
        took += served.length;
      }),
      { numRuns: HISTORIES },
    );
    expect(took).to.be.greaterThan(HISTORIES / 2);
  }).timeout(0);
});
