import { expect } from "chai";
import type { ControllerStatusDocument } from "../../api/allocator.ts";
import { createAllocatorMetrics } from "../../src/metrics/allocator-metrics.ts";

const PUMP = { pending: 0, written: 3, failed: 1, isApiAway: false, missingRights: [] };
const STATUS: ControllerStatusDocument = {
  version: "1.2.3",
  startedAt: "2026-01-01T00:00:00Z",
  state: "allocating",
  source: {
    kind: "kubernetes",
    location: "https://192.0.2.1:6443",
    problems: ["a pool is refused"],
    updates: 12,
    watches: [
      {
        kind: "IPAddressPool",
        state: "watching",
        objects: 1,
        reconnects: 0,
        relists: 0,
        lastEvent: "2026-01-01T00:00:00Z",
      },
    ],
  },
  lease: { name: "arpeggio-controller", identity: "c1_0", isHeld: true, transitions: 0 },
  pools: 1,
  services: { known: 2, allocated: 1, pending: 1 },
  writes: {
    services: { pending: 4, written: 9, conflicts: 2, failed: 5 },
    objects: PUMP,
    events: { ...PUMP, dropped: 0 },
  },
};

async function lines(status: ControllerStatusDocument): Promise<readonly string[]> {
  const metrics = createAllocatorMetrics("1.2.3");
  metrics.apply(status, { items: [] });
  metrics.apply(status, { items: [] });
  const text = await metrics.text();
  const series = /^(arpeggio_allocator_(?!other|pending)|metallb_k8s|arpeggio_kube)/;
  return text.split("\n").filter((line) => series.test(line));
}

describe("series of a controller in a cluster", () => {
  it("are what its status says, under MetalLB's names where it has them", async () => {
    expect(await lines(STATUS)).to.have.members([
      "arpeggio_allocator_leader 1",
      "arpeggio_allocator_allocating 1",
      "arpeggio_allocator_write_conflicts_total 2",
      "arpeggio_allocator_writes_pending 4",
      "metallb_k8s_client_updates_total 12",
      "metallb_k8s_client_update_errors_total 6",
      "metallb_k8s_client_config_loaded_bool 1",
      "metallb_k8s_client_config_stale_bool 1",
      'arpeggio_kube_watch_up{kind="IPAddressPool"} 1',
    ]);
  });

  it("are none with a folder", async () => {
    const { lease: _lease, writes: _writes, ...others } = STATUS;
    const source = { kind: "files", location: "/m", problems: [] } as const;
    expect(await lines({ ...others, source })).to.deep.equal([]);
  });
});
