import { expect } from "chai";
import { type Deed, judgeAllocation, judgeSuccessions } from "../../hack/kube-cluster/allocation/judge.ts";
import {
  parseServiceWrite,
  parseUnclearDelete,
  type ServiceWrite,
  withUnclearDeletes,
} from "../../hack/kube-cluster/allocation/service-writes.ts";

const ALLOCATOR = "system:serviceaccount:metallb-system:arpeggio-controller";
const FIRST = "192.0.2.1";

/** As the API server of Kubernetes 1.36 wrote it, shortened in what is not read. */
const DELETE = `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"RequestResponse","auditID":"7ac9365d","stage":"ResponseComplete","requestURI":"/api/v1/namespaces/arpeggio-allocation/services/s9","verb":"delete","user":{"username":"admin","groups":["system:masters"]},"objectRef":{"resource":"services","namespace":"arpeggio-allocation","name":"s9","apiVersion":"v1"},"responseStatus":{"metadata":{},"code":200},"responseObject":{"kind":"Service","apiVersion":"v1","metadata":{"name":"s9","namespace":"arpeggio-allocation","uid":"52809dcf","resourceVersion":"3768"},"spec":{"type":"LoadBalancer"},"status":{"loadBalancer":{"ingress":[{"ip":"198.18.1.5","ipMode":"VIP"},{"ip":"2001:db8:8:1::5","ipMode":"VIP"}]}}},"requestReceivedTimestamp":"2026-11-30T03:46:36.250000Z","stageTimestamp":"2026-11-30T03:46:36.262000Z"}`;

let revisions = 0;

function write(key: string, addresses: readonly string[], others: Partial<ServiceWrite> = {}): ServiceWrite {
  const revision = ++revisions;
  const common = { atMs: revision * 1_000, user: ALLOCATOR, pod: "c1", key, uid: `uid-${key}`, revision };
  return { ...common, isDeleted: false, type: "LoadBalancer", addresses, ...others };
}

const at = (seconds: number, pod: string) => write(`at-${seconds}`, [FIRST], { atMs: seconds * 1_000, pod });
const deed = (kind: Deed["kind"], seconds: number, pod = "c1"): Deed => ({ kind, atMs: seconds * 1_000, pod });
const made = (key: string) => write(key, [], { user: "admin", pod: undefined });

describe("parseServiceWrite", () => {
  it("reads the form that a Service had when it was deleted", () => {
    expect(parseServiceWrite(DELETE)).to.deep.equal({
      atMs: Date.parse("2026-11-30T03:46:36.250Z"),
      user: "admin",
      pod: undefined,
      key: "arpeggio-allocation/s9",
      uid: "52809dcf",
      revision: 3768,
      isDeleted: true,
      type: "LoadBalancer",
      addresses: ["198.18.1.5", "2001:db8:8:1::5"],
    });
  });

  for (const { name, line } of [
    { name: "a refused write", line: DELETE.replace('"code":200', '"code":409') },
    { name: "a dry run", line: DELETE.replace("services/s9", "services/s9?dryRun=All") },
    { name: "another resource", line: DELETE.replace('"resource":"services"', '"resource":"pods"') },
    { name: "an answer that is no Service", line: DELETE.replace('"kind":"Service"', '"kind":"Status"') },
    { name: "half a line", line: DELETE.slice(0, 500) },
    { name: "an empty line", line: "" },
  ]) {
    it(`passes over ${name}`, () => expect(parseServiceWrite(line)).to.equal(undefined));
  }
});

describe("withUnclearDeletes", () => {
  const key = "arpeggio-allocation/s9";

  it("takes a delete that nobody answered for done when a later one finds nothing", () => {
    const unanswered = parseUnclearDelete(
      DELETE.replace('"code":200', '"code":504').replace('"kind":"Service"', '"kind":"Status"'),
    );
    const foundNothing = parseUnclearDelete(
      DELETE.replace('"code":200', '"code":404').replace('"kind":"Service"', '"kind":"Status"'),
    );
    const atMs = Date.parse("2026-11-30T03:46:36.250Z");
    expect(unanswered).to.deep.equal({ key, atMs, foundNothing: false });
    expect(foundNothing).to.deep.equal({ key, atMs, foundNothing: true });
    expect(parseUnclearDelete(DELETE)).to.equal(undefined);
  });

  it("puts it where it was asked for first", () => {
    const [given, other, after] = [write(key, [FIRST]), made("b"), write("b", [FIRST])];
    const asked = { key, atMs: other.atMs, foundNothing: false };
    const again = { key, atMs: after.atMs + 10_000, foundNothing: true };
    const all = withUnclearDeletes([given, other, after], [asked, again]);
    expect(all.map((one) => [one.key, one.isDeleted])).to.deep.equal([
      [key, false],
      ["b", false],
      [key, true],
      ["b", false],
    ]);
    expect(judgeAllocation(all, ALLOCATOR)).to.deep.include({ doubles: [], lost: [] });
  });

  it("does not believe a delete that was answered with an error and never confirmed", () => {
    const writes = [write(key, [FIRST]), made("b"), write("b", [FIRST])];
    const all = withUnclearDeletes(writes, [{ key, atMs: writes[1]?.atMs ?? 0, foundNothing: false }]);
    expect(judgeAllocation(all, ALLOCATOR).doubles).to.have.length(1);
  });

  it("has nothing to add where the first delete was answered", () => {
    const writes = [write(key, [FIRST]), write(key, [FIRST], { isDeleted: true, user: "admin" })];
    expect(withUnclearDeletes(writes, [{ key, atMs: 9e12, foundNothing: true }])).to.deep.equal(writes);
  });
});

