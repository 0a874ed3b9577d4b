/** The keeper on a virtual clock, before an API server that holds one Lease. */
import { expect } from "chai";
import { VirtualClock } from "../../../src/base/clock.ts";
import { ArpeggioError } from "../../../src/base/errors.ts";
import { createLog } from "../../../src/base/log.ts";
import type { ApiAnswer, ApiRequest } from "../../../src/kube/api-server.ts";
import { LeaseKeeper } from "../../../src/kube/lease/lease-keeper.ts";
import { readLease } from "../../../src/kube/lease/lease-object.ts";

const FOLDER = "/apis/coordination.k8s.io/v1/namespaces/metallb-system/leases";

class Server {
  lease: { readonly metadata: object; readonly spec: Readonly<Record<string, unknown>> } | undefined;
  isAway = false;
  readonly asked: string[] = [];
  refreshes = 0;
  #version = 100;

  async request({ method, path, body }: ApiRequest): Promise<ApiAnswer> {
    this.asked.push(`${method} ${path.replace(FOLDER, "leases")}`);
    if (this.isAway) throw new ArpeggioError("ERR_API_UNREACHABLE", "away");
    if (method === "GET")
      return this.lease === undefined ? { status: 404, body: {} } : { status: 200, body: this.lease };
    const { metadata, spec } = body as {
      readonly metadata: { readonly resourceVersion?: string };
      readonly spec: object;
    };
    if (metadata.resourceVersion !== this.#held) return { status: 409, body: {} };
    this.lease = { metadata: { resourceVersion: String(++this.#version) }, spec: { ...spec } };
    return { status: 200, body: this.lease };
  }

  refreshCredentials(): void {
    this.refreshes++;
  }

  get holder(): unknown {
    return this.lease?.spec["holderIdentity"];
  }

  get #held(): string | undefined {
    return readLease(this.lease)?.resourceVersion;
  }
}

/** Answers arrive between the clock's turns. */
async function pass(clock: VirtualClock, ms: number): Promise<void> {
  const untilMs = clock.nowMs() + ms;
  do {
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    clock.advance(Math.min(100, untilMs - clock.nowMs()));
  } while (clock.nowMs() < untilMs);
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
}

describe("LeaseKeeper", () => {
  let clock: VirtualClock;
  let server: Server;
  let changes: string[];

  beforeEach(() => {
    clock = new VirtualClock(1_000);
    server = new Server();
    changes = [];
  });

  function keeper(identity: string): LeaseKeeper {
    const made: LeaseKeeper = new LeaseKeeper({
      api: server,
      namespace: "metallb-system",
      name: "arpeggio-controller",
      identity,
      clock,
      log: createLog("none", () => {}, Date.now),
      onChange: () => changes.push(`${identity} ${made.isHolder}`),
    });
    return made;
  }

  it("asks for nothing before the Lease was heard of, then takes it and renews it every 2 s", async () => {
    const one = keeper("a_1");
    await pass(clock, 5_000);
    expect(server.asked).to.deep.equal([]);
    one.observe(undefined);
    await pass(clock, 6_500);
    expect(server.asked).to.deep.equal([
      "POST leases",
      "PUT leases/arpeggio-controller",
      "PUT leases/arpeggio-controller",
      "PUT leases/arpeggio-controller",
    ]);
    expect([one.isHolder, changes]).to.deep.equal([true, ["a_1 true"]]);
    one.close();
  });

  it("stops by its own clock 10 s after the last renewal was sent, and says so at once", async () => {
    const one = keeper("a_1");
    one.observe(undefined);
    await pass(clock, 100);
    server.isAway = true;
    await pass(clock, 9_000);
    expect(one.isHolder).to.equal(true);
    await pass(clock, 1_000);
    expect([one.isHolder, changes]).to.deep.equal([false, ["a_1 true", "a_1 false"]]);
    expect(one.failure).to.equal("away");
    server.isAway = false;
    await pass(clock, 5_000);
    expect([one.isHolder, one.failure]).to.deep.equal([true, undefined]);
    one.close();
  });

  it("does not hold it after it stood still, though no timer has told it so yet", async () => {
    const one = keeper("a_1");
    one.observe(undefined);
    await pass(clock, 100);
    const stopped = { nowMs: clock.nowMs() + 20_000 };
    clock.nowMs = () => stopped.nowMs;
    expect(one.isHolder).to.equal(false);
    expect(changes).to.deep.equal(["a_1 true"]);
    one.close();
  });

  it("follows a holder that says nothing for 15 s, and not one that renews", async () => {
    const [one, two] = [keeper("a_1"), keeper("b_1")];
    one.observe(undefined);
    await pass(clock, 100);
    for (let second = 0; second < 20; second++) {
      two.observe(readLease(server.lease));
      await pass(clock, 1_000);
    }
    expect([one.isHolder, two.isHolder]).to.deep.equal([true, false]);
    one.close();
    two.observe(readLease(server.lease));
    await pass(clock, 14_000);
    expect(two.isHolder).to.equal(false);
    await pass(clock, 3_000);
    expect([two.isHolder, server.holder]).to.deep.equal([true, "b_1"]);
    expect(server.lease?.spec["leaseTransitions"]).to.equal(1);
    two.close();
  });

  it("gives it back, resolves then, and does not take it again", async () => {
    const one = keeper("a_1");
    one.observe(undefined);
    await pass(clock, 100);
    const released = one.release();
    expect(one.isHolder).to.equal(false);
    await pass(clock, 100);
    await released;
    expect(server.holder).to.equal("");
    one.observe(readLease(server.lease));
    await pass(clock, 30_000);
    expect(server.holder).to.equal("");
    one.close();
  });

  it("ends its wait for the answer after a second", async () => {
    const one = keeper("a_1");
    one.observe(undefined);
    await pass(clock, 100);
    server.request = () => new Promise(() => {});
    let isOver = false;
    void one.release().then(() => (isOver = true));
    await pass(clock, 900);
    expect(isOver).to.equal(false);
    await pass(clock, 200);
    expect(isOver).to.equal(true);
    one.close();
  });
});
