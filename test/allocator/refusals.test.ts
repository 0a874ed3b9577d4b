/** One test for each reason: how it comes about, and the sentence that `kubectl describe service` shows. */
import { expect } from "chai";
import type { RefusalReason } from "../../src/allocator/refusal.ts";
import { Reservations } from "../../src/allocator/reservations.ts";
import type { AllocatorService } from "../../src/allocator/service.ts";
import { ips, pool } from "./objects.ts";
import { IPV4_ONLY, IPV6_ONLY, PREFERS, REQUIRES, service } from "./services.ts";
import { NOW_MS, outcomeOf, type Surroundings } from "./worlds.ts";

const ONE = [pool("main", ["192.0.2.1/32"])];
const asks = (text: string) => ({ annotations: { "metallb.io/loadBalancerIPs": text } });
const asksPool = (name: string) => ({ annotations: { "metallb.io/address-pool": name } });
const holder = (name: string, key?: string, spec = IPV4_ONLY) =>
  service(name, spec, {
    ingress: ["192.0.2.1"],
    createdAt: "2025-01-01T00:00:00Z",
    annotations: key === undefined ? {} : { "metallb.io/allow-shared-ip": key },
  });
const sharing = (key: string) => ({
  annotations: { "metallb.io/loadBalancerIPs": "192.0.2.1", "metallb.io/allow-shared-ip": key },
});
const until = NOW_MS + 3_600_000;

interface Row extends Surroundings {
  readonly service: AllocatorService;
  readonly sentence: string;
}

