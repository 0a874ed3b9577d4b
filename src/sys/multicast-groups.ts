/** Memberships in IPv6 multicast groups, held by real sockets so that the kernel sends MLD reports. */
import { errnoOf } from "../base/errors.ts";
import { type Ip, ipBytes } from "../net/ip.ts";
import { addon, type NativeGroupSocket } from "./addon.ts";

/** The memory of a socket's memberships is limited (net.core.optmem_max, 20 KiB at least). */
const GROUPS_A_SOCKET = 200;

export interface GroupProblem {
  readonly linkIndex: number;
  readonly group: Ip;
  /** errno name: ENODEV for a link that is gone or has no IPv6. */
  readonly code: string;
}

interface Holder {
  readonly socket: NativeGroupSocket;
  groups: number;
}

interface Membership {
  readonly linkIndex: number;
  readonly group: Ip;
  holder: Holder | undefined;
  problem: string | undefined;
}

export class MulticastGroups {
  readonly #memberships = new Map<string, Membership>();
  readonly #holders: Holder[] = [];

  /** Idempotent. A failure is no exception: it is kept in problems() and tried again at setLinks(). */
  join(linkIndex: number, group: Ip): void {
    const key = keyOf(linkIndex, group);
    const known = this.#memberships.get(key);
    if (known?.holder !== undefined) return;
    const membership = known ?? { linkIndex, group, holder: undefined, problem: undefined };
    this.#memberships.set(key, membership);
    this.#join(membership);
  }

  /** Idempotent, also for a link that is gone. */
  leave(linkIndex: number, group: Ip): void {
    const key = keyOf(linkIndex, group);
    const membership = this.#memberships.get(key);
    if (membership === undefined) return;
    this.#memberships.delete(key);
    this.#leave(membership);
  }

  /** Links that exist now: the kernel forgets the memberships of a link that goes away, even if its index comes back. */
  setLinks(linkIndices: readonly number[]): void {
    const present = new Set(linkIndices);
    for (const membership of this.#memberships.values()) {
      if (!present.has(membership.linkIndex)) this.#leave(membership);
      else if (membership.holder === undefined) this.#join(membership);
    }
  }

  problems(): readonly GroupProblem[] {
    return [...this.#memberships.values()].flatMap(({ linkIndex, group, problem }) =>
      problem === undefined ? [] : [{ linkIndex, group, code: problem }],
    );
  }

  close(): void {
    for (const { socket } of this.#holders) socket.close();
    this.#holders.length = 0;
    this.#memberships.clear();
  }

  #join(membership: Membership): void {
    try {
      const holder = this.#holderWithRoom();
      holder.socket.join(membership.linkIndex, ipBytes(membership.group));
      holder.groups++;
      membership.holder = holder;
      membership.problem = undefined;
    } catch (error) {
      membership.problem = errnoOf(error);
    }
  }

  #leave(membership: Membership): void {
    const { holder } = membership;
    if (holder === undefined) return;
    membership.holder = undefined;
    holder.groups--;
    try {
      holder.socket.leave(membership.linkIndex, ipBytes(membership.group));
    } catch (error) {
      // The link is gone and its memberships with it; the socket has let go all the same.
      membership.problem = errnoOf(error);
    }
    if (holder.groups > 0 || this.#holders.length === 1) return;
    holder.socket.close();
    this.#holders.splice(this.#holders.indexOf(holder), 1);
  }

  #holderWithRoom(): Holder {
    const known = this.#holders.find((holder) => holder.groups < GROUPS_A_SOCKET);
    if (known !== undefined) return known;
    const holder = { socket: new addon.GroupSocket(), groups: 0 };
    this.#holders.push(holder);
    return holder;
  }
}

function keyOf(linkIndex: number, group: Ip): string {
  return `${linkIndex} ${group}`;
}
