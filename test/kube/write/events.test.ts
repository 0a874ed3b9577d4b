import { expect } from "chai";
import { firstByHash } from "../../../src/kube/write/first-by-hash.ts";
import type { ServiceReport } from "../../../src/kube/write/service-report.ts";
import { LEADING, NAMESPACE, WriterBench } from "./writer-bench.ts";

const NOT_ANNOUNCED: ServiceReport = {
  kind: "not-announced",
  addresses: ["192.0.2.10"],
  reason: "no-advertisement",
  sentence: "no advertisement selects pool p",
};

function bgp(uid: string) {
  const problem = "not-served" as const;
  return { kind: "BGPAdvertisement", namespace: NAMESPACE, name: "x", uid, sentence: "", problem };
}

function messages(bench: WriterBench): string[] {
  return bench.events.map(({ reason, message }) => `${String(reason)}: ${String(message)}`);
}

describe("KubernetesWriter: events", () => {
  it("writes a core/v1 Event that describe shows and tools find", async () => {
    const bench = new WriterBench().listed();
    bench.report(LEADING);
    await bench.run(1_000);
    const [event] = bench.events;
    expect(event?.["metadata"]).to.include({ namespace: "default" });
    expect(bench.api.list("events")[0]?.metadata.name).to.match(/^web\.[0-9a-f]{16}$/);
    const { metadata: _metadata, ...rest } = event ?? {};
    expect(rest).to.deep.equal({
      apiVersion: "v1",
      kind: "Event",
      involvedObject: { apiVersion: "v1", kind: "Service", namespace: "default", name: "web", uid: "uid-web" },
      type: "Normal",
      reason: "nodeAssigned",
      message:
        'announcing from node "n2" with protocol "layer2": 192.0.2.10, 2001:db8::10 on eth0; before: n1; reason: lowest-hash',
      source: { component: "metallb-speaker" },
      reportingComponent: "metallb-speaker",
      reportingInstance: "speaker-b",
      count: 1,
      firstTimestamp: "2026-01-01T00:00:00Z",
      lastTimestamp: "2026-01-01T00:00:00Z",
    });
  });

  for (const { name, report, expected } of [
    {
      name: "a leader without a predecessor",
      report: { ...LEADING, addresses: ["192.0.2.10"], previousNode: undefined, reason: "only-candidate" },
      expected: [
        'nodeAssigned: announcing from node "n2" with protocol "layer2": 192.0.2.10 on eth0; reason: only-candidate',
      ],
    },
    {
      name: "no link, for each address",
      report: { kind: "no-link", addresses: ["192.0.2.10", "2001:db8::10"] },
      expected: ["192.0.2.10", "2001:db8::10"].map(
        (address) =>
          `announceFailed: the interfaces specified by LB IP "${address}" doesn't exist in assigned node "n2" with protocol "layer2"`,
      ),
    },
    { name: "nobody leads", report: NOT_ANNOUNCED, expected: ["notAnnounced: no advertisement selects pool p"] },
  ] as { name: string; report: ServiceReport; expected: string[] }[]) {
    it(`says ${name}`, async () => {
      const bench = new WriterBench().listed();
      bench.report(report);
      await bench.run(5_000);
      expect(messages(bench)).to.deep.equal(expected);
      bench.report({ ...report });
      await bench.run(60_000);
      expect(messages(bench)).to.deep.equal(expected);
    });
  }

  it("another rank, MAC or reason is no event; other addresses are", async () => {
    const bench = new WriterBench().listed();
    bench.report(LEADING);
    await bench.run(1_000);
    bench.report({ ...LEADING, rank: 2, reason: "best-tier", links: [{ name: "eth0", mac: "02:00:00:00:00:02" }] });
    await bench.run(1_000);
    expect(bench.events).to.have.length(1);
    bench.report({ ...LEADING, addresses: ["192.0.2.11"] });
    await bench.run(1_000);
    expect(bench.events).to.have.length(2);
  });

  it("trouble that ends within 2 s is none", async () => {
    const bench = new WriterBench().listed();
    bench.report(NOT_ANNOUNCED);
    await bench.run(1_500);
    bench.report(LEADING);
    await bench.run(60_000);
    expect(bench.events.map(({ reason }) => reason)).to.deep.equal(["nodeAssigned"]);
    expect(bench.writer.status().events.dropped).to.equal(0);
  });

  it("a flapping Service: five, then the latest every two minutes; what is dropped is counted", async () => {
    const bench = new WriterBench().listed();
    for (let second = 1; second <= 60; second++) {
      bench.report({ ...LEADING, sinceMs: second });
      await bench.run(1_000);
    }
    expect(bench.events).to.have.length(5);
    await bench.run(61_000);
    expect(bench.events).to.have.length(6);
    expect(bench.events[5]?.["firstTimestamp"]).to.equal("2026-01-01T00:00:59Z");
    await bench.run(600_000);
    expect(bench.events).to.have.length(6);
    expect(bench.writer.status().events.dropped).to.equal(54);
  });

  it("what a Service says does not spend what another may say; 50 a second in all", async () => {
    const bench = new WriterBench().listed();
    await bench.run(60_000);
    for (let index = 0; index < 200; index++) {
      bench.services.set(`default/s${index}`, `uid-${index}`);
      bench.report(LEADING, `default/s${index}`);
    }
    await bench.run(1_000);
    expect(bench.events.length).to.be.within(95, 105);
    await bench.run(3_000);
    expect(bench.events).to.have.length(200);
  });

  it("a restart is no transition when the status of the former process says the same", async () => {
    const former = new WriterBench().listed();
    former.report(LEADING);
    await former.run(1_000);
    former.writer.close();
    const bench = new WriterBench({ api: former.api });
    bench.report({ ...LEADING, sinceMs: LEADING.sinceMs + 5_000 });
    await bench.run(5_000);
    bench.listed();
    await bench.run(60_000);
    expect(bench.events).to.have.length(1);
    bench.report(undefined);
    bench.report({ ...LEADING, sinceMs: LEADING.sinceMs + 70_000 });
    await bench.run(1_000);
    expect(bench.events).to.have.length(2);
  });

  it("a restart is one when another led meanwhile", async () => {
    const bench = new WriterBench();
    bench.report(LEADING);
    await bench.run(5_000);
    bench.listed();
    await bench.run(1_000);
    expect(bench.events).to.have.length(1);
  });

  it("an answer that was lost gives no second event", async () => {
    const bench = new WriterBench().listed();
    let lost = 0;
    bench.api.trouble = (request) => {
      if (request.method !== "POST" || !request.path.endsWith("/events") || lost++ > 0) return undefined;
      bench.api.put("events", "default", request.body as Record<string, unknown>);
      return "away";
    };
    bench.report(LEADING);
    await bench.run(60_000);
    expect(bench.events).to.have.length(1);
    expect(bench.writer.status().events.pending).to.equal(0);
  });

  it("a namespace that is being deleted takes no events, which is no missing right", async () => {
    const bench = new WriterBench().listed();
    const body = { message: "being terminated", details: { causes: [{ reason: "NamespaceTerminating" }] } };
    bench.api.trouble = ({ path }) => (path.endsWith("/events") ? { status: 403, body } : undefined);
    bench.report(LEADING);
    await bench.run(600_000);
    expect(bench.writer.status().events).to.include({ dropped: 1, pending: 0 });
    expect(bench.writer.status().events.missingRights).to.deep.equal([]);
    expect(bench.api.writes.filter(({ path }) => path.endsWith("/events"))).to.have.length(1);
  });

  it("a BGP resource is named once per process, by one of all speakers", async () => {
    const uids = Array.from({ length: 20 }, (_, index) => `uid-bgp-${index}`);
    const names: string[] = [];
    for (const node of ["n1", "n2", "n3"]) {
      const bench = new WriterBench({ node, members: ["n1", "n2", "n3"] }).listed();
      for (let round = 0; round < 3; round++) {
        bench.writer.problemsChanged(uids.map(bgp));
        await bench.run(20_000);
      }
      names.push(
        ...bench.events.map(({ involvedObject }) => String((involvedObject as Record<string, unknown>)["uid"])),
      );
      for (const message of messages(bench)) {
        expect(message).to.equal("bgpNotServed: BGPAdvertisement x is not served by Arpeggio");
      }
      expect(bench.events).to.have.length(uids.filter((uid) => firstByHash(["n3", "n1", "n2"], uid) === node).length);
    }
    expect(names.toSorted()).to.deep.equal(uids.toSorted());
  });
});

describe("firstByHash", () => {
  it("is the member whose `member#subject` has the lowest SHA-256 (by sha256sum)", () => {
    // n1: 11a2a6d3…, n2: 75ceffc7…, n3: c7af1610…
    expect(firstByHash(["n1", "n2", "n3"], "uid-1")).to.equal("n1");
  });

  it("is nobody without members", () => expect(firstByHash([], "uid-1")).to.equal(undefined));
});
