/** The wire thread (DESIGN D16): composition root of gossip, election, announcer and packets. Imports nothing of the main thread's. `wire.ts` loads it. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { parentPort } from "node:worker_threads";
import { ArpeggioError } from "../src/base/errors.ts";
import { SnapshotReceiver } from "../src/desired/snapshot-difference.ts";
import { rankHeads } from "../src/election/rank-hash.ts";
import { createCodec } from "../src/gossip/codec.ts";
import { RotatingKeys } from "../src/gossip/rotating-keys.ts";
import { NODE_TURNS, openGossipTransport } from "../src/sys/gossip-transport.ts";
import { LinkWatcher } from "../src/sys/link-watcher.ts";
import { MulticastGroups } from "../src/sys/multicast-groups.ts";
import { PacketLinks } from "../src/sys/packet-links.ts";
import { nativeRankHeads } from "../src/sys/rank-heads.ts";
import { SystemClock } from "../src/sys/system-clock.ts";
import { SystemRandom } from "../src/sys/system-random.ts";
import { addressOf } from "./address-view.ts";
import { beat, HEARTBEAT_INTERVAL_MS } from "./heartbeat.ts";
import { Speaker } from "./speaker.ts";
import type { GossipPorts, SpeakerNote } from "./speaker-ports.ts";
import { addressParts, type StatusContext, statusOf } from "./status-view.ts";
import type { FromWire, GossipSettings, ToWire, WireSettings } from "./thread-messages.ts";
import { Totals } from "./totals.ts";

const clock = new SystemClock();
const random = new SystemRandom();

export async function runWireThread(settings: WireSettings): Promise<void> {
  const port = parentPort;
  if (port === null) throw new ArpeggioError("ERR_INTERNAL_ARGUMENT", "wire.js runs as a worker thread only");
  const tell = (message: FromWire): void => port.postMessage(message);
  const startedMs = clock.nowMs();
  const totals = new Totals(settings.speaker.nodeName);
  const packets = new PacketLinks({
    clock,
    onFrame: (linkIndex, family, frame, vlanTag) => speaker.receiveFrame(linkIndex, family, frame, vlanTag),
    onBatchEnd: () => speaker.endBatch(),
    framesUntilMs: () => speaker.fence.framesUntilMs,
    onProblems: () => speaker.packetProblemsChanged(),
  });
  const groups = new MulticastGroups();
  const keyFiles = settings.gossip?.keys;
  const keys =
    keyFiles && new RotatingKeys(keyFiles, clock, (news) => tell({ kind: "note", note: { kind: "gossip-key", news } }));
  const gossip = settings.gossip === undefined ? {} : { gossip: await gossipPorts(settings.gossip, keys) };
  const ports = { clock, random, turns: NODE_TURNS, packets, groups, rankHeads: nativeRankHeads(rankHeads), ...gossip };
  const note = (event: SpeakerNote): void => {
    totals.note(event);
    tell({ kind: "note", note: event });
  };
  const speaker = new Speaker(settings.speaker, ports, note);
  const watcher = new LinkWatcher({
    clock,
    onChange: (links) => {
      groups.setLinks(links.map(({ index }) => index));
      speaker.setLinks(links);
    },
  });
  const context = (): StatusContext => ({
    nodeName: settings.speaker.nodeName,
    nowMs: clock.nowMs(),
    startedMs,
    ...(keys === undefined ? {} : { keys: keys.report() }),
    linkProblems: problemsByLink(packets, groups),
    isoOf: (atMs) => new Date(clock.wallMs() - (clock.nowMs() - atMs)).toISOString(),
  });
  const tellStatus = async (id: number): Promise<void> => {
    const told = context();
    const status = statusOf(speaker, told);
    for (const addresses of addressParts(speaker, told)) {
      tell({ kind: "addresses", id, addresses });
      await nextTurn();
    }
    tell({ kind: "status", id, status });
  };
  const receiver = new SnapshotReceiver();
  port.on("message", (message: ToWire) => {
    switch (message.kind) {
      case "snapshot": {
        const snapshot = receiver.apply(message.message);
        if (snapshot !== undefined) speaker.applySnapshot(snapshot, receiver.changed, message.freshness);
        return tell({ kind: "snapshot-taken" });
      }
      case "freshness":
        return speaker.setFreshness(message.freshness);
      case "peers":
        return speaker.setPeers(message.endpoints, message.named);
      case "keys":
        return keys?.change(message.keys);
      case "step-down":
        return speaker.setStepDown(message.isWanted);
      case "leave":
        return speaker.leave();
      case "ask":
        if (message.what === "status") return void tellStatus(message.id);
        return tell({ kind: "totals", id: message.id, totals: totals.take(speaker) });
      case "ask-address": {
        const address = addressOf(speaker, message.ip, context());
        return tell({ kind: "address", id: message.id, ...(address === undefined ? {} : { address }) });
      }
    }
  });
  startBeating(settings.beats);
  speaker.start();
  await nextTurn();
  watcher.start();
}

async function gossipPorts({ bind, timing }: GossipSettings, keys: RotatingKeys | undefined): Promise<GossipPorts> {
  const keyring = keys === undefined ? {} : { keyring: keys.keyring };
  const transport = await openGossipTransport(bind);
  await nextTurn();
  return {
    transport,
    codec: createCodec({ ...keyring, label: "", timing, random }),
    timing,
  };
}

function startBeating(beats: Int32Array<SharedArrayBuffer>): void {
  beat(beats, "wire");
  clock.schedule(HEARTBEAT_INTERVAL_MS, () => startBeating(beats));
}

function problemsByLink(packets: PacketLinks, groups: MulticastGroups): ReadonlyMap<number, readonly string[]> {
  const byLink = new Map<number, string[]>();
  const add = (linkIndex: number, sentence: string): void => {
    byLink.set(linkIndex, [...(byLink.get(linkIndex) ?? []), sentence]);
  };
  for (const { linkIndex, family, code, isOpen } of packets.problems()) {
    const socket = family === 4 ? "the ARP socket" : "the Neighbor Discovery socket";
    add(linkIndex, isOpen ? `${socket} reported ${code}` : `${socket} does not open: ${code}`);
  }
  for (const { linkIndex, group, code } of groups.problems())
    add(linkIndex, `group ${group} cannot be joined: ${code}`);
  return byLink;
}
