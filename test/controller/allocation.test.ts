/** The allocator over a folder, with a `.status` in memory whose writes can fail. */
import { expect } from "chai";
import { Allocation } from "../../controller/allocation.ts";
import type { LogFields } from "../../src/base/log.ts";
import { fieldOf } from "../../src/desired/resource-readers.ts";
import { type FileState, mergeFiles, readChunk, readFileState } from "../../src/files/file-state.ts";
import { formatOverlay, type Overlay, overlayKey, parseOverlay } from "../../src/files/overlay.ts";
import { pool, service } from "./folder-scene.ts";

const NOW_MS = Date.UTC(2026, 0, 1);

class Folder {
  readonly overlays = new Map<string, Overlay>();
  readonly events: (LogFields | undefined)[] = [];
  readonly faults: unknown[] = [];
  isFull = false;
  writes = 0;
  nowMs = NOW_MS;
  allocation = this.#make();
  #file: FileState | undefined;

  restart(): void {
    this.allocation = this.#make();
    this.#file = undefined;
  }

  /** The folder's only file is this now. */
  async put(...documents: readonly string[]): Promise<void> {
    this.#file = readFileState(this.#file, "lb.yaml", documents.join("---\n"), (text) => readChunk(text, true));
    await this.look();
  }

  async look(): Promise<void> {
    const { snapshot, documents } = mergeFiles(this.#file === undefined ? [] : [this.#file], this.overlays);
    this.allocation.changed(snapshot, documents);
    await this.allocation.idle();
  }

  addresses(name: string): unknown {
    const ingress = fieldOf(fieldOf(this.overlays.get(`services default/${name}`)?.status, "loadBalancer"), "ingress");
    return Array.isArray(ingress) ? ingress.map((entry) => fieldOf(entry, "ip")) : [];
  }

  #make(): Allocation {
    const log = {
      debug: () => {},
      info: (message: string, fields?: LogFields) => void (message === "event" && this.events.push(fields)),
      warn: (message: string, fields?: LogFields) => void (message === "event" && this.events.push(fields)),
      error: () => {},
    };
    const store = {
      // As read from a disk: another object each time.
      read: async () => {
        const read = [...this.overlays.values()].flatMap((each) => parseOverlay(formatOverlay(each)) ?? []);
        return { overlays: new Map(read.map((each) => [overlayKey(each), each])) };
      },
      write: async (overlay: Overlay) => {
        if (this.isFull) throw Object.assign(new Error("no space"), { code: "ENOSPC" });
        this.writes++;
        this.overlays.set(overlayKey(overlay), overlay);
      },
      remove: async (overlay: Overlay) => void this.overlays.delete(overlayKey(overlay)),
    };
    const ports = { store, log, wallMs: () => this.nowMs, fail: (error: unknown) => void this.faults.push(error) };
    return new Allocation({ loadBalancerClass: "", writesConditions: true }, ports);
  }
}

