/**
 * What a Node, its endpoints and a pool say, and how soon it shows on the wire: measured from the moment at which all speakers
 * have the changed snapshot to the last frame of the old leader and the first of the new one.
 */
import { expect } from "chai";
import type { ClusterSnapshot, EndpointFacts, NodeFacts } from "../../src/desired/snapshot.ts";
import type { Ip } from "../../src/net/ip.ts";
import { EXCLUDE_LABEL, OUT_OF_SERVICE_TAINT, withLabel, withNode } from "./cluster.ts";
import { speakerTenant, type Variant } from "./speaker-tenant.ts";
import { World } from "./world.ts";
import { planOf } from "./world-plan.ts";

/** Issue: every signal within 1 s. */
const SOON_MS = 1_000;
/** Founders have met and nothing settles any more. */
const CALM_MS = 20_000;

const METALLB: Variant = { settings: (settings) => ({ ...settings, electionCap: "metallb" }) };
const GOSSIP_OFF: Variant = {
  ports: (ports) => {
    const { gossip: _none, ...others } = ports;
    return others;
  },
};

interface Story {
  readonly world: World;
  readonly ip: Ip;
  /** Who answers now. */
  readonly answerers: () => readonly string[];
  /** Frames with the address as sender or target, own ones of speakers, since the last change. */
  readonly frames: () => readonly { readonly node: string; readonly atMs: number }[];
  readonly change: (change: (snapshot: ClusterSnapshot) => ClusterSnapshot) => void;
}

function begin(variant: Variant = {}, first: (snapshot: ClusterSnapshot) => ClusterSnapshot = (same) => same): Story {
  const plan = planOf({ nodes: 3, services: 1, closeLookMs: 5 });
  const world = new World({ ...plan, snapshot: first(plan.snapshot) }, speakerTenant(variant));
  const [ip] = world.addresses;
  if (ip === undefined) throw new Error("no address");
  let heard: readonly string[] = [];
  let frames: { readonly node: string; readonly atMs: number }[] = [];
  world.witnesses.push({
    answered: (_atMs, of, answerers) => {
      if (of === ip) heard = answerers.map(({ node }) => node);
    },
    sent: (atMs, machine, _card, frame) => {
      if (frame.senderIp === ip || frame.targetIp === ip) frames.push({ node: machine.name, atMs });
    },
  });
  for (const machine of world.machines) world.start(machine);
  world.run(CALM_MS);
  return {
    world,
    ip,
    answerers: () => heard,
    frames: () => frames,
    change: (change) => {
      frames = [];
      world.change("signal", change, () => 0);
    },
  };
}

function only(story: Story): string {
  const [node, ...others] = story.answerers();
  if (node === undefined || others.length > 0) throw new Error(`answered by ${story.answerers().join(" and ")}`);
  return node;
}

/** Runs for a second after the change: who answers then, and when a frame of somebody else than before came first and the old one's last. */
function oneSecondLater(story: Story): { readonly answerers: readonly string[]; readonly movedMs: number | undefined } {
  const { world } = story;
  const [before] = story.answerers();
  const changedMs = world.clock.nowMs();
  world.run(changedMs + SOON_MS);
  const others = story.frames().filter(({ node }) => node !== before);
  return { answerers: story.answerers(), movedMs: others[0] === undefined ? undefined : others[0].atMs - changedMs };
}

const ofNode =
  (change: (node: NodeFacts) => NodeFacts | undefined) =>
  (name: string) =>
  (snapshot: ClusterSnapshot): ClusterSnapshot =>
    withNode(snapshot, name, change);

const ofEndpoints =
  (endpointsOf: (leader: string, node: string) => Omit<EndpointFacts, "nodeName">) =>
  (leader: string) =>
  (snapshot: ClusterSnapshot): ClusterSnapshot => {
    const endpointSlices = new Map(
      [...snapshot.endpointSlices].map(([key, slice]) => {
        const endpoints = slice.endpoints.map(({ nodeName = "" }) => ({ nodeName, ...endpointsOf(leader, nodeName) }));
        return [key, { ...slice, endpoints }] as const;
      }),
    );
    return { ...snapshot, endpointSlices };
  };

const READY = { ready: true, serving: true, terminating: false };
const NOT_READY = { ready: false, serving: false, terminating: false };
const TERMINATING = { ready: false, serving: true, terminating: true };