const ROWS: Readonly<Record<RefusalReason, Row>> = {
  "no-pools": {
    pools: [],
    service: service("web"),
    sentence: "there is no IPAddressPool: create one with addresses that this network routes to the nodes",
  },
  "no-cluster-ip": {
    pools: ONE,
    service: service("web", {}),
    sentence:
      "spec.clusterIP is empty: a Service without a cluster IP cannot have a load-balancer address; remove it or wait for the API server to fill it in",
  },
  "not-enough-cluster-ips": {
    pools: ONE,
    service: service("web", { ...REQUIRES, clusterIPs: ["10.96.0.1"] }),
    sentence:
      'spec.ipFamilyPolicy is "RequireDualStack" but there are not enough clusterips [10.96.0.1]: use PreferDualStack, or give the cluster a second Service range',
  },
  "cluster-ips-unreadable": {
    pools: ONE,
    service: service("web", { clusterIPs: ["None"] }),
    sentence: 'spec.clusterIPs is ["None"]: must be one address, or one of each family',
  },
  "addresses-asked-twice": {
    pools: ONE,
    service: service("web", { ...IPV4_ONLY, loadBalancerIP: "192.0.2.1" }, asks("192.0.2.1")),
    sentence:
      'metadata.annotations["metallb.io/loadBalancerIPs"] is "192.0.2.1": spec.loadBalancerIP is "192.0.2.1" as well; remove one of them (spec.loadBalancerIP is deprecated)',
  },
  "asked-for-no-address": {
    pools: ONE,
    service: service("web", { ...IPV4_ONLY, loadBalancerIP: "notanip" }),
    sentence: 'spec.loadBalancerIP is "notanip": "notanip" is no IP address; write addresses with commas between them',
  },
  "asked-for-two-of-a-family": {
    pools: ONE,
    service: service("web", IPV4_ONLY, asks("192.0.2.1, 192.0.2.2")),
    sentence:
      'metadata.annotations["metallb.io/loadBalancerIPs"] is "192.0.2.1, 192.0.2.2": more than one IPv4 address; a Service has at most one of each family',
  },
  "asked-for-other-family": {
    pools: ONE,
    service: service("web", IPV6_ONLY, asks("192.0.2.1")),
    sentence:
      'metadata.annotations["metallb.io/loadBalancerIPs"] is "192.0.2.1": the families of the addresses must be those of the Service\'s cluster IPs, IPv6',
  },
  "asked-for-one-of-two": {
    pools: ONE,
    service: service("web", { ...PREFERS, loadBalancerIP: "192.0.2.1" }),
    sentence:
      'spec.loadBalancerIP is "192.0.2.1": a dual-stack Service must name one address of each family, in annotation metallb.io/loadBalancerIPs: "IPv4, IPv6"',
  },
  "address-in-no-pool": {
    pools: ONE,
    service: service("web", IPV4_ONLY, asks("203.0.113.1")),
    sentence:
      'metadata.annotations["metallb.io/loadBalancerIPs"] is "203.0.113.1": ["203.0.113.1"] is not allowed in config: no IPAddressPool holds it; ask for another address or add it to a pool',
  },
  "address-avoided": {
    pools: [pool("main", { addresses: ["192.0.2.0/24"], avoidBuggyIPs: true })],
    service: service("web", IPV4_ONLY, asks("192.0.2.255")),
    sentence:
      'metadata.annotations["metallb.io/loadBalancerIPs"] is "192.0.2.255": ["192.0.2.255"] is not allowed in config: IPAddressPool main has avoidBuggyIPs and does not give addresses that end in .0 or .255; ask for another address',
  },
  "addresses-in-two-pools": {
    pools: [...ONE, pool("six", ["2001:db8::/64"])],
    service: service("web", REQUIRES, asks("192.0.2.1,2001:db8::1")),
    sentence:
      'metadata.annotations["metallb.io/loadBalancerIPs"] is "192.0.2.1,2001:db8::1": the addresses are not in one IPAddressPool but in main and six; ask for two of the same pool',
  },
  "address-in-other-pool": {
    pools: ONE,
    service: service("web", IPV4_ONLY, {
      annotations: { "metallb.io/loadBalancerIPs": "192.0.2.1", "metallb.io/address-pool": "gold" },
    }),
    sentence:
      'metadata.annotations["metallb.io/loadBalancerIPs"] is "192.0.2.1": the address belongs to IPAddressPool main, and annotation metallb.io/address-pool asks for gold; change one of the two',
  },
  "address-of-node": {
    pools: ONE,
    nodes: { n1: ["192.0.2.1"] },
    service: service("web", IPV4_ONLY, asks("192.0.2.1")),
    sentence:
      'metadata.annotations["metallb.io/loadBalancerIPs"] is "192.0.2.1": 192.0.2.1 is an address of Node n1 itself; ask for another, and take it out of the pool',
  },
  "address-reserved": {
    pools: [pool("main", ["192.0.2.0/24"])],
    reservations: new Reservations([{ key: "shop/db", addresses: ips("192.0.2.1"), untilMs: until }]),
    service: service("web", IPV4_ONLY, asks("192.0.2.1")),
    sentence:
      'metadata.annotations["metallb.io/loadBalancerIPs"] is "192.0.2.1": 192.0.2.1 is kept for Service shop/db (ConfigMap arpeggio-reservations, until 2026-03-01T01:00:00Z, key reserved); ask for another, or remove the line',
  },
  "unknown-pool": {
    pools: [...ONE, pool("six", ["2001:db8::/64"])],
    service: service("web", IPV4_ONLY, asksPool("gold")),
    sentence:
      'metadata.annotations["metallb.io/address-pool"] is "gold": unknown pool "gold"; pools that would fit: main; create it or name another',
  },
  "pool-refused": {
    pools: [pool("main", ["192.0.2.9-192.0.2.1", "198.51.100.0/24"])],
    service: service("web", IPV4_ONLY, asksPool("main")),
    sentence:
      'metadata.annotations["metallb.io/address-pool"] is "main": IPAddressPool main is refused and gives no addresses until it is repaired: spec.addresses[0] is "192.0.2.9-192.0.2.1": must not end before it starts',
  },
  "pool-does-not-admit": {
    pools: [pool("main", { addresses: ["192.0.2.0/24"], serviceAllocation: { namespaces: ["shop"] } })],
    service: service("web", IPV4_ONLY, asksPool("main")),
    sentence:
      'metadata.annotations["metallb.io/address-pool"] is "main": IPAddressPool main does not admit this Service of namespace "default": compare its spec.serviceAllocation with the Service\'s namespace and labels',
  },
  "pool-lacks-family": {
    pools: ONE,
    service: service("web", IPV6_ONLY, asksPool("main")),
    sentence:
      'metadata.annotations["metallb.io/address-pool"] is "main": IPAddressPool main has no IPv6 addresses; add some to its spec.addresses or use another pool',
  },
  "pool-full": {
    pools: ONE,
    others: [holder("db")],
    service: service("web", IPV4_ONLY, asksPool("main")),
    sentence:
      'metadata.annotations["metallb.io/address-pool"] is "main": no available IPs: every IPv4 address of IPAddressPool main is taken; add some or free one',
  },
  "address-in-use": {
    pools: ONE,
    others: [holder("db")],
    service: service("web", IPV4_ONLY, asks("192.0.2.1")),
    sentence:
      "can't change sharing key, address also in use by default/db: to share 192.0.2.1, give all of them the same annotation metallb.io/allow-shared-ip",
  },
  "sharing-key-differs": {
    pools: ONE,
    others: [holder("db", "blue")],
    service: service("web", IPV4_ONLY, sharing("red")),
    sentence:
      'can\'t change sharing key, address also in use by default/db: on 192.0.2.1 their annotation metallb.io/allow-shared-ip is not "red"; use one key',
  },
  "sharing-policy-differs": {
    pools: ONE,
    others: [holder("db", "red", { ...IPV4_ONLY, externalTrafficPolicy: "Local" })],
    service: service("web", IPV4_ONLY, sharing("red")),
    sentence:
      "can't change sharing key, address also in use by default/db: Services on 192.0.2.1 must all have spec.externalTrafficPolicy Cluster, or all Local with equal spec.selector",
  },
  "port-in-use": {
    pools: ONE,
    others: [holder("db", "red")],
    service: service("web", IPV4_ONLY, sharing("red")),
    sentence: 'port TCP/80 is already in use on "192.0.2.1" by default/db; change spec.ports or use another address',
  },
  "no-pool-for-service": {
    pools: [pool("main", { addresses: ["192.0.2.0/24"], autoAssign: false })],
    service: service("web"),
    sentence:
      'no available IPs: of IPAddressPools main none gives addresses by itself to a Service of namespace "default" with these labels; look at autoAssign and serviceAllocation, or name a pool in annotation metallb.io/address-pool',
  },
  "no-pool-of-family": {
    pools: ONE,
    service: service("web", IPV6_ONLY),
    sentence: "no available IPs: the Service's family is IPv6, and IPAddressPools main have no such address; add some",
  },
  "no-pool-of-both-families": {
    pools: [...ONE, pool("six", ["2001:db8::/64"])],
    service: service("web", REQUIRES),
    sentence:
      'no available IPs: spec.ipFamilyPolicy is "RequireDualStack" and no IPAddressPool has both families (IPv4 only: main; IPv6 only: six); both must come from one pool',
  },
  "no-free-address": {
    pools: ONE,
    others: [holder("db")],
    service: service("web"),
    sentence:
      "no available IPs: every address of IPAddressPools main that would do is taken; add addresses or free some",
  },
  "pool-gone": {
    pools: [pool("main", { addresses: ["192.0.2.1/32"], autoAssign: false })],
    service: service("web", IPV4_ONLY, { ingress: ["203.0.113.1"] }),
    sentence: '["203.0.113.1"] is not allowed in config: no IPAddressPool holds all of it any more',
  },
};

describe("why a Service gets no address", () => {
  for (const [reason, { service: web, sentence, ...surroundings }] of Object.entries(ROWS)) {
    it(reason, () => {
      const { refusal, change, events } = outcomeOf(web, surroundings);
      if (reason === "pool-gone") {
        // Never the last word: what became of the Service after that is.
        expect(events[0]?.message).to.equal(
          `current IP for "default/web" not allowed by config, will attempt for new IP assignment: ${sentence}`,
        );
        return;
      }
      expect(refusal?.reason).to.equal(reason);
      expect(change?.condition?.message).to.equal(sentence);
      expect(change?.condition?.status).to.equal("False");
      expect(change?.condition?.reason).to.match(/^([A-Z][a-z]*)+$/);
    });
  }

  it("each in its own words", () => {
    const sentences = Object.values(ROWS).map(({ sentence }) => sentence);
    expect(new Set(sentences).size).to.equal(sentences.length);
  });

  it("what a Service keeps meanwhile is named", () => {
    const web = service("web", IPV4_ONLY, { ...asks("203.0.113.1"), ingress: ["192.0.2.1"] });
    expect(outcomeOf(web, { pools: ONE }).change?.condition?.message).to.match(/; it keeps 192\.0\.2\.1$/);
  });
});
