/** The process that runs on a machine, as the world deals with it: a speaker, a mutant of it, or a dummy in the world's own tests. */
import type { Clock } from "../../src/base/clock.ts";
import type { Random } from "../../src/base/random.ts";
import type { ClusterSnapshot } from "../../src/desired/snapshot.ts";
import type { HoldersByIp } from "../../src/election/holders.ts";
import type { KeyFiles } from "../../src/gossip/key-rotation.ts";
import type { Endpoint } from "../../src/gossip/message.ts";
import type { Ip } from "../../src/net/ip.ts";
import type { Link } from "../../src/net/link.ts";
import type { ProcessPackets } from "./process-packets.ts";
import type { ProcessTransport } from "./process-transport.ts";

/** One candidate list as the speaker holds it, reduced to what two nodes must have in common. */
export interface HeldDecision {
  readonly key: Ip;
  readonly addresses: readonly Ip[];
  readonly leader: string | undefined;
  readonly reason: string;
  readonly isSticky: boolean;
  /** Best first. */
  readonly candidates: readonly string[];
  readonly tiers: readonly { readonly node: string; readonly tier: number }[];
  /** Everything that D3 makes of the inputs, as one comparable text. */
  readonly whole: string;
}

export interface HeldMember {
  readonly name: string;
  readonly ip: Ip;
  readonly state: string;
  readonly incarnation: number;
  /** The word's bytes as hexadecimal text; empty for a member without. */
  readonly meta: string;
}

/** The part of its own word that only a speaker can know. */
export interface OwnFlags {
  readonly isReady: boolean;
  readonly isSettling: boolean;
  readonly isDamped: boolean;
  /** Indices of links that were lost a short time ago. */
  readonly returningLinks: readonly number[];
}

export interface SaidOfAddress {
  readonly state: string;
  readonly leader?: string | undefined;
}

/** What a speaker says of itself. Claims to be checked, never evidence of what the wire does. */
export interface TenantView extends OwnFlags {
  readonly incarnation: number;
  readonly rule: string;
  readonly members: readonly HeldMember[];
  readonly decisions: readonly HeldDecision[];
  /** Who holds sticky addresses, best first. */
  readonly holders: HoldersByIp;
  /** Addresses that it has taken though another is elected, and those that it is silent for though it is elected (DESIGN D9). */
  readonly taken: readonly Ip[];
  readonly contested: readonly Ip[];
  /** Everything decisions may depend on, as one comparable text; absent while an observation of its own still ripens. */
  readonly inputs: string | undefined;
}

export interface Tenant {
  setLinks(links: readonly Link[]): void;
  applySnapshot(snapshot: ClusterSnapshot): void;
  setPeers(endpoints: readonly Endpoint[]): void;
  /** The files of the gossip key were read again; only of a process that was started with some. */
  changeKeys?(files: KeyFiles): void;
  /** SIGTERM; `TenantPorts.exited` is called when the process ends by itself. */
  leave(): void;
  flags(): OwnFlags;
  /** What `/status` says of an address; undefined while nothing is decided about it, or its wire is mute. */
  saysOf(ip: Ip): SaidOfAddress | undefined;
  /** The same object as long as nothing of it has changed: what is judged by it alone need not be judged again. */
  view(): TenantView;
  /** The process was ended from outside; nothing of it may run any more. */
  close(): void;
}

export interface TenantPorts {
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly transport: ProcessTransport;
  readonly packets: ProcessPackets;
  readonly afterPoll: (callback: () => void) => void;
  /** The speaker said something worth a line; addresses it names are looked at from outside at once. */
  readonly noted: (text: string, about: readonly Ip[]) => void;
  readonly exited: () => void;
  /** Absent: gossip goes in the clear. */
  readonly keys?: KeyFiles;
}

export type StartTenant = (ports: TenantPorts) => Tenant;