describe("Allocation", () => {
  let folder: Folder;
  beforeEach(() => {
    folder = new Folder();
  });
  afterEach(async () => {
    await folder.allocation.close();
    expect(folder.faults).to.deep.equal([]);
  });

  it("writes what a Service is given as an API server would show it, and the numbers of its pool", async () => {
    await folder.put(pool("main", "192.0.2.10-192.0.2.11"), service("web"));
    expect(folder.overlays.get("services default/web")).to.deep.equal({
      apiVersion: "v1",
      kind: "Service",
      namespace: "default",
      name: "web",
      annotations: { "metallb.io/ip-allocated-from-pool": "main" },
      createdAt: "2026-01-01T00:00:00Z",
      status: {
        loadBalancer: { ingress: [{ ip: "192.0.2.10" }] },
        conditions: [
          {
            type: "arpeggio.dev/Allocated",
            status: "True",
            reason: "Allocated",
            message: "192.0.2.10 from IPAddressPool main",
            lastTransitionTime: "2026-01-01T00:00:00Z",
          },
        ],
      },
    });
    expect(folder.overlays.get("pools main")?.status).to.deep.equal({
      assignedIPv4: 1,
      assignedIPv6: 0,
      availableIPv4: 1,
      availableIPv6: 0,
    });
    expect(folder.events).to.deep.include.members([
      {
        kind: "Service",
        object: "default/web",
        reason: "IPAllocated",
        message: 'Assigned IP ["192.0.2.10"]',
      },
    ]);
  });

  it("writes nothing when nothing changed, and after a restart nothing either", async () => {
    await folder.put(pool("main", "192.0.2.10-192.0.2.11"), service("web"));
    const { writes } = folder;
    await folder.look();
    await folder.allocation.close();
    folder.restart();
    folder.nowMs += 3_600_000;
    await folder.put(pool("main", "192.0.2.10-192.0.2.11"), service("web"));
    expect(folder.writes).to.equal(writes);
  });

  it("tries again what could not be written, and says so meanwhile", async () => {
    folder.isFull = true;
    await folder.put(pool("main", "192.0.2.10/32"), service("web"));
    expect(folder.allocation.fault).to.equal("what was decided cannot be written (ENOSPC)");
    folder.isFull = false;
    folder.nowMs += 2_000;
    await folder.put(pool("main", "192.0.2.10/32"), service("web"), service("a-later-one"));
    expect(folder.addresses("web")).to.deep.equal(["192.0.2.10"]);
    expect(folder.addresses("a-later-one")).to.deep.equal([]);
    expect(folder.allocation.fault).to.equal(undefined);
  });

  it("corrects what somebody wrote into a pool's status, and takes a Service's as it is said", async () => {
    await folder.put(pool("main", "192.0.2.10-192.0.2.11"), service("web"));
    const written = folder.overlays.get("pools main") ?? expect.fail();
    folder.overlays.set("pools main", { ...written, status: { ...(written.status as object), assignedIPv4: 9 } });
    const web = folder.overlays.get("services default/web") ?? expect.fail();
    folder.overlays.set("services default/web", {
      ...web,
      status: { loadBalancer: { ingress: [{ ip: "192.0.2.11" }] } },
    });
    folder.nowMs += 2_000;
    await folder.look();
    expect(folder.addresses("web")).to.deep.equal(["192.0.2.11"]);
    expect(folder.overlays.get("pools main")?.status).to.deep.include({ assignedIPv4: 1 });
  });

  it("gives a dual-stack Service both families, one that asks for IPv6 that, others IPv4", async () => {
    const dual = service("dual").replace("spec: {", "spec: {ipFamilyPolicy: PreferDualStack, ");
    const six = service("six").replace("spec: {", "spec: {ipFamilies: [IPv6], ");
    const asks = service("asks", "metallb.io/loadBalancerIPs: '2001:db8::9'");
    await folder.put(pool("main", "192.0.2.10-192.0.2.12", "2001:db8::/64"), dual, six, asks, service("four"));
    expect(folder.addresses("asks")).to.deep.equal(["2001:db8::9"]);
    expect(folder.addresses("dual")).to.deep.equal(["192.0.2.10", "2001:db8::"]);
    expect(folder.addresses("four")).to.deep.equal(["192.0.2.11"]);
    expect(folder.addresses("six")).to.deep.equal(["2001:db8::1"]);
  });

  it("admits by the labels of a Namespace that has a document", async () => {
    const pinned = `apiVersion: metallb.io/v1beta1
kind: IPAddressPool
metadata: {name: main}
spec:
  addresses: [192.0.2.10/32]
  serviceAllocation: {namespaceSelectors: [{matchLabels: {team: a}}]}
`;
    await folder.put(pinned, service("web"));
    expect(folder.addresses("web")).to.deep.equal([]);
    const namespace = "{apiVersion: v1, kind: Namespace, metadata: {name: default, labels: {team: a}}}\n";
    await folder.put(pinned, service("web"), namespace);
    expect(folder.addresses("web")).to.deep.equal(["192.0.2.10"]);
  });

  it("gives nobody the address of a Node", async () => {
    const node =
      "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {addresses: [{type: InternalIP, address: 192.0.2.10}]}}\n";
    await folder.put(node, pool("main", "192.0.2.10-192.0.2.11"), service("web"));
    expect(folder.addresses("web")).to.deep.equal(["192.0.2.11"]);
  });

  it("keeps an address for the name of a deleted Service where the pool says so, over a restart", async () => {
    const keeping = pool("main", "192.0.2.10-192.0.2.11").replace(
      "name: main",
      'name: main, annotations: {arpeggio.dev/reserve-for: "1h"}',
    );
    await folder.put(keeping, service("web"));
    await folder.put(keeping);
    expect(folder.overlays.has("services default/web")).to.equal(false);
    expect(fieldOf(folder.overlays.get("ConfigMap default/arpeggio-reservations")?.status, "reserved")).to.equal(
      "default/web 192.0.2.10 2026-01-01T01:00:00Z\n",
    );
    await folder.allocation.close();
    folder.restart();
    await folder.put(keeping, service("other"));
    expect(folder.addresses("other")).to.deep.equal(["192.0.2.11"]);
    await folder.put(keeping, service("other"), service("web"));
    expect(folder.addresses("web")).to.deep.equal(["192.0.2.10"]);
  });
});