describe("judgeAllocation", () => {
  it("finds nothing wrong with an address that one gives back and another gets", () => {
    const gone = write("a", [FIRST], { isDeleted: true, user: "admin" });
    const writes = [made("a"), write("a", [FIRST]), gone, made("b"), write("b", [FIRST])];
    expect(judgeAllocation(writes, ALLOCATOR)).to.include({ allocations: 2 });
    expect(judgeAllocation(writes, ALLOCATOR)).to.deep.include({ doubles: [], lost: [], without: [] });
  });

  it("finds an address that two have", () => {
    const { doubles } = judgeAllocation([made("a"), write("a", [FIRST]), made("b"), write("b", [FIRST])], ALLOCATOR);
    expect(doubles.map(({ key, address, other }) => ({ key, address, other }))).to.deep.equal([
      { key: "b", address: FIRST, other: "a" },
    ]);
  });

  it("finds one that was given before it was given back", () => {
    const late = write("a", [FIRST], { isDeleted: true, user: "admin" });
    const writes = [write("a", [FIRST]), write("b", [FIRST]), late];
    expect(judgeAllocation(writes, ALLOCATOR).doubles).to.have.length(1);
  });

  it("tells a Service from the one of the same name that came after it", () => {
    const again = write("a", [FIRST], { uid: "uid-2" });
    expect(judgeAllocation([write("a", [FIRST]), again], ALLOCATOR).doubles).to.have.length(1);
  });

  it("finds an address that the allocator took away, and none that others did", () => {
    const { lost } = judgeAllocation([write("a", [FIRST]), write("a", [])], ALLOCATOR);
    expect(lost.map(({ key, address, pod }) => ({ key, address, pod }))).to.deep.equal([
      { key: "a", address: FIRST, pod: "c1" },
    ]);
    const left = write("a", [], { user: "admin", type: "ClusterIP" });
    expect(judgeAllocation([write("a", [FIRST]), left], ALLOCATOR)).to.deep.include({ lost: [], without: [] });
  });

  it("takes another address in its place for a loss", () => {
    expect(judgeAllocation([write("a", [FIRST]), write("a", ["192.0.2.2"])], ALLOCATOR).lost).to.have.length(1);
  });

  it("says how long each waited, and who waits still", () => {
    const writes = [made("a"), made("b"), write("a", [FIRST])];
    expect(judgeAllocation(writes, ALLOCATOR)).to.deep.include({ waitsMs: [2_000], without: ["b"] });
  });

  it("counts from the time at which a Service became a LoadBalancer again", () => {
    const away = write("a", [], { type: "ClusterIP", user: "admin" });
    const writes = [write("a", [FIRST]), away, made("other"), made("a"), write("a", [FIRST])];
    expect(judgeAllocation(writes, ALLOCATOR).waitsMs).to.deep.equal([1_000]);
  });
});

describe("judgeSuccessions", () => {
  it("measures from the deed to the first write of another", () => {
    const writes = [at(1, "c1"), at(10.5, "c1"), at(14, "c2"), at(15, "c2")];
    expect(judgeSuccessions(writes, ALLOCATOR, [deed("freeze", 10)])).to.deep.equal([
      { deed: deed("freeze", 10), takeoverMs: 4_000, lateWrites: 0 },
    ]);
  });

  it("counts what the former one writes after its successor, up to the next deed", () => {
    const writes = [at(14, "c2"), at(30, "c1"), at(31, "c2"), at(50, "c1")];
    const found = judgeSuccessions(writes, ALLOCATOR, [deed("freeze", 10), deed("cut", 40, "c2")]);
    expect(found.map(({ lateWrites, takeoverMs }) => ({ lateWrites, takeoverMs }))).to.deep.equal([
      { lateWrites: 1, takeoverMs: 4_000 },
      { lateWrites: 0, takeoverMs: 10_000 },
    ]);
  });

  it("takes the same Pod for its own successor when its process was killed, not before it can be one", () => {
    const writes = [at(10.2, "c1"), at(26, "c1")];
    expect(judgeSuccessions(writes, ALLOCATOR, [deed("kill", 10)])[0]).to.include({
      takeoverMs: 16_000,
      lateWrites: 0,
    });
  });

  it("says when nobody took over", () => {
    const [found] = judgeSuccessions([at(1, "c1")], ALLOCATOR, [deed("cut", 10)]);
    expect(found?.takeoverMs).to.equal(undefined);
  });

  it("passes over what others write", () => {
    const other = write("a", [], { atMs: 11_000, pod: undefined, user: "admin" });
    expect(judgeSuccessions([other], ALLOCATOR, [deed("cut", 10)])[0]?.takeoverMs).to.equal(undefined);
  });
});
