/** F11 and F12: what administrators do to links and to Node objects. */
import type { ClusterSnapshot, NodeFacts } from "../../src/desired/snapshot.ts";
import { parseMac } from "../../src/net/mac.ts";
import type { Disturbance } from "./calm.ts";
import { EXCLUDE_LABEL, OUT_OF_SERVICE_TAINT, withEndpoints, withLabel, withNode } from "./cluster.ts";
import { exponential, type Fault, type FaultContext, instant, someMachine } from "./fault.ts";
import { prefixesOf } from "./world-plan.ts";

/** F11: carrier lost and found again, another MAC, a re-created link, a prefix that goes and comes back. */
export const linkFault: Fault = {
  name: "F11 links",
  inject: (context) => {
    const { world, random, findings } = context;
    const machine = someMachine(context);
    const number = random.below(machine.cards.length);
    const card = machine.cards[number];
    if (card === undefined) return;
    const beginMs = instant(context);
    const endMs = Math.min(context.untilMs, beginMs + exponential(random, 50, 20_000));
    const name = `link change of ${card.name} ${beginMs}`;
    const kind = random.below(4);
    world.at(beginMs, () => {
      findings.count(`fault link ${["carrier", "MAC", "re-created", "prefix"][kind]}`);
      world.calm.begin(name, "vanished", world.clock.nowMs());
      world.disturb(name, "vanished");
      machine.changeCard(card, (changed) => {
        if (kind === 0) changed.setCarrier(false);
        if (kind === 1) changed.mac = parseMac(`02:00:05:00:0${number}:${random.below(90) + 10}`) ?? changed.mac;
        if (kind === 2) changed.index += 100;
        if (kind === 3) changed.prefixes = [];
      });
    });
    world.at(endMs, () => {
      world.calm.end(name, "vanished", world.clock.nowMs());
      world.disturb(`end of ${name}`, "vanished");
      machine.changeCard(card, (changed) => {
        changed.setCarrier(true);
        changed.prefixes = prefixesOf(number);
      });
    });
  },
};

/** Changes of a Node after which its speaker stays a candidate, so that the address is handed over (DESIGN D8). */
const HANDED_OVER: Readonly<Record<string, (node: NodeFacts, isOn: boolean) => NodeFacts>> = {
  cordon: (node, isOn) => ({ ...node, isUnschedulable: isOn }),
  taint: (node, isOn) => ({ ...node, taintKeys: isOn ? ["ToBeDeletedByClusterAutoscaler"] : [] }),
  "network-unavailable": (node, isOn) => ({ ...node, isNetworkUnavailable: isOn }),
  "step-down": (node, isOn) => ({ ...node, wantsStepDown: isOn }),
};

/** Changes after which the node may not lead at all, and stops at once. */
const STOPPED: Readonly<Record<string, (node: NodeFacts, isOn: boolean) => NodeFacts | undefined>> = {
  exclude: (node, isOn) => withLabel(node, EXCLUDE_LABEL, isOn),
  "out-of-service": (node, isOn) => ({ ...node, taintKeys: isOn ? [OUT_OF_SERVICE_TAINT] : [] }),
  deleted: (node, isOn) => (isOn ? undefined : node),
};

/** F12, the part that is handed over without a gap. */
export const cordonFault: Fault = {
  name: "F12 cordon",
  inject: (context) => changeNodes(context, HANDED_OVER, "planned"),
};
/** F12, the part that stops at once. */
export const excludeFault: Fault = {
  name: "F12 exclude",
  inject: (context) => changeNodes(context, STOPPED, "contradicted"),
};

type NodeChange = (node: NodeFacts, isOn: boolean) => NodeFacts | undefined;

function changeNodes(
  context: FaultContext,
  changes: Readonly<Record<string, NodeChange>>,
  disturbance: Disturbance,
): void {
  const { world, random, findings } = context;
  const names = Object.keys(changes);
  const what = names[random.below(names.length)] ?? "";
  const change = changes[what];
  if (change === undefined) return;
  // Now and then a wave over all of them: nothing may be lost by it.
  const targets = random.below(4) === 0 ? world.machines : [someMachine(context)];
  const beginMs = instant(context);
  const endMs = Math.min(context.untilMs, beginMs + exponential(random, 100, 15_000));
  const apply = (isOn: boolean) => (snapshot: ClusterSnapshot) =>
    targets.reduce((next, { name }) => withNode(next, name, (node) => change(node, isOn)), snapshot);
  const lagMs = () => random.float() * 200;
  world.at(beginMs, () => {
    findings.count(`fault ${what}`);
    if (targets.length === world.machines.length) findings.count("fault wave over all nodes");
    world.change(`${what} of ${targets.map(({ name }) => name).join(" ")}`, apply(true), lagMs, disturbance);
  });
  // Now and then it stays that way: the end is judged with it.
  if (random.below(4) === 0) return;
  world.at(endMs, () => world.change(`end of ${what}`, apply(false), lagMs, disturbance));
}

/** Endpoints of one Service move to other nodes, or away. */
export const endpointFault: Fault = {
  name: "F13 endpoints",
  inject: (context) => {
    const { world, random, findings } = context;
    for (let churn = 0; churn < 1 + random.below(4); churn++) {
      const service = world.plan.services[random.below(world.plan.services.length)];
      if (service === undefined) return;
      const nodes = world.plan.nodes.filter(() => random.below(2) === 0);
      world.at(instant(context), () => {
        findings.count(nodes.length === 0 ? "fault no endpoint" : "fault endpoints move");
        world.change(
          `endpoints of ${service.name} are on ${nodes.join(" ") || "no node"}`,
          (snapshot) => withEndpoints(snapshot, service.name, nodes),
          () => random.float() * 200,
        );
      });
    }
  },
};
