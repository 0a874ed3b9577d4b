/** The real speaker as a tenant of a machine, composed as the wire thread composes it. */
import { Speaker } from "../../speaker/speaker.ts";
import type { SpeakerNote, SpeakerPorts, SpeakerSettings } from "../../speaker/speaker-ports.ts";
import { saidOf } from "../../speaker/status-view.ts";
import { hexOf } from "../../src/base/bytes.ts";
import { type Random, SeededRandom, shuffled } from "../../src/base/random.ts";
import { isSameList } from "../../src/base/same-list.ts";
import type { Derived } from "../../src/desired/group.ts";
import type { ClusterSnapshot } from "../../src/desired/snapshot.ts";
import { diffSnapshots, SnapshotReceiver } from "../../src/desired/snapshot-difference.ts";
import { compareText } from "../../src/desired/text-order.ts";
import type { Decision } from "../../src/election/decision.ts";
import type { HoldersByIp } from "../../src/election/holders.ts";
import { flagsOf } from "../../src/election/standing.ts";
import { createCodec } from "../../src/gossip/codec.ts";
import type { KeyFiles } from "../../src/gossip/key-rotation.ts";
import { RotatingKeys } from "../../src/gossip/rotating-keys.ts";
import type { Member } from "../../src/gossip/swim-event.ts";
import type { Ip } from "../../src/net/ip.ts";
import { EXCLUDE_LABEL, OUT_OF_SERVICE_TAINT, revisionOf } from "./cluster.ts";
import { fasterClock } from "./faster-clock.ts";
import type { Mutant } from "./mutants.ts";
import { RunMemory } from "./run-memory.ts";
import type {
  HeldDecision,
  HeldMember,
  OwnFlags,
  SaidOfAddress,
  StartTenant,
  Tenant,
  TenantPorts,
  TenantView,
} from "./tenant.ts";
import { WORLD_TIMING } from "./user-messages.ts";

const SETTINGS: Omit<SpeakerSettings, "nodeName" | "pastTroubles"> = {
  electionCap: "auto",
  loadBalancerClass: "",
  ignoresExcludeLabel: false,
  ignoresCordon: false,
  excludedLinks: [],
  detectsFast: true,
  reportsServices: false,
};

/** A mutant, or a speaker with other settings or ports, or one that is listened to. */
export interface Variant extends Pick<Mutant, "settings" | "ports" | "speaker" | "keys"> {
  readonly turnBudget?: number;
  /** Keys are exchanged so many times as fast as in life. */
  readonly keyPace?: number | undefined;
  readonly note?: (node: string, note: SpeakerNote) => void;
}

export function speakerTenant(variant?: Variant): StartTenant {
  /** The cache folders of all machines of one world. */
  const records = new Map<string, RunMemory>();
  return (ports) => {
    const record = records.get(ports.name) ?? new RunMemory();
    records.set(ports.name, record);
    const budget = variant?.turnBudget === undefined ? {} : { turnBudget: variant.turnBudget };
    const pastTroubles = record.begin(ports.clock.wallMs());
    const settings = { ...SETTINGS, ...budget, nodeName: ports.name, pastTroubles };
    const keys = ports.keys && new RotatingKeys(ports.keys, fasterClock(ports.clock, variant?.keyPace ?? 1), () => {});
    if (keys !== undefined) variant?.keys?.(keys);
    const speakerPorts = portsOf(ports, keys);
    const speaker = new Speaker(
      variant?.settings?.(settings) ?? settings,
      variant?.ports?.(speakerPorts, () => speaker) ?? speakerPorts,
      (note) => {
        variant?.note?.(ports.name, note);
        record.hear(note, ports.clock.wallMs());
        tell(note, ports);
      },
    );
    ports.packets.listen((...frame) => speaker.receiveFrame(...frame), {
      onBatchEnd: () => speaker.endBatch(),
      framesUntilMs: () => speaker.fence.framesUntilMs,
    });
    variant?.speaker?.(speaker, speakerPorts);
    speaker.start();
    return new SpeakerTenant(speaker, ports, keys);
  };
}

