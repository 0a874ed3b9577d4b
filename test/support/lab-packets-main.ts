/** Runs in a namespace for a test: sends the frames that it is told to, and reports what ARP and Neighbor Discovery on eth0 say of the pool. */
import { monotonicMs } from "../../hack/netlab/monotonic-ms.ts";
import { openSegmentSocket } from "../../hack/netlab/segment-link.ts";
import { POOL_ADDRESSES } from "../../hack/netlab/topology.ts";
import type { Family } from "../../src/net/ip.ts";

/** Frames travel as hexadecimal text: IPC is JSON. */
export type PacketsCommand =
  | { readonly kind: "send"; readonly family: Family; readonly frame: string }
  | { readonly kind: "flood"; readonly family: Family; readonly frame: string; readonly durationMs: number };

export type PacketsReport =
  | { readonly kind: "open" }
  | { readonly kind: "frame"; readonly atMs: number; readonly frame: string; readonly vlanTag?: number }
  | { readonly kind: "flooded"; readonly frames: number; readonly tookMs: number };

const FLOOD_FRAMES_PER_MS = 55;

const sockets = { 4: open(4), 6: open(6) };

function open(family: Family) {
  return openSegmentSocket(family, POOL_ADDRESSES, (batch) => {
    const atMs = monotonicMs();
    for (let index = 0; index < batch.count; index++) {
      const vlanTag = batch.vlanTag(index);
      const frame = Buffer.from(batch.frame(index)).toString("hex");
      report({ kind: "frame", atMs, frame, ...(vlanTag !== undefined && { vlanTag }) });
    }
  });
}

function flood(family: Family, frame: Uint8Array, durationMs: number): void {
  const socket = sockets[family];
  const firstMs = monotonicMs();
  let sent = 0;
  const timer = setInterval(() => {
    const elapsedMs = monotonicMs() - firstMs;
    for (const due = Math.floor(elapsedMs * FLOOD_FRAMES_PER_MS); sent < due; sent++) socket.send(frame);
    socket.flush();
    if (elapsedMs < durationMs) return;
    clearInterval(timer);
    report({ kind: "flooded", frames: sent, tookMs: monotonicMs() - firstMs });
  }, 1);
}

function report(message: PacketsReport): void {
  process.send?.(message);
}

process.on("message", (command: PacketsCommand) => {
  const frame = Uint8Array.from(Buffer.from(command.frame, "hex"));
  if (command.kind === "flood") return flood(command.family, frame, command.durationMs);
  sockets[command.family].send(frame);
  sockets[command.family].flush();
});
process.once("disconnect", () => process.exit());
report({ kind: "open" });
