import { expect } from "chai";
import { VirtualClock } from "../../../src/base/clock.ts";
import { createLog } from "../../../src/base/log.ts";
import { AllocatorGate } from "../../../src/kube/metallb/allocator-gate.ts";
import {
  GONE_MS,
  isOtherAllocator,
  type NeighbourPod,
  otherAllocatorText,
} from "../../../src/kube/metallb/other-allocator.ts";

const RAW = { app: "metallb", component: "controller" };
const HELM = { "app.kubernetes.io/name": "metallb", "app.kubernetes.io/component": "controller" };

function pod(others: Partial<NeighbourPod> = {}): NeighbourPod {
  return { name: "controller-1", uid: "uid-1", labels: RAW, phase: "Running", isBeingDeleted: false, ...others };
}

const OURS = pod({
  name: "arpeggio-controller-1",
  labels: { app: "arpeggio", component: "controller", "arpeggio.dev/component": "controller" },
});

describe("isOtherAllocator", () => {
  for (const { name, found, is } of [
    { name: "MetalLB's controller by its plain manifests", found: pod(), is: true },
    { name: "MetalLB's controller by Helm", found: pod({ labels: { ...HELM, more: "labels" } }), is: true },
    { name: "one that is not scheduled yet", found: pod({ phase: "Pending" }), is: true },
    { name: "one whose node is lost", found: pod({ phase: "Unknown" }), is: true },
    { name: "one whose phase is not known", found: { ...pod(), phase: undefined }, is: true },
    { name: "one that is terminating", found: pod({ isBeingDeleted: true }), is: true },
    { name: "one that has ended well", found: pod({ phase: "Succeeded" }), is: false },
    { name: "one that has failed", found: pod({ phase: "Failed" }), is: false },
    { name: "MetalLB's speaker", found: pod({ labels: { app: "metallb", component: "speaker" } }), is: false },
    {
      name: "somebody else's controller",
      found: pod({ labels: { app: "other", component: "controller" } }),
      is: false,
    },
    {
      name: "one with half of each set of labels",
      found: pod({ labels: { ...RAW, ...HELM, app: "", "app.kubernetes.io/name": "" } }),
      is: false,
    },
    { name: "our controller", found: OURS, is: false },
    {
      name: "ours with MetalLB's labels beside its own",
      found: pod({ labels: { ...RAW, "arpeggio.dev/component": "controller" } }),
      is: false,
    },
  ]) {
    it(`${is ? "is" : "is not"} ${name}`, () => expect(isOtherAllocator(found as NeighbourPod)).to.equal(is));
  }
});

describe("AllocatorGate", () => {
  let clock: VirtualClock;
  let changes: boolean[];
  let others: string[];
  let gate: AllocatorGate;

  beforeEach(() => {
    clock = new VirtualClock(1_000);
    changes = [];
    others = [];
    gate = new AllocatorGate({
      clock,
      log: createLog(
        "none",
        () => undefined,
        () => 0,
      ),
      onChange: () => changes.push(gate.mayAllocate),
      onOther: ({ name }) => others.push(name),
    });
  });

  it("is closed until the Pods are read, and 5 s after that", () => {
    clock.advance(60_000);
    expect(gate.mayAllocate).to.equal(false);
    expect(gate.sentence).to.equal("the Pods of the namespace are not read yet");
    gate.podsRead([OURS]);
    clock.advance(GONE_MS - 1);
    expect(gate.mayAllocate).to.equal(false);
    clock.advance(1);
    expect(gate.mayAllocate).to.equal(true);
    expect(changes).to.deep.equal([true]);
    expect(gate.sentence).to.equal(undefined);
  });

  it("is closed as long as a controller of MetalLB's stands, and names it", () => {
    gate.podsRead([OURS, pod({ name: "b", uid: "2" }), pod({ name: "a", isBeingDeleted: true })]);
    clock.advance(600_000);
    expect(gate.mayAllocate).to.equal(false);
    expect(gate.sentence).to.equal("MetalLB's controller runs here too, and only one may allocate: a (terminating), b");
    expect(gate.others.map(({ name }) => name)).to.deep.equal(["a", "b"]);
  });

  it("opens 5 s after the last of them is gone, however often Pods change meanwhile", () => {
    gate.podsRead([pod()]);
    clock.advance(10_000);
    gate.podsRead([]);
    clock.advance(3_000);
    gate.podsRead([OURS]);
    clock.advance(GONE_MS - 3_000 - 1);
    expect(gate.mayAllocate).to.equal(false);
    clock.advance(1);
    expect(changes).to.deep.equal([true]);
  });

  it("counts the 5 s anew when one comes back in between", () => {
    gate.podsRead([]);
    clock.advance(4_000);
    gate.podsRead([pod({ phase: "Pending" })]);
    clock.advance(4_000);
    gate.podsRead([]);
    clock.advance(GONE_MS - 1);
    expect(gate.mayAllocate).to.equal(false);
    clock.advance(1);
    expect(gate.mayAllocate).to.equal(true);
  });

  it("closes at once when one comes", () => {
    gate.podsRead([]);
    clock.advance(GONE_MS);
    gate.podsRead([pod({ phase: "Pending" })]);
    expect(changes).to.deep.equal([true, false]);
    expect(gate.mayAllocate).to.equal(false);
  });

  it("tells of each of them once, and again of one of the same name that came later", () => {
    gate.podsRead([pod()]);
    gate.podsRead([pod({ phase: "Pending" })]);
    gate.podsRead([]);
    gate.podsRead([pod({ uid: "uid-2" })]);
    expect(others).to.deep.equal(["controller-1", "controller-1"]);
  });

  it("leaves no timer behind", () => {
    gate.podsRead([]);
    gate.close();
    expect(clock.nextMs()).to.equal(undefined);
  });
});

describe("otherAllocatorText", () => {
  it("says what to do", () => {
    expect(otherAllocatorText()).to.include({ type: "Warning", reason: "otherAllocatorRunning" });
    expect(otherAllocatorText().message).to.contain("Scale its Deployment to 0 or delete it");
  });
});
