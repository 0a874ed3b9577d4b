/** The rest of F12 and F13: waves over all Nodes that may move nothing, or everything; Services that change their policy, their addresses, or share one. */
import type { ClusterSnapshot, NodeFacts, ServiceFacts } from "../../src/desired/snapshot.ts";
import { withNode } from "./cluster.ts";
import { exponential, type Fault, type FaultContext, instant } from "./fault.ts";

/** What an API server, or whoever writes to it, does to every Node at once. */
const WAVES: Readonly<Record<string, (node: NodeFacts, isOn: boolean) => NodeFacts>> = {
  // The API server has not heard from kubelets: says nothing about speakers that hear each other.
  "NotReady wave": (node, isOn) => ({ ...node, isNotReady: isOn }),
  "NetworkUnavailable everywhere": (node, isOn) => ({ ...node, isNetworkUnavailable: isOn }),
  "cordon everywhere": (node, isOn) => ({ ...node, isUnschedulable: isOn }),
};

/** F12: all Nodes change together, and change back. */
export const waveFault: Fault = {
  name: "F12 wave",
  inject: (context) => {
    const { world, random, findings } = context;
    const names = Object.keys(WAVES);
    const what = names[random.below(names.length)] ?? "";
    const change = WAVES[what] ?? ((node: NodeFacts) => node);
    const beginMs = instant(context);
    const endMs = Math.min(context.untilMs, beginMs + exponential(random, 100, 15_000));
    const apply = (isOn: boolean) => (snapshot: ClusterSnapshot) =>
      world.machines.reduce((next, { name }) => withNode(next, name, (node) => change(node, isOn)), snapshot);
    const lagMs = () => random.float() * 200;
    world.at(beginMs, () => {
      findings.count(`fault ${what}`);
      world.change(what, apply(true), lagMs);
    });
    world.at(endMs, () => {
      findings.count(`fault end of ${what}`);
      world.change(`end of ${what}`, apply(false), lagMs);
    });
  },
};

type ServiceChange = (service: ServiceFacts, other: ServiceFacts) => ServiceFacts | undefined;

const SERVICE_CHANGES: Readonly<Record<string, ServiceChange>> = {
  "policy switch": (service) => ({
    ...service,
    externalTrafficPolicy: service.externalTrafficPolicy === "Local" ? "Cluster" : "Local",
  }),
  "Service deleted": () => undefined,
  "Service without addresses": (service) => ({ ...service, addresses: [] }),
  "Service with another's address": (service, other) => ({
    ...service,
    addresses: other.addresses,
    hasSharingKey: true,
  }),
  "Service with one more address": (service, other) => ({
    ...service,
    addresses: [...new Set([...service.addresses, ...other.addresses])],
    hasSharingKey: true,
  }),
};

/** F13: one Service is changed, and changed back; two that share an address become one group, and come apart again. */
export const serviceFault: Fault = {
  name: "F13 Services",
  inject: (context) => {
    const names = Object.keys(SERVICE_CHANGES);
    const what = names[context.random.below(names.length)] ?? "";
    const change = SERVICE_CHANGES[what];
    if (change !== undefined) changeService(context, what, change);
  },
};

function changeService(context: FaultContext, what: string, change: ServiceChange): void {
  const { world, random, findings } = context;
  const { services } = world.plan;
  const key = `default/${services[random.below(services.length)]?.name}`;
  const otherKey = `default/${services[random.below(services.length)]?.name}`;
  const whole = world.plan.snapshot.services.get(key);
  const other = world.plan.snapshot.services.get(otherKey);
  if (whole === undefined || other === undefined) return;
  const beginMs = instant(context);
  const endMs = Math.min(context.untilMs, beginMs + exponential(random, 100, 15_000));
  const lagMs = () => random.float() * 200;
  const put = (facts: ServiceFacts | undefined) => (snapshot: ClusterSnapshot) => {
    const changed = new Map(snapshot.services);
    if (facts === undefined) changed.delete(key);
    else changed.set(key, facts);
    return { ...snapshot, services: changed };
  };
  world.at(beginMs, () => {
    findings.count(`fault ${what}`);
    world.change(`${what}: ${key} (${otherKey})`, put(change(whole, other)), lagMs);
  });
  // Now and then it stays that way: the end is judged with it.
  if (random.below(4) === 0) return;
  world.at(endMs, () => world.change(`${key} is as it was`, put(whole), lagMs));
}
