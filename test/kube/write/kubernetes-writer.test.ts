import { expect } from "chai";
import { VirtualClock } from "../../../src/base/clock.ts";
import { l2StatusName } from "../../../src/kube/write/l2-status.ts";
import { MemoryApiServer } from "./memory-api-server.ts";
import { LEADING, NAMESPACE, pass, WriterBench } from "./writer-bench.ts";

const MINE = l2StatusName("default/web", "n2");

function foreign(node: string, name = `l2-${node}`) {
  return {
    metadata: {
      name,
      labels: {
        "metallb.io/node": node,
        "metallb.io/service-name": "web",
        "metallb.io/service-namespace": "default",
      },
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "speaker-x", uid: "uid-pod-x" }],
    },
    status: { node, serviceName: "web", serviceNamespace: "default" },
  };
}

describe("KubernetesWriter: ServiceL2Status", () => {
  it("a take-over is three writes: mine, its status, the other one's end", async () => {
    const bench = new WriterBench();
    bench.api.put("servicel2statuses", NAMESPACE, foreign("n1"));
    bench.listed();
    bench.report(LEADING);
    await bench.run(60_000);
    expect(bench.statusWrites).to.deep.equal([
      "POST servicel2statuses",
      "PATCH servicel2statuses/status",
      "DELETE servicel2statuses",
    ]);
    expect(bench.api.list("servicel2statuses").map(({ metadata, status }) => [metadata, status])).to.deep.equal([
      [
        {
          name: MINE,
          namespace: NAMESPACE,
          uid: bench.api.list("servicel2statuses")[0]?.metadata.uid,
          resourceVersion: bench.api.list("servicel2statuses")[0]?.metadata.resourceVersion,
          labels: {
            "metallb.io/node": "n2",
            "metallb.io/service-name": "web",
            "metallb.io/service-namespace": "default",
          },
          annotations: {
            "arpeggio.dev/since": "2026-01-01T00:00:00.000Z",
            "arpeggio.dev/reason": "lowest-hash",
            "arpeggio.dev/previous-node": "n1",
            "arpeggio.dev/mac": "eth0=02:00:00:00:00:01",
            "arpeggio.dev/rank": "1/3",
          },
          ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "speaker-b", uid: "uid-pod-b" }],
        },
        { node: "n2", serviceName: "web", serviceNamespace: "default" },
      ],
    ]);
  });

  for (const lagMs of [0, 20, 5_000, 25_000]) {
    it(`is quiet afterwards, though the watch comes ${lagMs} ms late`, async () => {
      const bench = new WriterBench({ lagMs }).listed();
      bench.report(LEADING);
      await bench.run(30_000);
      bench.report({ ...LEADING });
      await bench.run(600_000);
      expect(bench.statusWrites).to.deep.equal(["POST servicel2statuses", "PATCH servicel2statuses/status"]);
    });
  }

  it("writes nothing before the statuses are listed", async () => {
    const bench = new WriterBench();
    bench.report(LEADING);
    await bench.run(30_000);
    expect(bench.statusWrites).to.deep.equal([]);
    bench.listed();
    await bench.run(100);
    expect(bench.api.list("servicel2statuses")).to.have.length(1);
  });

  it("the loser's own goes after 10 s, unless the new leader was quicker", async () => {
    const bench = new WriterBench().listed();
    bench.report(LEADING);
    await bench.run(1_000);
    bench.report(undefined);
    await bench.run(9_900);
    expect(bench.api.list("servicel2statuses")).to.have.length(1);
    await bench.run(300);
    expect(bench.api.list("servicel2statuses")).to.have.length(0);
  });

  it("nodes that come and go change the rank in one write, once it has stood for 30 s", async () => {
    const bench = new WriterBench().listed();
    bench.report(LEADING);
    await bench.run(60_000);
    for (const candidates of [4, 3, 4]) {
      bench.report({ ...LEADING, candidates });
      await bench.run(5_000);
    }
    await bench.run(24_000);
    expect(bench.statusWrites).to.have.length(2);
    await bench.run(2_000);
    expect(bench.statusWrites.slice(2)).to.deep.equal(["PATCH servicel2statuses"]);
  });

  it("one that others delete is made again, ever more slowly", async () => {
    const bench = new WriterBench().listed();
    bench.report(LEADING);
    await bench.run(30_000);
    bench.api.remove("servicel2statuses", NAMESPACE, MINE);
    await bench.run(600);
    expect(bench.api.list("servicel2statuses")).to.have.length(1);
    const before = bench.statusWrites.length;
    for (let second = 0; second < 120; second++) {
      bench.api.remove("servicel2statuses", NAMESPACE, MINE);
      await bench.run(1_000);
    }
    expect(bench.statusWrites.length - before).to.be.within(8, 20);
  });

  it("start: what this node no longer leads goes after 10 s, what it leads gets its new owner first", async () => {
    const bench = new WriterBench();
    bench.api.put("servicel2statuses", NAMESPACE, foreign("n2", MINE));
    bench.api.put("servicel2statuses", NAMESPACE, {
      ...foreign("n2", "l2-old"),
      metadata: { name: "l2-old", labels: { ...foreign("n2").metadata.labels, "metallb.io/service-name": "old" } },
    });
    bench.listed();
    bench.report(LEADING);
    await bench.run(1_000);
    expect(bench.statusWrites).to.deep.equal(["PATCH servicel2statuses"]);
    expect(bench.api.list("servicel2statuses")[0]?.metadata["ownerReferences"]).to.deep.equal([
      { apiVersion: "v1", kind: "Pod", name: "speaker-b", uid: "uid-pod-b" },
    ]);
    await bench.run(10_000);
    expect(bench.api.list("servicel2statuses").map(({ metadata }) => metadata.name)).to.deep.equal([MINE]);
  });

  it("two speakers that both believe to lead do not flood the API server", async () => {
    const clock = new VirtualClock(1_000);
    const api = new MemoryApiServer();
    const [one, two] = ["n1", "n2"].map((node) => new WriterBench({ node, api, clock }).listed());
    one?.report(LEADING);
    two?.report(LEADING);
    await pass(clock, 600_000);
    expect(one?.statusWrites.length).to.be.lessThan(100);
    two?.report(undefined);
    await pass(clock, 120_000);
    expect(api.list("servicel2statuses").map(({ metadata }) => metadata.name)).to.deep.equal([
      l2StatusName("default/web", "n1"),
    ]);
  });

  it("A, B, A: three events, and one status at the end", async () => {
    const clock = new VirtualClock(1_000);
    const api = new MemoryApiServer();
    const [one, two] = ["n1", "n2"].map((node) => new WriterBench({ node, api, clock }).listed());
    const lead = { ...LEADING, sinceMs: 1 };
    one?.report(lead);
    await pass(clock, 3_000);
    one?.report(undefined);
    two?.report({ ...lead, sinceMs: 2 });
    await pass(clock, 3_000);
    two?.report(undefined);
    one?.report({ ...lead, sinceMs: 3 });
    await pass(clock, 3_000);
    expect(api.list("events").map(({ message }) => String(message).slice(0, 25))).to.deep.equal([
      'announcing from node "n1"',
      'announcing from node "n2"',
      'announcing from node "n1"',
    ]);
    expect(api.list("servicel2statuses").map(({ status }) => status)).to.deep.equal([
      { node: "n1", serviceName: "web", serviceNamespace: "default" },
    ]);
  });

  it("the API server away: the newest state is written when it is back", async () => {
    const bench = new WriterBench().listed();
    bench.api.trouble = () => "away";
    bench.report(LEADING);
    await bench.run(60_000);
    bench.report({ ...LEADING, restrictedTo: ["eth1", "eth0"] });
    bench.report(undefined, "default/gone");
    await bench.run(60_000);
    expect(bench.writer.status().objects.isApiAway).to.equal(true);
    const asked = bench.api.requests.length;
    expect(asked).to.be.lessThan(60);
    bench.api.trouble = undefined;
    await bench.run(31_000);
    expect(bench.api.list("servicel2statuses").map(({ status }) => status)).to.deep.equal([
      { node: "n2", serviceName: "web", serviceNamespace: "default", interfaces: [{ name: "eth0" }, { name: "eth1" }] },
    ]);
    expect(bench.writer.status().objects).to.include({ isApiAway: false, pending: 0 });
    expect(bench.lines.filter((line) => line.includes("takes no writes"))).to.have.length(2);
  });

  it("many at once: a burst of 50, then 20 a second", async () => {
    const bench = new WriterBench().listed();
    const changes = Array.from({ length: 300 }, (_, index) => ({ service: `default/s${index}`, report: LEADING }));
    await bench.run(60_000);
    const before = bench.statusWrites.length;
    bench.writer.apply(changes);
    await bench.run(1_000);
    expect(bench.statusWrites.length - before).to.be.within(50, 72);
    await bench.run(4_000);
    expect(bench.statusWrites.length - before).to.be.within(130, 152);
  });

  it("a missing right is said once, shown, and tried once a minute", async () => {
    const bench = new WriterBench().listed();
    await bench.run(20_000);
    bench.api.trouble = ({ path }) =>
      path.includes("servicel2statuses") ? { status: 403, body: { message: "forbidden" } } : undefined;
    bench.report(LEADING);
    await bench.run(600_000);
    expect(bench.writer.status().objects.missingRights).to.deep.equal([
      "may not create servicel2statuses in namespace metallb-system",
    ]);
    expect(bench.lines.filter((line) => line.includes("missing right"))).to.have.length(1);
    expect(bench.statusWrites.length).to.be.within(4, 12);
    bench.api.trouble = undefined;
    await bench.run(301_000);
    expect(bench.writer.status().objects.missingRights).to.deep.equal([]);
  });

  it("what the server accepts and does not keep is not written for ever", async () => {
    const bench = new WriterBench().listed();
    bench.report({ ...LEADING, restrictedTo: ["eth0"] });
    bench.api.trouble = ({ path }) => {
      if (!path.endsWith("/status") || !path.includes("servicel2statuses")) return undefined;
      return { status: 200, body: bench.api.list("servicel2statuses")[0] };
    };
    await bench.run(600_000);
    expect(bench.statusWrites.length).to.be.lessThan(15);
    const { lastError, lastErrorWallMs } = bench.writer.status().objects;
    expect(lastError).to.contain("does not keep it");
    expect(lastErrorWallMs).to.be.within(bench.clock.wallMs() - 3_600_000, bench.clock.wallMs());
  });

  it("a token that is refused is read again and the write repeated at once", async () => {
    const bench = new WriterBench().listed();
    bench.report(LEADING);
    bench.api.trouble = () => (bench.api.refreshes === 0 ? { status: 401, body: undefined } : undefined);
    await bench.run(100);
    expect(bench.api.list("servicel2statuses")).to.have.length(1);
  });

  it("after close nothing is asked", async () => {
    const bench = new WriterBench().listed();
    bench.report(LEADING);
    await bench.run(0);
    bench.writer.close();
    const before = bench.api.requests.length;
    await bench.run(60_000);
    expect(bench.api.requests.length).to.equal(before);
    expect(bench.clock.nextMs()).to.equal(undefined);
  });
});