function withPolicy(externalTrafficPolicy: "Local") {
  return (snapshot: ClusterSnapshot): ClusterSnapshot => {
    const services = new Map([...snapshot.services].map(([key, facts]) => [key, { ...facts, externalTrafficPolicy }]));
    return { ...snapshot, services };
  };
}

function withTaint(key: string) {
  return ofNode((node) => ({ ...node, taintKeys: [key] }));
}

const SIGNALS: readonly {
  readonly name: string;
  readonly variant?: Variant;
  readonly first?: (snapshot: ClusterSnapshot) => ClusterSnapshot;
  readonly begins: (leader: string) => (snapshot: ClusterSnapshot) => ClusterSnapshot;
  readonly moves: boolean;
}[] = [
  { name: "unschedulable", begins: ofNode((node) => ({ ...node, isUnschedulable: true })), moves: true },
  { name: "taint ToBeDeletedByClusterAutoscaler", begins: withTaint("ToBeDeletedByClusterAutoscaler"), moves: true },
  { name: "taint karpenter.sh/disrupted", begins: withTaint("karpenter.sh/disrupted"), moves: true },
  {
    name: "unschedulable, and the annotation ignore-cordon",
    begins: ofNode((node) => ({ ...node, isUnschedulable: true, ignoresCordon: true })),
    moves: false,
  },
  {
    name: "unschedulable, and the option --ignore-cordon",
    variant: { settings: (settings) => ({ ...settings, ignoresCordon: true }) },
    begins: ofNode((node) => ({ ...node, isUnschedulable: true })),
    moves: false,
  },
  {
    name: "every node unschedulable",
    begins: () => (snapshot) =>
      [...snapshot.nodes.keys()].reduce(
        (next, name) => withNode(next, name, (node) => ({ ...node, isUnschedulable: true })),
        snapshot,
      ),
    moves: false,
  },
  { name: "annotation step-down", begins: ofNode((node) => ({ ...node, wantsStepDown: true })), moves: true },
  { name: "the exclude label", begins: ofNode((node) => withLabel(node, EXCLUDE_LABEL, true)), moves: true },
  {
    name: "the exclude label, and the option --ignore-exclude-lb",
    variant: { settings: (settings) => ({ ...settings, ignoresExcludeLabel: true }) },
    begins: ofNode((node) => withLabel(node, EXCLUDE_LABEL, true)),
    moves: false,
  },
  { name: "NetworkUnavailable", begins: ofNode((node) => ({ ...node, isNetworkUnavailable: true })), moves: true },
  { name: "Ready False or Unknown", begins: ofNode((node) => ({ ...node, isNotReady: true })), moves: false },
  { name: "taint out-of-service", begins: withTaint(OUT_OF_SERVICE_TAINT), moves: true },
  { name: "Node object deleted", begins: ofNode(() => undefined), moves: true },
  {
    name: "Local: the last ready endpoint there terminates",
    first: withPolicy("Local"),
    begins: ofEndpoints((leader, node) => (node === leader ? TERMINATING : READY)),
    moves: true,
  },
  {
    name: "Local: every endpoint terminates and serves",
    first: withPolicy("Local"),
    begins: ofEndpoints(() => TERMINATING),
    moves: false,
  },
  {
    name: "Cluster: the endpoint there terminates",
    begins: ofEndpoints((leader, node) => (node === leader ? TERMINATING : READY)),
    moves: false,
  },
  {
    name: "metallb-1: NetworkUnavailable",
    variant: METALLB,
    begins: ofNode((node) => ({ ...node, isNetworkUnavailable: true })),
    moves: true,
  },
  {
    name: "metallb-1: the exclude label",
    variant: METALLB,
    begins: ofNode((node) => withLabel(node, EXCLUDE_LABEL, true)),
    moves: true,
  },
  {
    name: "metallb-1: Node object deleted",
    variant: METALLB,
    begins: ofNode(() => undefined),
    moves: true,
  },
  {
    name: "metallb-1: unschedulable",
    variant: METALLB,
    begins: ofNode((node) => ({ ...node, isUnschedulable: true })),
    moves: false,
  },
  {
    name: "gossip off: Ready False or Unknown",
    variant: GOSSIP_OFF,
    begins: ofNode((node) => ({ ...node, isNotReady: true })),
    moves: true,
  },
  {
    name: "gossip off: unschedulable",
    variant: GOSSIP_OFF,
    begins: ofNode((node) => ({ ...node, isUnschedulable: true })),
    moves: true,
  },
  { name: "gossip off: Node object deleted", variant: GOSSIP_OFF, begins: ofNode(() => undefined), moves: true },
];

