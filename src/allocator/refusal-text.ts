/** A refusal as a sentence that names object, field and value and says what to do; MetalLB's words where it has some. Pure. */
import { SERVICE_ANNOTATIONS } from "../../api/annotations.ts";
import { fault } from "../desired/sentence.ts";
import type { Family } from "../net/ip.ts";
import type { Asked, Refusal } from "./refusal.ts";

/** More names than this are counted: a sentence is for reading. */
const MAX_NAMES = 5;

export function refusalText(refusal: Refusal): string {
  switch (refusal.reason) {
    case "no-pools":
      return "there is no IPAddressPool: create one with addresses that this network routes to the nodes";
    case "no-cluster-ip":
      return "spec.clusterIP is empty: a Service without a cluster IP cannot have a load-balancer address; remove it or wait for the API server to fill it in";
    case "not-enough-cluster-ips":
      return `spec.ipFamilyPolicy is "RequireDualStack" but there are not enough clusterips [${refusal.clusterIps.join(" ")}]: use PreferDualStack, or give the cluster a second Service range`;
    case "cluster-ips-unreadable":
      return `spec.clusterIPs is ${JSON.stringify(refusal.clusterIps)}: must be one address, or one of each family`;
    case "addresses-asked-twice":
      return said(
        refusal.asked,
        `spec.loadBalancerIP is ${JSON.stringify(refusal.loadBalancerIp)} as well; remove one of them (spec.loadBalancerIP is deprecated)`,
      );
    case "asked-for-no-address":
      return said(
        refusal.asked,
        `${JSON.stringify(refusal.part)} is no IP address; write addresses with commas between them`,
      );
    case "asked-for-two-of-a-family":
      return said(
        refusal.asked,
        `more than one ${nameOf(refusal.family)} address; a Service has at most one of each family`,
      );
    case "asked-for-other-family":
      return said(
        refusal.asked,
        `the families of the addresses must be those of the Service's cluster IPs, ${refusal.families.map(nameOf).join(" and ")}`,
      );
    case "asked-for-one-of-two":
      return said(
        refusal.asked,
        `a dual-stack Service must name one address of each family, in annotation ${SERVICE_ANNOTATIONS.loadBalancerIps}: "IPv4, IPv6"`,
      );
    case "address-in-no-pool":
      return said(
        refusal.asked,
        `["${refusal.address}"] is not allowed in config: no IPAddressPool holds it; ask for another address or add it to a pool`,
      );
    case "address-avoided":
      return said(
        refusal.asked,
        `["${refusal.address}"] is not allowed in config: IPAddressPool ${refusal.pool} has avoidBuggyIPs and does not give addresses that end in .0 or .255; ask for another address`,
      );
    case "addresses-in-two-pools":
      return said(
        refusal.asked,
        `the addresses are not in one IPAddressPool but in ${refusal.pools.join(" and ")}; ask for two of the same pool`,
      );
    case "address-in-other-pool":
      return said(
        refusal.asked,
        `the address belongs to IPAddressPool ${refusal.pool}, and annotation ${SERVICE_ANNOTATIONS.addressPool} asks for ${refusal.wanted}; change one of the two`,
      );
    case "address-of-node":
      return said(
        refusal.asked,
        `${refusal.address} is an address of Node ${refusal.node} itself; ask for another, and take it out of the pool`,
      );
    case "address-reserved":
      return said(refusal.asked, reservedText(refusal));
    case "unknown-pool": {
      const { fitting } = refusal;
      const fit = fitting.length === 0 ? "no pool would fit" : `pools that would fit: ${list(fitting)}`;
      return said(
        refusal.asked,
        `unknown pool ${JSON.stringify(refusal.asked.value)}; ${fit}; create it or name another`,
      );
    }
    case "pool-refused":
      return saidOf(
        refusal.asked,
        `IPAddressPool ${refusal.pool} is refused and gives no addresses until it is repaired: ${refusal.fault}`,
      );
    case "pool-does-not-admit":
      return saidOf(
        refusal.asked,
        `IPAddressPool ${refusal.pool} does not admit this Service of namespace ${JSON.stringify(refusal.namespace)}: compare its spec.serviceAllocation with the Service's namespace and labels`,
      );
    case "pool-lacks-family":
      return saidOf(
        refusal.asked,
        `IPAddressPool ${refusal.pool} has no ${nameOf(refusal.family)} addresses; add some to its spec.addresses or use another pool`,
      );
    case "pool-full":
      return saidOf(
        refusal.asked,
        `no available IPs: every ${nameOf(refusal.family)} address of IPAddressPool ${refusal.pool} is taken; add some or free one`,
      );
    case "address-in-use":
      return `${cannotShare(refusal)}: to share ${refusal.address}, give all of them the same annotation ${SERVICE_ANNOTATIONS.allowSharedIp}`;
    case "sharing-key-differs":
      return `${cannotShare(refusal)}: on ${refusal.address} their annotation ${SERVICE_ANNOTATIONS.allowSharedIp} is not ${JSON.stringify(refusal.key)}; use one key`;
    case "sharing-policy-differs":
      return `${cannotShare(refusal)}: Services on ${refusal.address} must all have spec.externalTrafficPolicy Cluster, or all Local with equal spec.selector`;
    case "port-in-use":
      return `port ${refusal.port} is already in use on "${refusal.address}" by ${list(refusal.by)}; change spec.ports or use another address`;
    case "pool-gone":
      return `[${refusal.addresses.map((ip) => `"${ip}"`).join(" ")}] is not allowed in config: no IPAddressPool holds all of it any more`;
    case "no-pool-for-service":
      return `no available IPs: of IPAddressPools ${list(refusal.pools)} none gives addresses by itself to a Service of namespace ${JSON.stringify(refusal.namespace)} with these labels; look at autoAssign and serviceAllocation, or name a pool in annotation ${SERVICE_ANNOTATIONS.addressPool}`;
    case "no-pool-of-family":
      return `no available IPs: the Service's family is ${nameOf(refusal.family)}, and IPAddressPools ${list(refusal.pools)} have no such address; add some`;
    case "no-pool-of-both-families":
      return `no available IPs: spec.ipFamilyPolicy is "RequireDualStack" and no IPAddressPool has both families (IPv4 only: ${list(refusal.onlyIpv4)}; IPv6 only: ${list(refusal.onlyIpv6)}); both must come from one pool`;
    case "no-free-address":
      return `no available IPs: every address of IPAddressPools ${list(refusal.pools)} that would do is taken; add addresses or free some`;
    default:
      return refusal satisfies never;
  }
}

/** For `Condition.reason`: `PoolFull`. */
export function refusalCode({ reason }: Refusal): string {
  return reason.replace(/(^|-)([a-z])/g, (_match, _dash, letter: string) => letter.toUpperCase());
}

export function nameOf(family: Family): string {
  return family === 4 ? "IPv4" : "IPv6";
}

function cannotShare({ by }: { readonly by: readonly string[] }): string {
  return `can't change sharing key, address also in use by ${list(by)}`;
}

function reservedText({ address, reservedFor, until }: Extract<Refusal, { reason: "address-reserved" }>): string {
  const how = until === undefined ? "key pinned" : `until ${until}, key reserved`;
  return `${address} is kept for Service ${reservedFor} (ConfigMap arpeggio-reservations, ${how}); ask for another, or remove the line`;
}

function said({ path, value }: Asked, must: string): string {
  return fault(path, value, must).sentence;
}

function saidOf(asked: Asked | undefined, must: string): string {
  return asked === undefined ? must : said(asked, must);
}

function list(names: readonly string[]): string {
  if (names.length === 0) return "none";
  if (names.length <= MAX_NAMES) return names.join(", ");
  return `${names.slice(0, MAX_NAMES).join(", ")} and ${names.length - MAX_NAMES} more`;
}
