/** The controller of a folder: joins the folder, the allocator, HTTP and metrics. */
import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import type { ControllerStatusDocument } from "../api/allocator.ts";
import type { Log } from "../src/base/log.ts";
import { VERSION } from "../src/base/version.ts";
import { FolderSource } from "../src/files/folder-source.ts";
import { OverlayFolder } from "../src/files/overlay-folder.ts";
import { type AllocatorFaces, createAllocatorServer } from "../src/http/allocator-server.ts";
import { openListener } from "../src/http/app.ts";
import { createAllocatorMetrics } from "../src/metrics/allocator-metrics.ts";
import type { FilesOptions } from "../src/options/source-option.ts";
import { takeInstanceLock } from "../src/sys/instance-lock.ts";
import { Allocation } from "./allocation.ts";
import type { ControllerOptions } from "./options.ts";
import { poolsView, serviceCounts, viewsOf } from "./views.ts";

/** What does not close by itself, such as a folder on a file system that hangs, must not hold the end. */
const CLOSE_LIMIT_MS = 3_000;

export async function runOverFolder(
  options: ControllerOptions<FilesOptions>,
  log: Log,
  fail: (error: unknown) => never,
): Promise<void> {
  const { loadBalancerClass, writesConditions } = options;
  const { folder } = options.source;
  await takeFolderLock(folder);
  const startedAt = new Date().toISOString();
  let problems: readonly string[] = [];
  const allocation = new Allocation(
    { loadBalancerClass, writesConditions },
    { store: new OverlayFolder(folder), log, wallMs: Date.now, fail },
  );
  const { allocator } = allocation;
  const source = new FolderSource({
    folder,
    keepsDocuments: true,
    onChange: (snapshot, found, documents) => {
      const sentences = found.map(({ sentence }) => sentence);
      for (const problem of sentences) if (!problems.includes(problem)) log.warn("resource problem", { problem });
      problems = sentences;
      // Nothing could be read yet, which is not the same as an empty folder: whatever is allocated stays.
      if (snapshot !== undefined) allocation.changed(snapshot, documents);
    },
  });
  const readStatus = (): ControllerStatusDocument => {
    const { fault } = allocation;
    return {
      version: VERSION,
      startedAt,
      state: allocator.isComplete ? "allocating" : "reading",
      source: { kind: "files", location: folder, problems },
      pools: allocator.surroundings.world?.pools.all.length ?? 0,
      services: serviceCounts(allocator),
      ...(fault === undefined ? {} : { fault }),
    };
  };
  const metrics = createAllocatorMetrics(VERSION);
  const faces: AllocatorFaces = {
    version: VERSION,
    readStatus,
    ...viewsOf(allocator, Date.now),
    readiness: () => {
      const { fault } = allocation;
      const first = allocator.isComplete ? "ready" : "not ready: the folder was not read completely yet";
      return {
        ok: allocator.isComplete,
        sentences: [first, ...(fault === undefined ? [] : [fault]), ...problems],
      };
    },
    metrics: async () => {
      metrics.apply(readStatus(), poolsView(allocator));
      return metrics.text();
    },
  };
  // Listening comes first: a port that is taken must be said before anything is allocated.
  const http = await openListener(createAllocatorServer(faces, log), options.http);
  let isStopping = false;
  const stop = (): void => {
    if (isStopping) return;
    isStopping = true;
    setTimeout(() => process.exit(0), CLOSE_LIMIT_MS);
    void source
      .close()
      .then(() => Promise.allSettled([allocation.close(), http.close()]))
      .then(() => process.exit(0));
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, stop);
  await source.start();
  log.info("controller started", { version: VERSION, source: folder, port: http.port });
}

/** Two would give one address twice. */
async function takeFolderLock(folder: string): Promise<void> {
  const path = await realpath(folder).catch(() => folder);
  await takeInstanceLock({
    name: `arpeggio-controller/${createHash("sha256").update(path).digest("hex")}`,
    title: `the lock of the folder ${folder}`,
    takenSentence: `another controller allocates from ${folder} already on this host; stop it first`,
  });
}
