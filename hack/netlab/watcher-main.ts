/**
 * Runs in the watcher's namespace: asks for the address every 5 ms, as a stranger to the client, and notes every frame that
 * claims it. Told by IPC when to start and to stop; see observations.ts.
 *
 * usage: watcher-main.js [LINK]
 */
import type { Ip } from "../../src/net/ip.ts";
import { familyOf } from "../../src/net/ip.ts";
import type { Mac } from "../../src/net/mac.ts";
import { monotonicMs } from "./monotonic-ms.ts";
import { type Command, type FrameRecord, PROBE_INTERVAL_MS, type WatcherReport } from "./observations.ts";
import { buildProbe, readClaim } from "./probe.ts";
import { openSegmentSocket, ownMac } from "./segment-link.ts";

const linkName = process.argv[2] ?? "eth0";
const frames: FrameRecord[] = [];
let lastAnswerer: Mac | undefined;
let prober: NodeJS.Timeout | undefined;

function start(address: Ip): void {
  const mac = ownMac(linkName);
  const firstMs = monotonicMs();
  let probe = -1;
  const socket = openSegmentSocket(
    familyOf(address),
    [address],
    (batch) => {
      const atMs = monotonicMs();
      for (let index = 0; index < batch.count; index++) {
        const claim = readClaim(batch.frame(index), address, probe);
        if (claim !== undefined) note({ atMs, ...claim });
      }
    },
    linkName,
  );
  prober = setInterval(() => {
    // A late timer skips the probes that it missed: two at once would tell nothing more.
    const due = Math.floor((monotonicMs() - firstMs) / PROBE_INTERVAL_MS);
    if (due <= probe) return;
    probe = due;
    socket.send(buildProbe(mac, address, probe));
    socket.flush();
  }, 1);
}

function note(frame: FrameRecord): void {
  const { atMs, mac, probe } = frame;
  if (mac !== frames.at(-1)?.mac) report({ kind: "claimed-by", mac, atMs });
  frames.push(frame);
  if (probe === undefined || mac === lastAnswerer) return;
  lastAnswerer = mac;
  report({ kind: "probe-answered-by", mac, atMs });
}

function stop(): void {
  clearInterval(prober);
  report({ kind: "done", frames });
}

function report(message: WatcherReport): void {
  process.send?.(message);
}

process.on("message", (command: Command) => {
  if (command.kind === "start") start(command.address);
  else stop();
});
process.once("disconnect", () => process.exit());
