/** Speakers with one fault built in, each to be caught by the invariant it breaks: proof that the checkers see. */

import { Council } from "../../speaker/council.ts";
import type { Speaker } from "../../speaker/speaker.ts";
import type { SpeakerPorts, SpeakerSettings } from "../../speaker/speaker-ports.ts";
import type { AnnouncerEvent, Duty } from "../../src/announcer/ports.ts";
import type { ClusterSnapshot, ServiceFacts } from "../../src/desired/snapshot.ts";
import type { NodeWord } from "../../src/election/word.ts";
import type { StreamHandler, Transport, TransportHandler } from "../../src/gossip/ports.ts";
import { RotatingKeys } from "../../src/gossip/rotating-keys.ts";
import type { Ip } from "../../src/net/ip.ts";
import { FAILOVER_MUTANTS } from "./mutants-failover.ts";
import { MESSAGE_MUTANTS } from "./mutants-messages.ts";
import { MIXED_MUTANTS } from "./mutants-mixed.ts";
import { RULE_MUTANTS } from "./mutants-rules.ts";
import { STICKY_MUTANTS } from "./mutants-sticky.ts";
import { STRICT_MUTANTS } from "./mutants-strict.ts";
import { VIEW_MUTANTS } from "./mutants-views.ts";
import { claimsIn } from "./user-messages.ts";

export interface Mutant {
  readonly name: string;
  readonly invariant: number;
  /** Where it shows. */
  readonly scenario: string;
  readonly seed: number;
  readonly settings?: (settings: SpeakerSettings) => SpeakerSettings;
  readonly ports?: (ports: SpeakerPorts, speaker: () => Speaker) => SpeakerPorts;
  /** Of a world that gossips with keys. */
  readonly keys?: (keys: RotatingKeys) => void;
  /** Called before the speaker starts. */
  readonly speaker?: (speaker: Speaker, ports: SpeakerPorts) => void;
}

type Handle = (event: AnnouncerEvent, nowMs: number) => void;

/** Puts `change` between the speaker and its announcer. */
function beforeAnnouncer(
  speaker: Speaker,
  change: (event: AnnouncerEvent, nowMs: number, handle: Handle) => void,
): void {
  const { announcer } = speaker;
  const handle: Handle = announcer.handle.bind(announcer);
  announcer.handle = (event, nowMs) => change(event, nowMs, handle);
}

/** Answers on, though it is no longer the leader's duty. */
function neverWithdraws(speaker: Speaker): void {
  const led = new Map<Ip, Duty>();
  beforeAnnouncer(speaker, (event, nowMs, handle) => {
    if (event.kind !== "duty-changes") return handle(event, nowMs);
    for (const duty of event.come) if (duty.role === "lead") led.set(duty.ip, duty);
    const present = new Set(event.come.map(({ ip }) => ip));
    const kept = event.gone.flatMap(({ ip }) => (present.has(ip) ? [] : (led.get(ip) ?? [])));
    return handle({ ...event, come: [...event.come, ...kept] }, nowMs);
  });
}

/** Everybody's rival is back every few seconds, so everything is announced again. */
function announcesAgain(everyMs: number): NonNullable<Mutant["speaker"]> {
  return (speaker, { clock }) => {
    const again = (): void => {
      speaker.announcer.handle({ kind: "rival", node: "n1" }, clock.nowMs());
      clock.schedule(everyMs, again);
    };
    clock.schedule(everyMs, again);
  };
}

/** Hears nothing from whom it holds dead, so that no partition heals. */
function deafToTheDead(transport: Transport, speaker: () => Speaker): Transport {
  const isDead = (ip: Ip): boolean =>
    speaker()
      .gossip?.members()
      .some((member) => member.endpoint.ip === ip && member.state === "dead") === true;
  const deaf: StreamHandler = { data: () => {}, closed: () => {} };
  return {
    local: transport.local,
    listen: (handler: TransportHandler) =>
      transport.listen({
        ...handler,
        datagram: (from, bytes) => {
          if (!isDead(from.ip)) handler.datagram(from, bytes);
        },
        accepted: (stream) => (isDead(stream.remote.ip) ? deaf : handler.accepted(stream)),
      }),
    sendDatagram: (to, bytes) => transport.sendDatagram(to, bytes),
    dial: (to, handler) => transport.dial(to, isDead(to.ip) ? deaf : handler),
    close: () => transport.close(),
  };
}

/** The oldest Service is the one that arrived first. */
function aged(snapshot: ClusterSnapshot): ClusterSnapshot {
  const byArrival = [...snapshot.services].map(([key, service], order): [string, ServiceFacts] => [
    key,
    { ...service, createdAt: new Date(Date.UTC(2026, 0, 1) + 1_000 * order).toISOString() },
  ]);
  return { ...snapshot, services: new Map(byArrival) };
}