function portsOf(
  { clock, random, transport, packets, afterPoll }: TenantPorts,
  keys: RotatingKeys | undefined,
): SpeakerPorts {
  const ring = keys === undefined ? {} : { keyring: keys.keyring };
  return {
    clock,
    random,
    turns: { afterReads: afterPoll },
    gossip: {
      transport,
      codec: createCodec({ ...ring, label: "", timing: WORLD_TIMING, random: new SeededRandom(1) }),
      timing: WORLD_TIMING,
    },
    packets,
    groups: packets,
  };
}

function tell(note: SpeakerNote, { noted, exited }: TenantPorts): void {
  if (note.kind === "leaders") {
    for (const { ip, from, to, reason } of note.changes) {
      noted(`leader of ${ip} is ${to ?? "nobody"}, was ${from ?? "nobody"}: ${reason}`, [ip]);
    }
    return;
  }
  noted(JSON.stringify(note), []);
  if (note.kind === "left") exited();
}

class SpeakerTenant implements Tenant {
  readonly #speaker: Speaker;
  readonly #ports: TenantPorts;
  readonly #keys: RotatingKeys | undefined;
  /** Of its own: how often objects come shifts nothing else of a story. */
  readonly #order: SeededRandom;
  /** As the wire thread puts it together: its snapshot is changed in place. */
  readonly #receiver = new SnapshotReceiver();
  #snapshot: ClusterSnapshot | undefined;
  /** When snapshot or members changed last. */
  #changedMs = 0;
  #memberNames = "";
  #view: TenantView | undefined;
  /** What views were made of, each the same object as long as nothing of it has changed. */
  #membersSeen: { readonly of: readonly Member[]; readonly held: readonly HeldMember[] } | undefined;
  #decisionsSeen: readonly Decision[] | undefined;
  #decisions: readonly HeldDecision[] = [];
  #ledHere: readonly Ip[] = [];
  #holders: HoldersByIp = new Map();
  #inputsSeen: { readonly of: readonly unknown[]; readonly text: string } | undefined;

  constructor(speaker: Speaker, ports: TenantPorts, keys: RotatingKeys | undefined) {
    this.#speaker = speaker;
    this.#keys = keys;
    this.#ports = ports;
    this.#order = new SeededRandom(ports.random.below(0xffff_ffff));
  }

  setLinks(...links: Parameters<Tenant["setLinks"]>): void {
    this.#speaker.setLinks(...links);
  }

  setPeers(...peers: Parameters<Tenant["setPeers"]>): void {
    this.#speaker.setPeers(...peers);
  }

