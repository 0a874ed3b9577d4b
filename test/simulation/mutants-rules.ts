/** Speakers with one fault each, for the invariants 13, 21 to 24 and 27. */
import type { SpeakerPorts } from "../../speaker/speaker-ports.ts";
import type { ServiceFacts } from "../../src/desired/snapshot.ts";
import { FAST_TIMING } from "../../src/gossip/fast/fast-timing.ts";
import type { Mutant } from "./mutants.ts";

/** Calls `change` with every frame that is sent. */
function withFrames(
  ports: SpeakerPorts,
  change: (linkIndex: number, bytes: Uint8Array) => Iterable<Uint8Array>,
): SpeakerPorts {
  const { packets } = ports;
  return {
    ...ports,
    packets: {
      setLinks: (links) => packets.setLinks(links),
      failedLinks: () => packets.failedLinks(),
      setFilter: (...filter) => packets.setFilter(...filter),
      send: (linkIndex, family, bytes) => {
        for (const frame of change(linkIndex, bytes)) packets.send(linkIndex, family, frame);
      },
      flush: () => packets.flush(),
      discardAll: () => packets.discardAll(),
      drainAll: () => packets.drainAll(),
    },
  };
}

function isBroadcast(bytes: Uint8Array): boolean {
  return bytes[0] === 0xff || bytes[0] === 0x33;
}

/** Each address of a Service becomes a Service of its own, decided for itself. */
function parted(services: ReadonlyMap<string, ServiceFacts>): ReadonlyMap<string, ServiceFacts> {
  return new Map(
    [...services].flatMap(([key, service]) =>
      service.addresses.map((ip, index): [string, ServiceFacts] =>
        index === 0
          ? [key, { ...service, addresses: [ip] }]
          : [`${key}-${index}`, { ...service, name: `${service.name}-${index}`, addresses: [ip] }],
      ),
    ),
  );
}

export const RULE_MUTANTS: readonly Mutant[] = [
  {
    name: "counts whom somebody suspects for settling",
    invariant: 13,
    scenario: "network",
    seed: 1,
    speaker: ({ members }) => {
      const electorate = members.electorate.bind(members);
      const isSuspect = (name: string): boolean =>
        members.all().some(({ member }) => member.name === name && member.state === "suspect");
      members.electorate = () =>
        electorate().map((view) =>
          view.word === undefined || !isSuspect(view.name)
            ? view
            : { ...view, word: { ...view.word, flags: [...view.word.flags, "settling"] } },
        );
    },
  },
  {
    name: "says everything on the wire twenty times",
    invariant: 21,
    scenario: "planned",
    seed: 1,
    ports: (ports) =>
      withFrames(ports, (_link, bytes) => (isBroadcast(bytes) ? Array.from({ length: 20 }, () => bytes) : [bytes])),
  },
  {
    name: "pings twice as often as a watcher may",
    invariant: 21,
    scenario: "planned",
    seed: 1,
    ports: (ports) =>
      ports.gossip === undefined
        ? ports
        : { ...ports, gossip: { ...ports.gossip, fastTiming: { ...FAST_TIMING, pingIntervalMs: 50 } } },
  },
  {
    name: "answers with the MAC that its link had at first",
    invariant: 22,
    scenario: "links",
    seed: 1,
    ports: (ports) => {
      const first = new Map<number, Uint8Array>();
      return withFrames(ports, (linkIndex, bytes) => {
        if (isBroadcast(bytes)) return [bytes];
        const mac = first.get(linkIndex) ?? bytes.slice(6, 12);
        first.set(linkIndex, mac);
        const frame = bytes.slice();
        frame.set(mac, 6);
        return [frame];
      });
    },
  },
  {
    name: "takes what it cannot read for a fault of its own",
    invariant: 23,
    scenario: "swarm",
    seed: 1,
    ports: (ports) => {
      if (ports.gossip === undefined) return ports;
      const { codec } = ports.gossip;
      const strict: typeof codec = {
        ...codec,
        openDatagram: (bytes) => {
          const opened = codec.openDatagram(bytes);
          if (opened.drops.length > 0) throw new Error(opened.drops.join());
          return opened;
        },
      };
      return { ...ports, gossip: { ...ports.gossip, codec: strict } };
    },
  },
  {
    name: "says for a second that it leads what it has lost",
    invariant: 24,
    scenario: "planned",
    seed: 1,
    speaker: ({ announcer }) => {
      const addressState = announcer.addressState.bind(announcer);
      announcer.addressState = (ip) => {
        const state = addressState(ip);
        return state?.phase === "handing-over" ? { ...state, phase: "stopped" } : state;
      };
    },
  },
  {
    name: "elects for each family of a Service by itself",
    invariant: 27,
    scenario: "planned",
    seed: 1,
    speaker: (speaker) => {
      const applySnapshot = speaker.applySnapshot.bind(speaker);
      speaker.applySnapshot = (snapshot) => applySnapshot({ ...snapshot, services: parted(snapshot.services) });
    },
  },
];
