/** What the kernel has told so far about links, addresses and on-link routes, and the links that follow from it. Pure. */
import { type Ip, isLinkLocal, isMulticast } from "../net/ip.ts";
import type { Link, MasterKind } from "../net/link.ts";
import { formatPrefix, type Prefix } from "../net/prefix.ts";
import type { AddressRecord } from "./address.ts";
import { ARPHRD_ETHER, IFF_BROADCAST, IFF_LOOPBACK, IFF_NOARP, IFF_UP, type LinkRecord } from "./link.ts";
import { MAIN_TABLE, type RouteRecord } from "./route.ts";
import type { RtnetlinkEvent } from "./rtnetlink.ts";

export class LinkTable {
  readonly #links = new Map<number, LinkRecord>();
  readonly #addresses = new Map<string, AddressRecord>();
  readonly #routes = new Map<string, RouteRecord>();

  /** Applying an event twice, or one about something unknown, changes nothing. */
  apply(event: RtnetlinkEvent): void {
    switch (event.kind) {
      case "link":
        this.#setLink(event.link);
        break;
      case "link-gone":
        this.#links.delete(event.index);
        this.#dropRoutes((route) => route.onLink.includes(event.index));
        for (const [key, address] of this.#addresses) {
          if (address.linkIndex === event.index) this.#addresses.delete(key);
        }
        break;
      case "address":
        this.#addresses.set(addressKey(event.address), event.address);
        break;
      case "address-gone":
        this.#addresses.delete(addressKey(event.address));
        this.#dropRoutesFrom(event.address.ip);
        break;
      case "route":
        if (event.replaces) this.#dropRoutes((route) => destinationKey(route) === destinationKey(event.route));
        if (event.route.onLink.length > 0) this.#routes.set(routeKey(event.route), event.route);
        break;
      case "route-gone":
        this.#routes.delete(routeKey(event.route));
        break;
      case "interrupted":
      case "done":
      case "error":
        break;
    }
  }

  /** Sorted by index; their addresses and prefixes sorted as text. */
  links(): readonly Link[] {
    const addresses = Map.groupBy(this.#addresses.values(), (address) => address.linkIndex);
    const prefixes = this.#prefixesByLink();
    return [...this.#links.values()]
      .toSorted((a, b) => a.index - b.index)
      .map((record) => ({
        index: record.index,
        name: record.name,
        mac: record.mac,
        isEthernet: record.hardwareType === ARPHRD_ETHER,
        isLoopback: (record.flags & IFF_LOOPBACK) !== 0,
        isBroadcast: (record.flags & IFF_BROADCAST) !== 0,
        isNoArp: (record.flags & IFF_NOARP) !== 0,
        isAdminUp: (record.flags & IFF_UP) !== 0,
        hasCarrier: record.hasCarrier,
        masterKind: this.#masterKind(record),
        addresses: assignedIps(addresses.get(record.index) ?? []),
        prefixes: [...(prefixes.get(record.index)?.values() ?? [])].toSorted(byText),
      }));
  }

  #setLink(link: LinkRecord): void {
    const before = this.#links.get(link.index);
    this.#links.set(link.index, link);
    // The kernel removes the routes of a link that is set down; for IPv4 it does not tell.
    const wasUp = before !== undefined && (before.flags & IFF_UP) !== 0;
    if (wasUp && (link.flags & IFF_UP) === 0) this.#dropRoutes((route) => route.onLink.includes(link.index));
  }

  /** The kernel removes IPv4 routes with the preferred source that was removed last; it does not tell. */
  #dropRoutesFrom(source: Ip): void {
    for (const address of this.#addresses.values()) if (address.ip === source) return;
    this.#dropRoutes((route) => route.family === 4 && route.source === source);
  }

  #dropRoutes(isGone: (route: RouteRecord) => boolean): void {
    for (const [key, route] of this.#routes) if (isGone(route)) this.#routes.delete(key);
  }

  #masterKind(link: LinkRecord): MasterKind {
    if (link.masterIndex === undefined) return "none";
    const kind = link.masterKind ?? this.#links.get(link.masterIndex)?.kind;
    return kind === "vrf" ? "vrf" : "other";
  }

  #prefixesByLink(): Map<number, Map<string, Prefix>> {
    const byLink = new Map<number, Map<string, Prefix>>();
    for (const { prefix, table, onLink } of this.#routes.values()) {
      if (!describesSegment(prefix)) continue;
      for (const index of onLink) {
        if (table !== (this.#links.get(index)?.vrfTable ?? MAIN_TABLE)) continue;
        const prefixes = byLink.get(index) ?? new Map<string, Prefix>();
        prefixes.set(formatPrefix(prefix), prefix);
        byLink.set(index, prefixes);
      }
    }
    return byLink;
  }
}

/** A default route "on link" holds every address and tells nothing about the segment. */
function describesSegment(prefix: Prefix): boolean {
  return prefix.length > 0 && !isLinkLocal(prefix.network) && !isMulticast(prefix.network);
}

function assignedIps(addresses: readonly AddressRecord[]): Ip[] {
  return [...new Set(addresses.filter((address) => address.isAssigned).map((address) => address.ip))].toSorted();
}

function byText(a: Prefix, b: Prefix): number {
  return formatPrefix(a) < formatPrefix(b) ? -1 : 1;
}

function addressKey(address: AddressRecord): string {
  return `${address.linkIndex} ${address.ip}/${address.prefixLength}`;
}

function destinationKey(route: RouteRecord): string {
  return `${route.table} ${formatPrefix(route.prefix)} ${route.metric} ${route.typeOfService}`;
}

function routeKey(route: RouteRecord): string {
  return `${destinationKey(route)} ${route.onLink.join()}`;
}
