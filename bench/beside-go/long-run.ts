/** Half speakers, half members of the Go library in MetalLB's timing, on a segment that loses frames; then one of each is killed. */
import { parseArgs } from "node:util";
import { createLab, destroyLab } from "../../hack/netlab/lab.ts";
import { isBuilt, LIBRARIES } from "../../test/interop/go-peer.ts";
import { runLossy } from "../../test/interop/lossy-run.ts";

const { values } = parseArgs({
  options: {
    members: { type: "string", default: "20" },
    minutes: { type: "string", default: "10" },
    loss: { type: "string", default: "10" },
  },
});
const [{ name: library, program }] = LIBRARIES;
if (!isBuilt(program)) throw new Error("the Go peers are not built: bench/beside-go/run");
const lab = await createLab("beside-go", Number(values.members));
try {
  const run = await runLossy(lab, program, {
    seconds: Number(values.minutes) * 60,
    percent: Number(values.loss),
    progress: (sentence) => process.stderr.write(`${sentence}\n`),
  });
  process.stdout.write(`${JSON.stringify({ library, ...run }, undefined, 2)}\n`);
} finally {
  await destroyLab(lab);
}
