/** Started inside a namespace by the system side's tests: runs what they ask of src/sys there. */
import { existsSync } from "node:fs";
import { bytesOfHex, hexOf } from "../../src/base/bytes.ts";
import type { Family, Ip } from "../../src/net/ip.ts";
import { ipBytes, parseIp } from "../../src/net/ip.ts";
import type { Prefix } from "../../src/net/prefix.ts";
import { LinkWatcher } from "../../src/sys/link-watcher.ts";
import { MulticastGroups } from "../../src/sys/multicast-groups.ts";
import { PacketLinks } from "../../src/sys/packet-links.ts";
import { SystemClock } from "../../src/sys/system-clock.ts";
import { serveLines } from "../support/netns.ts";

const clock = new SystemClock();
const groups = new MulticastGroups();
let discardsAtFrame = false;
let echo: Uint8Array | undefined;
let followed: readonly string[] = [];
let watcher: LinkWatcher | undefined;
let leavesWithinMs: number | undefined;
const leavesUntilMs = (): number =>
  leavesWithinMs === undefined ? Number.POSITIVE_INFINITY : clock.nowMs() + leavesWithinMs;

const packetLinks = new PacketLinks({
  clock,
  onFrame: (linkIndex, family, frame, vlanTag) => {
    if (discardsAtFrame) packetLinks.discardAll();
    if (echo !== undefined) packetLinks.send(linkIndex, family, echo);
    emit({ kind: "frame", linkIndex, family, hex: hexOf(frame), ...(vlanTag === undefined ? {} : { vlanTag }) });
  },
  onBatchEnd: leavesUntilMs,
  framesUntilMs: leavesUntilMs,
  onProblems: () => emit({ kind: "problems", problems: packetLinks.problems() }),
});

const emit = serveLines(
  {
    /** Reports links at every change; with `follow` the packet sockets and groups follow the named links. */
    watch: (receiveBufferBytes?: number) => {
      watcher = new LinkWatcher({
        clock,
        ...(receiveBufferBytes === undefined ? {} : { receiveBufferBytes }),
        onChange: (links) => {
          packetLinks.setLinks(links.filter((link) => followed.includes(link.name)));
          groups.setLinks(links.map((link) => link.index));
          emit({ kind: "links", links });
        },
      });
      watcher.start();
    },
    overruns: () => watcher?.overruns(),
    links: () => watcher?.links(),
    follow: (names: readonly string[]) => {
      followed = names;
    },
    setLinks: (links: readonly { index: number; name: string }[]) => packetLinks.setLinks(links),
    setFilter: (linkIndex: number, addresses: readonly Ip[], pools: readonly Prefix[]) =>
      packetLinks.setFilter(linkIndex, new Set(addresses), pools, addresses),
    statistics: () => packetLinks.statistics(),
    problems: () => packetLinks.problems(),
    discardAll: () => packetLinks.discardAll(),
    drainAll: () => packetLinks.drainAll(),
    send: (linkIndex: number, family: Family, frames: readonly string[], times = 1, withinMs?: number) => {
      const bytes = frames.map((frame) => bytesOfHex(frame) ?? new Uint8Array());
      for (let count = 0; count < times; count++) {
        for (const frame of bytes) packetLinks.send(linkIndex, family, frame);
      }
      packetLinks.flush(withinMs === undefined ? undefined : clock.nowMs() + withinMs);
    },
    /** From now on what is heard, and what leaves because a batch is full, has so much time to leave. */
    leaveWithin: (ms?: number) => {
      leavesWithinMs = ms;
    },
    /** Sends this frame for every frame that is heard, from inside the callback. */
    echo: (frame?: string) => {
      echo = frame === undefined ? undefined : bytesOfHex(frame);
    },
    /** Lets the first frame of a batch discard everything behind it, as a leader does that was frozen. */
    discardAtFrame: (value: boolean) => {
      discardsAtFrame = value;
    },
    /** Holds the event loop until a file exists; then runs a command before anything else is read. */
    block: (file: string, before?: "discardAll" | "drainAll") => {
      emit({ kind: "blocked" });
      while (!existsSync(file));
      return before === undefined ? 0 : packetLinks[before]();
    },
    /** Sends ARP frames that differ in their target, `perSecond` of them a second at most. */
    blast: (
      linkIndex: number,
      frame: string,
      firstTarget: string,
      targets: number,
      frames: number,
      perSecond: number,
    ) => blast(linkIndex, bytesOfHex(frame) ?? new Uint8Array(), firstTarget, targets, frames, perSecond),
    join: (linkIndex: number, group: Ip) => groups.join(linkIndex, group),
    leave: (linkIndex: number, group: Ip) => groups.leave(linkIndex, group),
    groupProblems: () => groups.problems(),
  },
  () => {
    watcher?.close();
    packetLinks.close();
    groups.close();
  },
);

async function blast(
  linkIndex: number,
  frame: Uint8Array,
  firstTarget: string,
  targets: number,
  frames: number,
  perSecond: number,
): Promise<void> {
  const first = parseIp(firstTarget);
  if (first === undefined) throw new Error(`no address: ${firstTarget}`);
  const view = new DataView(frame.buffer, frame.byteOffset, frame.length);
  const firstValue = ipBytes(first).reduce((value, byte) => value * 256 + byte, 0);
  const startMs = clock.nowMs();
  for (let sent = 0; sent < frames; ) {
    const due = Math.min(frames, ((clock.nowMs() - startMs) * perSecond) / 1_000);
    for (; sent < due; sent++) {
      view.setUint32(38, firstValue + (sent % targets));
      packetLinks.send(linkIndex, 4, frame);
    }
    packetLinks.flush();
    // The blast is paced by the clock, so its pause is real time.
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
