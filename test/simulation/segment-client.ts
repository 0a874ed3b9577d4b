/**
 * A client on the segment: one neighbour entry per address, changed by what arrives as its kind of system changes it.
 * The rules for Linux are those of net/ipv4/arp.c and net/ipv6/ndisc.c; its entry is locked for a second (locktime).
 */
import type { VirtualClock } from "../../src/base/clock.ts";
import { familyOf, type Ip } from "../../src/net/ip.ts";
import { isGroupMac, type Mac } from "../../src/net/mac.ts";
import type { EthernetSwitch, SwitchPort } from "./ethernet-switch.ts";
import { answerFrame, isUnsolicited, macsOf, type NeighbourFrame, readFrame, requestFrame } from "./frames.ts";

/** linux: lock time. no-lock: takes every announcement. ignores-gratuitous: `drop_gratuitous_arp`, and NA unasked. */
export const CLIENT_KINDS = ["linux", "no-lock", "ignores-gratuitous"] as const;
export type ClientKind = (typeof CLIENT_KINDS)[number];

/** Linux: an entry is not changed by a reply within a second of its last change (net.ipv4.neigh.*.locktime). */
const LOCK_MS = 1_000;
/** Linux: base_reachable_time 30 s, then stale, 5 s of delay, three unicast probes a second apart, then three to all. */
const REACHABLE_MS = 30_000;
const PROBE_MS = 1_000;
const UNICAST_PROBES = 3;

interface Entry {
  readonly mac: Mac;
  readonly changedMs: number;
  readonly confirmedMs: number;
}

export class SegmentClient implements SwitchPort {
  readonly name: string;
  readonly kind: ClientKind;
  readonly mac: Mac;
  readonly groups = new Set<Mac>();
  readonly isUp = true;
  readonly #ips: { readonly 4: Ip; readonly 6: Ip };
  readonly #clock: VirtualClock;
  readonly #segment: EthernetSwitch;
  readonly #entries = new Map<Ip, Entry>();
  readonly #asked = new Map<Ip, { tries: number; atMs: number }>();

  constructor(
    name: string,
    kind: ClientKind,
    mac: Mac,
    ips: { readonly 4: Ip; readonly 6: Ip },
    clock: VirtualClock,
    segment: EthernetSwitch,
  ) {
    this.name = name;
    this.kind = kind;
    this.mac = mac;
    this.#ips = ips;
    this.#clock = clock;
    this.#segment = segment;
    segment.attach(this);
  }

  /** Where a packet to `ip` would go now; undefined: nobody is known. */
  macOf(ip: Ip): Mac | undefined {
    return this.#entries.get(ip)?.mac;
  }

  /** Wants to send to `ip`: asks when nothing is known, and checks an entry that is no longer fresh. */
  use(ip: Ip): void {
    const nowMs = this.#clock.nowMs();
    const entry = this.#entries.get(ip);
    if (entry !== undefined && nowMs - entry.confirmedMs < REACHABLE_MS) return;
    const asked = this.#asked.get(ip) ?? { tries: 0, atMs: Number.NEGATIVE_INFINITY };
    if (nowMs - asked.atMs < PROBE_MS) return;
    const to = entry !== undefined && asked.tries < UNICAST_PROBES ? entry.mac : undefined;
    // The entry of a neighbour that does not answer the unicast probes is given up.
    if (entry !== undefined && asked.tries === UNICAST_PROBES) this.#entries.delete(ip);
    this.#asked.set(ip, { tries: asked.tries + 1, atMs: nowMs });
    this.#segment.transmit(this, requestFrame({ mac: this.mac, ip: this.#ips[familyOf(ip)] }, ip, to));
  }

  receive(frame: Uint8Array): void {
    const { destination } = macsOf(frame);
    if (destination !== this.mac && !isGroupMac(destination)) return;
    const heard = readFrame(frame);
    if (heard !== undefined) this.#hear(heard);
  }

  #hear(heard: NeighbourFrame): void {
    const own = this.#ips[heard.form.startsWith("arp") ? 4 : 6];
    if ((heard.form === "arp-request" || heard.form === "solicitation") && heard.targetIp === own) {
      if (heard.senderMac !== undefined) this.#learn(heard.senderIp, heard.senderMac, true);
      const asker = { mac: heard.source, ip: heard.senderIp };
      this.#segment.transmit(this, answerFrame({ mac: this.mac, ip: own }, asker));
      return;
    }
    if (heard.form === "solicitation") return;
    const ip = heard.form === "advertisement" ? heard.targetIp : heard.senderIp;
    const { senderMac } = heard;
    if (senderMac === undefined || ip === own) return;
    if (!isUnsolicited(heard)) {
      if (heard.form !== "arp-request" && this.#asked.delete(ip)) this.#learn(ip, senderMac, true);
      else this.#change(heard, ip, senderMac);
      return;
    }
    if (this.kind !== "ignores-gratuitous") this.#change(heard, ip, senderMac);
  }

  /** News that nobody asked for changes an entry that is there, and creates none (arp_accept = 0). */
  #change(heard: NeighbourFrame, ip: Ip, mac: Mac): void {
    const entry = this.#entries.get(ip);
    if (entry === undefined || (heard.form === "advertisement" && heard.isOverride !== true)) return;
    const isLocked = this.#clock.nowMs() - entry.changedMs < LOCK_MS;
    if (this.kind === "linux" && isLocked && !overridesLock(heard)) return;
    this.#learn(ip, mac, false);
  }

  #learn(ip: Ip, mac: Mac, isConfirmed: boolean): void {
    const nowMs = this.#clock.nowMs();
    const before = this.#entries.get(ip);
    const changedMs = before?.mac === mac ? before.changedMs : nowMs;
    // An entry changed by news is stale: it is used, and checked soon.
    const confirmedMs = isConfirmed ? nowMs : nowMs - REACHABLE_MS + PROBE_MS;
    this.#entries.set(ip, { mac, changedMs, confirmedMs });
  }
}

/** Lock time guards against ARP that nobody asked for, except what `arp_is_garp` calls gratuitous: a reply must name itself twice. */
function overridesLock(heard: NeighbourFrame): boolean {
  if (heard.form === "advertisement") return true;
  if (heard.senderIp !== heard.targetIp) return false;
  return heard.form === "arp-request" || heard.targetMac === heard.senderMac;
}