describe("signals from Nodes and endpoints, on the wire", () => {
  for (const { name, variant, first, begins, moves } of SIGNALS) {
    it(`${name}: ${moves ? "moves the address within 1 s, and back when it ends" : "moves nothing"}`, () => {
      const story = begin(variant, first);
      const leader = only(story);
      const original = story.world.snapshot;
      story.change(begins(leader));
      const during = oneSecondLater(story);
      expect(during.answerers).to.have.lengthOf(1);
      expect(during.answerers.includes(leader)).to.equal(!moves);
      if (!moves) {
        expect(during.movedMs).to.equal(undefined);
        return;
      }
      expect(during.movedMs).to.be.within(0, SOON_MS);
      // Later, too: what an observer holds against a word for 10 s changes nothing more.
      story.world.run(story.world.clock.nowMs() + 15_000);
      expect(story.answerers()).to.deep.equal(during.answerers);
      story.change(() => original);
      const after = oneSecondLater(story);
      expect(after.answerers).to.deep.equal([leader]);
      expect(after.movedMs).to.be.within(0, SOON_MS);
    }).timeout(30_000);
  }

  for (const { name, variant, isSilent } of [
    { name: "is answered by nobody within 1 s, and again when it does", variant: {}, isSilent: true },
    { name: "counts for nothing under metallb-1", variant: METALLB, isSilent: false },
  ]) {
    it(`a pool that does not admit the Service ${name}`, () => {
      const story = begin(variant);
      const leader = only(story);
      const original = story.world.snapshot;
      const allocation = { namespaces: ["elsewhere"], namespaceSelectors: [], serviceSelectors: [] };
      story.change((snapshot) => ({
        ...snapshot,
        pools: new Map([...snapshot.pools].map(([key, pool]) => [key, { ...pool, allocation }])),
      }));
      expect(oneSecondLater(story).answerers).to.deep.equal(isSilent ? [] : [leader]);
      story.change(() => original);
      expect(oneSecondLater(story).answerers).to.deep.equal([leader]);
    }).timeout(30_000);
  }

  it("Local, and no endpoint says on which node it is: nobody answers, and everybody says why", () => {
    const story = begin({}, withPolicy("Local"));
    story.change((snapshot) => ({
      ...snapshot,
      endpointSlices: new Map(
        [...snapshot.endpointSlices].map(([key, slice]) => [key, { ...slice, endpoints: [READY] }]),
      ),
    }));
    expect(oneSecondLater(story).answerers).to.deep.equal([]);
    for (const { tenant } of story.world.machines)
      expect(tenant?.view().decisions[0]?.reason).to.equal("endpoint-without-node");
  }).timeout(30_000);

  it("Local, and an endpoint turns ready on a better node: that node's kube-proxy gets two seconds first", () => {
    const story = begin({}, withPolicy("Local"));
    const best = only(story);
    const original = story.world.snapshot;
    story.change(ofEndpoints((leader, node) => (node === leader ? NOT_READY : READY))(best));
    const without = oneSecondLater(story).answerers;
    expect(without).to.have.lengthOf(1).and.not.include(best);
    story.change(() => original);
    expect(oneSecondLater(story).answerers).to.deep.equal(without);
    expect(story.frames().filter(({ node }) => node === best)).to.deep.equal([]);
    story.world.run(story.world.clock.nowMs() + 900);
    expect(story.answerers()).to.deep.equal(without);
    expect(oneSecondLater(story).answerers).to.deep.equal([best]);
  }).timeout(30_000);

  it("Local, and an endpoint turns ready where none served: answered within 1 s", () => {
    const story = begin({}, withPolicy("Local"));
    const best = only(story);
    const original = story.world.snapshot;
    story.change(ofEndpoints(() => NOT_READY)(best));
    expect(oneSecondLater(story).answerers).to.deep.equal([]);
    story.change(() => original);
    expect(oneSecondLater(story).answerers).to.deep.equal([best]);
  }).timeout(30_000);

  it("a member that never had a Node object leads nothing", () => {
    const leader = only(begin());
    const story = begin({}, ofNode(() => undefined)(leader));
    expect(only(story)).to.not.equal(leader);
    story.change(ofNode((node) => node)(leader));
    expect(oneSecondLater(story).answerers).to.deep.equal([leader]);
  }).timeout(30_000);
});
