import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import { expect } from "chai";
import { lanesOf } from "../../hack/lanes/lanes.ts";

const FILES = readdirSync(resolve(import.meta.dirname, ".."), { recursive: true, encoding: "utf8" }).filter((file) =>
  file.endsWith(".test.js"),
);

describe("lanesOf", () => {
  it("runs every test file once", () => {
    const all = lanesOf(FILES, "all").flatMap(({ files }) => files);
    expect(all.toSorted()).to.deep.equal(FILES.toSorted());
  });

  it("leaves the machine to what it does not know: it may measure time", () => {
    const lanes = lanesOf(["new/wire.test.js", "kube/api/a.test.js", "kube/a.test.js", "net/ip.test.js"], "all");
    expect(lanes.find(({ files }) => files.includes("new/wire.test.js"))).to.deep.include({
      name: "real time",
      niceness: 0,
      after: ["computing", "simulation", "API server", "controllers", "seeds"],
    });
    expect(lanes.at(-1)).to.deep.include({ name: "cluster", after: ["real time"] });
  });

  it("runs the seeds of the simulation alone, for they are to end within four minutes", () => {
    const lanes = lanesOf(["simulation/scenarios.test.js", "simulation/replay.test.js", "net/ip.test.js"], "all");
    const alone = lanes.find(({ files }) => files.includes("simulation/scenarios.test.js"));
    expect(alone?.files).to.deep.equal(["simulation/scenarios.test.js"]);
    for (const { name } of lanes) if (name !== "seeds") expect(alone?.after).to.include(name);
  });

  it("runs the cluster's in the order of names", () => {
    const [lane] = lanesOf(["kube/whole.test.js", "kube/drills.test.js"], "kube");
    expect(lane?.files).to.deep.equal(["kube/drills.test.js", "kube/whole.test.js"]);
  });

  it("quick needs no Kubernetes and no image, kube nothing but the cluster", () => {
    const files = [
      "kube/a.test.js",
      "kube/api/a.test.js",
      "kube/watch/a.test.js",
      "oci/built/a.test.js",
      "net/a.test.js",
    ];
    const named = (part: "quick" | "kube") => lanesOf(files, part).flatMap((lane) => lane.files);
    expect(named("quick")).to.have.members(["kube/watch/a.test.js", "net/a.test.js"]);
    expect(lanesOf(files, "quick").some(({ needsPlane }) => needsPlane)).to.equal(false);
    expect(named("kube")).to.deep.equal(["kube/a.test.js"]);
  });
});
