/** F9 and F10: what makes views differ, and is never healed: an API that one node hears late or not at all, files that one node alone has. */
import type { ClusterSnapshot } from "../../src/desired/snapshot.ts";
import { withEndpoints, withOnlyNode, withoutService } from "./cluster.ts";
import { type Fault, type FaultContext, instant, someMachine } from "./fault.ts";
import type { Machine } from "./machine.ts";

/** Long after the world has ended. */
const NEVER_MS = 1e9;
const LONGEST_LAG_MS = 60_000;

/** One change of the API's objects in two: a Service that comes, or its endpoints that move. */
export const apiLagFault: Fault = {
  name: "F9 API lag",
  inject: (context) => {
    const { world, random, findings } = context;
    const service = world.plan.services[random.below(world.plan.services.length)];
    if (service === undefined) return;
    const whole = world.plan.snapshot.services.get(`default/${service.name}`);
    const nodes = world.plan.nodes.filter(() => random.below(2) === 0);
    const comesNew = random.below(2) === 0;
    const lags = new Map(world.machines.map(({ name }) => [name, drawLagMs(context)]));
    const lagMs = ({ name }: Machine) => lags.get(name) ?? 0;
    const atMs = instant(context);
    if (comesNew && whole !== undefined) {
      world.at(atMs, () =>
        world.change(
          `${service.name} goes`,
          (s) => withoutService(s, service.name),
          () => 0,
        ),
      );
      world.at(atMs + 3_000, () => {
        findings.count("fault API lag, a Service comes");
        const services = (snapshot: ClusterSnapshot) =>
          new Map([...snapshot.services, [`default/${service.name}`, whole]]);
        world.change(`${service.name} comes`, (s) => ({ ...s, services: services(s) }), lagMs);
      });
      return;
    }
    world.at(atMs, () => {
      findings.count("fault API lag, endpoints move");
      const what = `endpoints of ${service.name} are on ${nodes.join(" ") || "no node"}`;
      world.change(what, (snapshot) => withEndpoints(snapshot, service.name, nodes), lagMs);
    });
  },
};

/** Most hear of it as always; some much later, some never. */
function drawLagMs({ random }: FaultContext): number {
  switch (random.below(4)) {
    case 0:
      return random.float() * LONGEST_LAG_MS;
    case 1:
      return NEVER_MS;
    default:
      return random.float() * 200;
  }
}

/** The files of one node alone: a Service is missing, or only one node may lead anything. */
export const fileEditFault: Fault = {
  name: "F10 files of one node",
  inject: (context) => {
    const { world, random, findings } = context;
    const machine = someMachine(context);
    const service = world.plan.services[random.below(world.plan.services.length)];
    const onlyNode = someMachine(context).name;
    const isMissing = random.below(2) === 0;
    if (service === undefined) return;
    world.at(instant(context), () => {
      findings.count(isMissing ? "fault file of a Service missing" : "fault file names one node");
      world.edit(machine, (snapshot) =>
        isMissing ? withoutService(snapshot, service.name) : withOnlyNode(snapshot, onlyNode),
      );
    });
  },
};
