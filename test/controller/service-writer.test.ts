import { expect } from "chai";
import { ServiceWriter, WRITES_AT_ONCE } from "../../controller/service-writer.ts";
import type { Effect, WriteAnswer } from "../../src/allocator/ports.ts";
import { VirtualClock } from "../../src/base/clock.ts";
import { ArpeggioError } from "../../src/base/errors.ts";
import { createLog } from "../../src/base/log.ts";
import type { ApiAnswer, ApiRequest } from "../../src/kube/api-server.ts";
import type { Ip } from "../../src/net/ip.ts";
import { resource } from "../allocator/services.ts";

type Write = Extract<Effect, { kind: "write" }>;

const IP = "192.0.2.10" as Ip;

function write(id: number, change: Write["change"] = { ingress: [IP] }): Write {
  return { kind: "write", id, key: "default/web", uid: "u1", resourceVersion: "7", change };
}

class Desk {
  readonly clock = new VirtualClock(0);
  readonly requests: ApiRequest[] = [];
  readonly answers: WriteAnswer[] = [];
  answer: (request: ApiRequest) => Promise<ApiAnswer> = async () => ({ status: 200, body: resource("web") });
  mayWrite = true;
  ended = 0;
  refreshes = 0;
  readonly writer = new ServiceWriter({
    api: {
      url: "memory:",
      request: (request) => {
        this.requests.push(request);
        return this.answer(request);
      },
      stream: () => () => {},
      refreshCredentials: () => void this.refreshes++,
      endConnections: () => void this.ended++,
      close: () => {},
    },
    clock: this.clock,
    log: createLog("none", () => {}, Date.now),
    mayWrite: () => this.mayWrite,
    answered: (answer) => void this.answers.push(answer),
  });

  async put(...writes: readonly Write[]): Promise<void> {
    for (const each of writes) this.writer.put(each);
    await settled();
  }
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

describe("ServiceWriter", () => {
  it("patches the status strategically, made conditional on uid and version, with a time limit for the server", async () => {
    const desk = new Desk();
    const condition = { status: "True", reason: "Allocated", message: "m", lastTransitionTime: "t" } as const;
    await desk.put(
      write(1, { ingress: [IP], pool: "main", condition }),
      write(2, { ingress: [], pool: null, condition: null }),
    );
    const [first, second] = desk.requests;
    expect(first).to.deep.include({
      method: "PATCH",
      path: "/api/v1/namespaces/default/services/web/status",
      query: { timeout: "4s", fieldManager: "arpeggio-controller" },
      contentType: "application/strategic-merge-patch+json",
    });
    expect(first?.body).to.deep.equal({
      metadata: { uid: "u1", resourceVersion: "7", annotations: { "metallb.io/ip-allocated-from-pool": "main" } },
      status: {
        loadBalancer: { ingress: [{ ip: IP }] },
        conditions: [{ type: "arpeggio.dev/Allocated", ...condition }],
      },
    });
    expect(second?.body).to.deep.equal({
      metadata: { uid: "u1", resourceVersion: "7", annotations: { "metallb.io/ip-allocated-from-pool": null } },
      status: { loadBalancer: { ingress: [] }, conditions: [{ type: "arpeggio.dev/Allocated", $patch: "delete" }] },
    });
    expect(desk.answers.map(({ id, answer }) => [id, answer])).to.deep.equal([
      [1, "done"],
      [2, "done"],
    ]);
  });

  for (const { status, answer } of [
    { status: 409, answer: "conflict" },
    { status: 404, answer: "gone" },
    { status: 400, answer: "refused" },
    { status: 403, answer: "refused" },
    { status: 422, answer: "refused" },
    { status: 429, answer: "refused" },
    { status: 408, answer: "unknown" },
    { status: 500, answer: "unknown" },
    { status: 504, answer: "unknown" },
  ]) {
    it(`takes ${status} for ${answer}`, async () => {
      const desk = new Desk();
      desk.answer = async () => ({ status, body: {} });
      await desk.put(write(1));
      expect(desk.answers).to.deep.equal([{ kind: "written", key: "default/web", id: 1, answer }]);
    });
  }

  it("takes no answer for unknown, and what was not sent for refused", async () => {
    const desk = new Desk();
    desk.answer = () => Promise.reject(new ArpeggioError("ERR_API_UNREACHABLE", "away"));
    await desk.put(write(1));
    desk.answer = () => Promise.reject(new ArpeggioError("ERR_API_WITHHELD", "late"));
    await desk.put(write(2));
    expect(desk.answers.map(({ answer }) => answer)).to.deep.equal(["unknown", "refused"]);
    expect(desk.writer.status()).to.deep.include({ failed: 1, lastError: "away" });
    desk.mayWrite = false;
    expect(desk.requests.map(({ mayBegin }) => mayBegin?.())).to.deep.equal([false, false]);
  });

  it("reads a refused token anew, once", async () => {
    const desk = new Desk();
    desk.answer = async () =>
      desk.refreshes === 0 ? { status: 401, body: {} } : { status: 200, body: resource("web") };
    await desk.put(write(1));
    expect(desk.answers.map(({ answer }) => answer)).to.deep.equal(["done"]);
    expect(desk.requests).to.have.length(2);
  });

  it("has sixteen under way at most, and after 429 none for as long as the server says", async () => {
    const desk = new Desk();
    const open: ((answer: ApiAnswer) => void)[] = [];
    desk.answer = () => new Promise((resolve) => void open.push(resolve));
    await desk.put(...Array.from({ length: WRITES_AT_ONCE + 3 }, (_, id) => write(id)));
    expect(desk.requests).to.have.length(WRITES_AT_ONCE);
    expect(desk.writer.status().pending).to.equal(WRITES_AT_ONCE + 3);
    open[0]?.({ status: 200, body: resource("web") });
    await settled();
    expect(desk.requests).to.have.length(WRITES_AT_ONCE + 1);
    open[1]?.({ status: 429, body: {}, retryAfterSeconds: 2 });
    await settled();
    expect(desk.requests).to.have.length(WRITES_AT_ONCE + 1);
    desk.clock.advance(2_000);
    await settled();
    expect(desk.requests).to.have.length(WRITES_AT_ONCE + 2);
  });

  it("forgets what waits and ends what is under way when it is dropped, and tells of neither", async () => {
    const desk = new Desk();
    const open: ((answer: ApiAnswer) => void)[] = [];
    desk.answer = () => new Promise((resolve) => void open.push(resolve));
    await desk.put(...Array.from({ length: 20 }, (_, id) => write(id)));
    desk.writer.drop();
    expect([desk.ended, desk.writer.status().pending]).to.deep.equal([1, 0]);
    for (const answer of open) answer({ status: 200, body: resource("web") });
    await settled();
    expect(desk.answers).to.deep.equal([]);
    await desk.put(write(21));
    expect(desk.requests).to.have.length(17);
  });
});
