/** What a speaker's watches leave behind when their connections break: nothing. For hours of it: bench/kube/reconnects.ts. */
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect } from "chai";
import type { Random } from "../../../src/base/random.ts";
import { useControlPlane } from "../../support/control-plane.ts";
import { NAMESPACE, SourceRig, SPEAKER } from "./source-rig.ts";

const ROOT = resolve(import.meta.dirname, "../../../..");
/** Code is compiled, and caches are filled. */
const RECONNECTS_BEFORE = 400;
const RECONNECTS = 600;
/** One forgotten request with its socket and answer has about 30 kB. */
const BYTES_EACH = 1_000;
const CUT_INTERVAL_MS = 50;
/** All are open again. */
const CALM_MS = 500;
const POLL_MS = 20;
/** A watch that was cut off is opened again at once. */
const NO_WAIT: Random = { float: () => 0, below: () => 0, bytes: (count) => new Uint8Array(count) };

describe("watches whose connections break again and again", function () {
  this.timeout(120_000);
  const plane = useControlPlane({ users: [SPEAKER] });
  let rig: SourceRig;
  /** Others are listed only, or absent. */
  let watched = 0;

  before(async () => {
    await plane().kubectl(["create", "namespace", NAMESPACE]);
    await plane().kubectl(["apply", "-n", NAMESPACE, "-f", resolve(ROOT, "manifests/base/rbac.yaml")]);
    await plane().kubectl(["apply", "--server-side", "-f", resolve(ROOT, "manifests/crd")]);
    rig = await SourceRig.open(plane(), { random: NO_WAIT });
    await rig.source.start();
    await rig.until(() => true);
    while (rig.source.status().watches.some(({ state }) => state === "listing")) await sleep(POLL_MS);
    watched = watching();
  });

  after(() => rig?.close());

  const watching = (): number => rig.source.status().watches.filter(({ state }) => state === "watching").length;
  const reconnects = (): number => rig.source.status().watches.reduce((sum, watch) => sum + watch.reconnects, 0);

  /** Some are hit while TLS is set up, or before an answer is there. */
  async function reconnect(times: number): Promise<void> {
    const first = reconnects();
    while (reconnects() < first + times) {
      rig.relay.cut();
      await sleep(CUT_INTERVAL_MS);
    }
    await sleep(CALM_MS);
    while (watching() < watched) await sleep(POLL_MS);
  }

  it("hold no more memory, no more connections and no more handles than before", async () => {
    await reconnect(RECONNECTS_BEFORE);
    const [bytes, connections, first] = [heldBytes(), rig.relay.open, reconnects()];
    const handles = process.getActiveResourcesInfo().length;
    await reconnect(RECONNECTS);
    const done = reconnects() - first;
    expect((heldBytes() - bytes) / done, `bytes for each of ${done} reconnects`).to.be.lessThan(BYTES_EACH);
    expect(rig.relay.open).to.be.at.most(connections);
    expect(process.getActiveResourcesInfo().length).to.be.at.most(handles + watched);
  });
});

/** Of this process, when all garbage is collected. */
function heldBytes(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
