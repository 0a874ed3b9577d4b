import { expect } from "chai";
import { acceptConfiguration } from "../../src/desired/accept-configuration.ts";
import type { ClusterSnapshot, PoolFacts, ServiceFacts } from "../../src/desired/snapshot.ts";
import { type Ip, parseIp } from "../../src/net/ip.ts";
import { parsePrefix, rangeOfPrefix } from "../../src/net/prefix.ts";

const ip = (text: string): Ip => parseIp(text) ?? expect.fail(text);

function pool(name: string, prefix: string): PoolFacts {
  return { name, createdAt: "", labels: {}, ranges: [rangeOfPrefix(parsePrefix(prefix) ?? expect.fail(prefix))] };
}

function service(name: string, addresses: readonly string[], isLoadBalancer = true): ServiceFacts {
  return {
    namespace: "default",
    name,
    createdAt: "",
    labels: {},
    isLoadBalancer,
    addresses,
    externalTrafficPolicy: "Cluster",
    hasSharingKey: false,
    isBeingDeleted: false,
  };
}

function snapshot(pools: readonly PoolFacts[], services: readonly ServiceFacts[]): ClusterSnapshot {
  return {
    source: "files",
    pools: new Map(pools.map((one) => [one.name, one])),
    advertisements: new Map(),
    services: new Map(services.map((one) => [`default/${one.name}`, one])),
    endpointSlices: new Map(),
    nodes: new Map(),
    namespaces: new Map(),
  };
}

const OLD = snapshot([pool("a", "192.0.2.0/24")], [service("web", ["192.0.2.1"])]);
const ANNOUNCED = new Set([ip("192.0.2.1")]);

// TestConfig cases of MetalLB's speaker: "new configuration rejected", then accepted once the Service is gone.
describe("acceptConfiguration", () => {
  it("takes the first configuration, and one that keeps every announced address in some pool", () => {
    expect(acceptConfiguration(undefined, OLD, ANNOUNCED).snapshot).to.equal(OLD);
    const moved = snapshot([pool("b", "192.0.2.0/28")], [service("web", ["192.0.2.1"])]);
    expect(acceptConfiguration(OLD, moved, ANNOUNCED)).to.deep.equal({ snapshot: moved });
  });

  it("keeps pools, advertisements and Nodes, but not Services, when an announced address would lose its pool", () => {
    const next = snapshot(
      [pool("b", "198.51.100.0/24")],
      [service("web", ["192.0.2.1"]), service("new", ["198.51.100.1"])],
    );
    const { snapshot: counted, refusal } = acceptConfiguration(OLD, next, ANNOUNCED);
    expect(refusal).to.match(/^no pool holds 192\.0\.2\.1 of Service default\/web any more/);
    expect([...counted.pools.keys()]).to.deep.equal(["a"]);
    expect([...counted.services.keys()]).to.deep.equal(["default/web", "default/new"]);
  });

  it("takes it when the address is announced by nobody here, or given up", () => {
    const next = snapshot([pool("b", "198.51.100.0/24")], [service("web", ["192.0.2.1"])]);
    expect(acceptConfiguration(OLD, next, new Set())).to.deep.equal({ snapshot: next });
    const cleared = snapshot([pool("b", "198.51.100.0/24")], [service("web", [])]);
    expect(acceptConfiguration(OLD, cleared, ANNOUNCED)).to.deep.equal({ snapshot: cleared });
    const retyped = snapshot([pool("b", "198.51.100.0/24")], [service("web", ["192.0.2.1"], false)]);
    expect(acceptConfiguration(OLD, retyped, ANNOUNCED)).to.deep.equal({ snapshot: retyped });
  });
});