export const MUTANTS: readonly Mutant[] = [
  {
    name: "takes the Service that arrived first for the oldest",
    invariant: 1,
    scenario: "planned",
    seed: 5,
    speaker: ({ council }) => {
      council.applySnapshot = (snapshot, announced, nowMs) =>
        Council.prototype.applySnapshot.call(council, aged(snapshot), announced, nowMs);
    },
  },
  {
    name: "does not say that it is cordoned",
    invariant: 2,
    scenario: "planned",
    seed: 8,
    settings: (settings) => ({ ...settings, ignoresCordon: true }),
  },
  { name: "answers on when nobody may lead", invariant: 3, scenario: "planned", seed: 49, speaker: neverWithdraws },
  {
    name: "stops when it has lost, before the new leader answers",
    invariant: 5,
    scenario: "planned",
    seed: 1,
    speaker: (speaker) =>
      beforeAnnouncer(speaker, (event, nowMs, handle) =>
        event.kind === "duty-changes"
          ? handle({ ...event, come: event.come.filter(({ role }) => role !== "moved") }, nowMs)
          : handle(event, nowMs),
      ),
  },
  {
    name: "announces again and again against a rival that is none",
    invariant: 8,
    scenario: "planned",
    seed: 1,
    speaker: announcesAgain(3_000),
  },
  {
    name: "answers on after it has handed over",
    invariant: 8,
    scenario: "links",
    seed: 1,
    speaker: neverWithdraws,
  },
  {
    name: "says ready before it has met anybody",
    invariant: 11,
    scenario: "planned",
    seed: 1,
    speaker: ({ council }) => {
      council.word = (nowMs) => {
        const word: NodeWord = Council.prototype.word.call(council, nowMs);
        return word.flags.includes("ready") ? word : { ...word, flags: ["ready", ...word.flags] };
      };
    },
  },
  {
    name: "hears nothing from whom it holds dead",
    invariant: 15,
    scenario: "network",
    seed: 25,
    ports: (ports, speaker) =>
      ports.gossip === undefined
        ? ports
        : { ...ports, gossip: { ...ports.gossip, transport: deafToTheDead(ports.gossip.transport, speaker) } },
  },
  {
    name: "joins the group after it has announced",
    invariant: 19,
    scenario: "planned",
    seed: 4,
    ports: (ports) => ({
      ...ports,
      groups: {
        join: (linkIndex, group) => void ports.clock.schedule(50, () => ports.groups.join(linkIndex, group)),
        leave: (linkIndex, group) => ports.groups.leave(linkIndex, group),
      },
    }),
  },
  {
    name: "takes over without a claim",
    invariant: 19,
    scenario: "planned",
    seed: 1,
    ports: (ports) => {
      if (ports.gossip === undefined) return ports;
      const { transport } = ports.gossip;
      const unclaiming: Transport = {
        local: transport.local,
        listen: (handler) => transport.listen(handler),
        sendDatagram: (to, bytes) => {
          if (claimsIn(bytes).length === 0) transport.sendDatagram(to, bytes);
        },
        dial: (to, handler) => transport.dial(to, handler),
        close: () => transport.close(),
      };
      return { ...ports, gossip: { ...ports.gossip, transport: unclaiming } };
    },
  },
  {
    name: "announces before its filter lets requests through",
    invariant: 19,
    scenario: "planned",
    seed: 1,
    ports: (ports) => {
      const { packets } = ports;
      const late: SpeakerPorts["packets"] = {
        setLinks: (links) => packets.setLinks(links),
        failedLinks: () => packets.failedLinks(),
        setFilter: (...filter) => void ports.clock.schedule(5, () => packets.setFilter(...filter)),
        send: (...frame) => packets.send(...frame),
        flush: () => packets.flush(),
        discardAll: () => packets.discardAll(),
        drainAll: () => packets.drainAll(),
      };
      return { ...ports, packets: late };
    },
  },
  {
    name: "announces what it leads every ten seconds",
    invariant: 20,
    scenario: "planned",
    seed: 5,
    speaker: announcesAgain(5_000),
  },
  {
    name: "sends with a new key as soon as it has read it",
    invariant: 6,
    scenario: "keys",
    seed: 1,
    keys: (keys) => {
      keys.change = (files) => {
        RotatingKeys.prototype.change.call(keys, files);
        keys.keyring.use(files.current);
      };
    },
  },
  {
    name: "draws from a source that no seed rules",
    invariant: 25,
    scenario: "crash",
    seed: 1,
    ports: (ports) => ({
      ...ports,
      random: {
        ...ports.random,
        float: () => Math.random(),
        below: (bound) => Math.floor(Math.random() * bound),
        bytes: (count) => new Uint8Array(count),
      },
    }),
  },
  ...FAILOVER_MUTANTS,
  ...MESSAGE_MUTANTS,
  ...MIXED_MUTANTS,
  ...RULE_MUTANTS,
  ...STICKY_MUTANTS,
  ...STRICT_MUTANTS,
  ...VIEW_MUTANTS,
];