  /** Objects arrive in another order at every node: the order may mean nothing. */
  applySnapshot(snapshot: ClusterSnapshot): void {
    const messages = [...diffSnapshots(this.#snapshot, inAnotherOrder(snapshot, this.#order))];
    this.#snapshot = snapshot;
    this.#changedMs = this.#ports.clock.nowMs();
    for (const message of messages) {
      const received = this.#receiver.apply(message);
      if (received !== undefined) this.#speaker.applySnapshot(received, this.#receiver.changed, revisionOf(snapshot));
    }
    if (messages.length === 0) this.#speaker.setFreshness(revisionOf(snapshot));
  }

  changeKeys(files: KeyFiles): void {
    this.#keys?.change(files);
  }

  leave(): void {
    this.#speaker.leave();
  }

  close(): void {
    this.#keys?.close();
    void this.#speaker.close();
  }

  flags(): OwnFlags {
    const { council } = this.#speaker;
    const nowMs = this.#ports.clock.nowMs();
    const flags = flagsOf(council.node.standing, nowMs);
    return {
      isReady: flags.includes("ready"),
      isSettling: flags.includes("settling"),
      isDamped: flags.includes("damped"),
      returningLinks: council.node.links(nowMs).flatMap(({ link, isReturning }) => (isReturning ? [link.index] : [])),
    };
  }

  saysOf(ip: Ip): SaidOfAddress | undefined {
    if (this.#speaker.fence.isMute) return undefined;
    return saidOf(this.#speaker, ip, this.#ports.name);
  }

  view(): TenantView {
    const view = this.#look();
    if (this.#view === undefined || !isSameView(this.#view, view)) this.#view = view;
    return this.#view;
  }

  #look(): TenantView {
    const { council, gossip, orphans } = this.#speaker;
    const members = this.#members();
    if (this.#decisionsSeen !== council.decisions) this.#lookAtDecisions(council.decisions);
    // The speaker changes its own in place.
    const { byIp } = council.holding;
    if (!isSameMap(byIp, this.#holders)) this.#holders = new Map(byIp);
    return {
      incarnation: gossip?.self.incarnation ?? 0,
      ...this.flags(),
      rule: council.rule.rule,
      members,
      decisions: this.#decisions,
      holders: this.#holders,
      taken: [...orphans.taken.keys()],
      contested: this.#contested(),
      inputs: this.#inputs(members),
    };
  }

  #members(): readonly HeldMember[] {
    const of = this.#speaker.gossip?.members() ?? [];
    if (this.#membersSeen?.of === of) return this.#membersSeen.held;
    const held = of.map(({ name, endpoint, state, incarnation, meta }) => ({
      name,
      ip: endpoint.ip,
      state,
      incarnation,
      meta: textOf(meta),
    }));
    const memberNames = held.map(({ name, state }) => `${name} ${state}`).join();
    if (memberNames !== this.#memberNames) this.#changedMs = this.#ports.clock.nowMs();
    this.#memberNames = memberNames;
    this.#membersSeen = { of, held };
    return held;
  }

  #lookAtDecisions(of: readonly Decision[]): void {
    this.#decisionsSeen = of;
    this.#ledHere = of.flatMap(({ leader, group }) => (leader === this.#ports.name ? group.addresses : []));
    const decisions = of.map(heldDecision);
    if (!isSameList(decisions, this.#decisions)) this.#decisions = decisions;
  }

  #contested(): readonly Ip[] {
    const { announcer } = this.#speaker;
    return this.#ledHere.filter((ip) => {
      const state = announcer.addressState(ip);
      return state?.phase === "stopped" && state.contest !== undefined;
    });
  }

  /**
   * A node that has said goodbye still counts itself and is in no list: nothing to compare. Nor is there while its word waits for
   * the fence to open, or some decisions for their turn, or what the API says against a word ripens, because that takes 10 s from when each observer first saw both.
   */
  #inputs(members: TenantView["members"]): string | undefined {
    const isMember = members.some(({ name, state }) => name === this.#ports.name && state === "alive");
    if (
      this.#snapshot === undefined ||
      this.#speaker.fence.isMute ||
      !isMember ||
      this.#isRipening(this.#snapshot, members)
    )
      return undefined;
    const { rule, derived, isDeciding } = this.#speaker.council;
    if (isDeciding) return undefined;
    // Each observer waits for an answer of its own from whoever was dead.
    const proven = members.filter(({ name }) => this.#speaker.gossip?.unproven.has(name) !== true);
    const of = [this.#snapshot, rule.rule, derived, this.#holders, ...proven];
    if (this.#inputsSeen !== undefined && isSameList(of, this.#inputsSeen.of)) return this.#inputsSeen.text;
    const held = JSON.stringify([...this.#holders].toSorted(([a], [b]) => compareText(a, b)));
    const text = [inputsOf(this.#snapshot, proven, rule.rule), ...freshEndpoints(derived), held].join(",");
    this.#inputsSeen = { of, text };
    return text;
  }

  #isRipening({ nodes }: ClusterSnapshot, members: TenantView["members"]): boolean {
    if (this.#ports.clock.nowMs() - this.#changedMs > RIPENING_MS) return false;
    return members.some(({ name }) => {
      const node = nodes.get(name);
      return node === undefined || EXCLUDE_LABEL in node.labels || node.taintKeys.includes(OUT_OF_SERVICE_TAINT);
    });
  }
}

function isSameMap<Key, Value>(a: ReadonlyMap<Key, Value>, b: ReadonlyMap<Key, Value>): boolean {
  if (a.size !== b.size) return false;
  for (const [key, value] of a) if (b.get(key) !== value) return false;
  return true;
}

function isSameView(a: TenantView, b: TenantView): boolean {
  return (
    a.incarnation === b.incarnation &&
    a.isReady === b.isReady &&
    a.isSettling === b.isSettling &&
    a.isDamped === b.isDamped &&
    isSameList(a.returningLinks, b.returningLinks) &&
    a.rule === b.rule &&
    a.members === b.members &&
    a.decisions === b.decisions &&
    a.holders === b.holders &&
    isSameList(a.taken, b.taken) &&
    isSameList(a.contested, b.contested) &&
    a.inputs === b.inputs
  );
}

/** What the API may say against a word (DESIGN D4), and the seconds until it counts, with a margin. */
const RIPENING_MS = 12_000;

const SNAPSHOT_NUMBERS = new WeakMap<ClusterSnapshot, number>();
let snapshots = 0;

/** A name for equal snapshots: deliveries share the object. */
function numberOf(snapshot: ClusterSnapshot): number {
  const known = SNAPSHOT_NUMBERS.get(snapshot) ?? ++snapshots;
  SNAPSHOT_NUMBERS.set(snapshot, known);
  return known;
}

function inputsOf(snapshot: ClusterSnapshot, members: TenantView["members"], rule: string): string {
  const present = members
    .filter(({ state }) => state === "alive" || state === "suspect")
    .map(({ name, meta }) => `${name} ${meta}`)
    .toSorted();
  return [numberOf(snapshot), rule, ...present].join(",");
}

/** Who is fresh follows from when each observer saw an endpoint turn ready: an input of its own (src/desired/fresh-endpoints.ts). */
function freshEndpoints({ groups }: Derived): readonly string[] {
  return groups.flatMap(({ services }) =>
    services.flatMap(({ namespace, name, freshNodes }) =>
      freshNodes === undefined ? [] : [`${namespace}/${name} ${[...freshNodes].toSorted().join(" ")}`],
    ),
  );
}

/** Decisions and metadata are values: what was made of one stands as long as it does. */
const HELD = new WeakMap<Decision, HeldDecision>();
const TEXTS = new WeakMap<Uint8Array, string>();

function heldDecision(decision: Decision): HeldDecision {
  const known = HELD.get(decision);
  if (known !== undefined) return known;
  const { group, candidates, refusals, leader, second, reason, sticky } = decision;
  const whole = { key: group.key, addresses: group.addresses, candidates, refusals, leader, second, reason, sticky };
  const held = {
    key: group.key,
    addresses: group.addresses,
    leader,
    reason,
    isSticky: sticky !== undefined,
    candidates: candidates.map(({ node }) => node),
    tiers: candidates.map(({ node, tier }) => ({ node, tier })),
    whole: JSON.stringify(whole),
  };
  HELD.set(decision, held);
  return held;
}

function textOf(meta: Uint8Array): string {
  const known = TEXTS.get(meta) ?? hexOf(meta);
  TEXTS.set(meta, known);
  return known;
}

function inAnotherOrder(snapshot: ClusterSnapshot, random: Random): ClusterSnapshot {
  const shuffle = <Key, Value>(map: ReadonlyMap<Key, Value>) => new Map(shuffled([...map], random));
  return {
    ...snapshot,
    pools: shuffle(snapshot.pools),
    advertisements: shuffle(snapshot.advertisements),
    services: shuffle(snapshot.services),
    endpointSlices: shuffle(snapshot.endpointSlices),
    nodes: shuffle(snapshot.nodes),
  };
}
