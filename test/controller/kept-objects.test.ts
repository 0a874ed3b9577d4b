import { expect } from "chai";
import { KeptObjects, poolEntry, RESERVATIONS_ENTRY } from "../../controller/kept-objects.ts";
import type { Verdict } from "../../src/kube/write/answers.ts";

const NUMBERS = { assignedIPv4: "1", assignedIPv6: "0", availableIPv4: "2", availableIPv6: "9223372036854775807" };

function make() {
  const around = { isHolder: true, resourceVersion: undefined as string | undefined };
  const kept = new KeptObjects({
    namespace: "metallb-system",
    isHolder: () => around.isHolder,
    reservations: () => {
      const { resourceVersion } = around;
      return resourceVersion === undefined ? undefined : { reserved: "", pinned: "", resourceVersion };
    },
    configuration: { next: () => ({ againAtMs: 7 }) },
  });
  /** What is sent, answered so. */
  const send = (name: string, nowMs: number, verdict: Verdict = "done") => {
    const { write, againAtMs } = kept.next(name, nowMs);
    write?.answered(verdict, undefined, nowMs);
    return write?.request ?? againAtMs;
  };
  return { kept, around, send };
}

describe("KeptObjects", () => {
  it("writes the numbers of a pool as numbers of any size, and at most once a second", () => {
    const { kept, send } = make();
    kept.setNumbers("main", NUMBERS);
    const request = send(poolEntry("main"), 1_000);
    expect(request).to.deep.include({
      method: "PATCH",
      path: "/apis/metallb.io/v1beta1/namespaces/metallb-system/ipaddresspools/main/status",
    });
    expect(JSON.stringify((request as { readonly body: unknown }).body)).to.equal(
      '{"status":{"assignedIPv4":1,"assignedIPv6":0,"availableIPv4":2,"availableIPv6":9223372036854775807}}',
    );
    expect(send(poolEntry("main"), 1_001)).to.equal(undefined);
    kept.setNumbers("main", { ...NUMBERS, assignedIPv4: "2" });
    expect(send(poolEntry("main"), 1_500)).to.equal(2_000);
    expect(send(poolEntry("main"), 2_000)).to.deep.include({ method: "PATCH" });
  });

  it("the last numbers count, and those that were not taken are tried again", () => {
    const { kept, send } = make();
    kept.setNumbers("main", NUMBERS);
    send(poolEntry("main"), 0, "busy");
    expect(send(poolEntry("main"), 1_000)).to.deep.include({ method: "PATCH" });
    expect(send(poolEntry("main"), 3_000)).to.equal(undefined);
  });

  it("makes the ConfigMap of reservations, or patches the version that was read", () => {
    const { kept, around, send } = make();
    kept.setReserved("default/web 192.0.2.10 2026-01-01T00:00:00Z\n");
    expect(send(RESERVATIONS_ENTRY, 0, "conflict")).to.deep.include({
      method: "POST",
      path: "/api/v1/namespaces/metallb-system/configmaps",
    });
    around.resourceVersion = "7";
    expect(send(RESERVATIONS_ENTRY, 0)).to.deep.include({
      method: "PATCH",
      path: "/api/v1/namespaces/metallb-system/configmaps/arpeggio-reservations",
      body: {
        metadata: { resourceVersion: "7" },
        data: { reserved: "default/web 192.0.2.10 2026-01-01T00:00:00Z\n" },
      },
    });
    expect(send(RESERVATIONS_ENTRY, 0)).to.equal(undefined);
  });

  it("writes nothing without the Lease", () => {
    const { kept, around, send } = make();
    kept.setNumbers("main", NUMBERS);
    around.isHolder = false;
    expect(send(poolEntry("main"), 0)).to.equal(undefined);
    expect(send("configuration", 0)).to.equal(undefined);
    around.isHolder = true;
    expect(send("configuration", 0)).to.equal(7);
  });
});
