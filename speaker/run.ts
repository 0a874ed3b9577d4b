/** The main thread's composition root (DESIGN D16): sources, HTTP, metrics and logs around the wire thread. It may stall. */

import { readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import type { StatusDocument } from "../api/status.ts";
import { ArpeggioError } from "../src/base/errors.ts";
import type { Log } from "../src/base/log.ts";
import { VERSION } from "../src/base/version.ts";
import { type MetricsListeners, openMetricsListeners } from "../src/daemon/metrics-listeners.ts";
import type { ClusterSnapshot } from "../src/desired/snapshot.ts";
import type { Endpoint } from "../src/gossip/message.ts";
import type { HttpServer } from "../src/http/app.ts";
import { inTurns } from "../src/http/in-turns.ts";
import { openHttpServer } from "../src/http/server.ts";
import { KubernetesAuthorizer } from "../src/kube/authorizer.ts";
import { createMetrics, type Metrics } from "../src/metrics/metrics.ts";
import { type Family, familyOf, type Ip } from "../src/net/ip.ts";
import { SystemClock } from "../src/sys/system-clock.ts";
import { SystemRandom } from "../src/sys/system-random.ts";
import { Cluster } from "./cluster.ts";
import { readConfigFiles, type SpeakerConfig } from "./config-files.ts";
import { GOSSIP_DROP_REASONS, PACKET_DROP_REASONS } from "./drop-reasons.ts";
import { FilesSource } from "./files-source.ts";
import { findBindEndpoint } from "./gossip-bind.ts";
import { beat, createHeartbeats, HEARTBEAT_INTERVAL_MS, HEARTBEAT_LOST_MS, HeartbeatWatch } from "./heartbeat.ts";
import { takeSpeakerLock } from "./instance-lock.ts";
import { KEY_SENTENCES, watchKeyFiles } from "./key-files.ts";
import { LeaderLog } from "./leader-log.ts";
import type { GossipOptions, SpeakerOptions } from "./options.ts";
import { addressesOfNodes, peersAt, RESOLVE_INTERVAL_MS, resolvePeers } from "./peers.ts";
import { RunRecord } from "./run-record.ts";
import type { RunningSource } from "./source.ts";
import type { Readiness, SpeakerNote } from "./speaker-ports.ts";
import { WireClient } from "./wire-client.ts";

/** From the signal to the end, whatever happens: less than the 15 s that the manifests grant (DESIGN D8). */
const SHUTDOWN_LIMIT_MS = 14_000;
const CLOSE_LIMIT_MS = 500;
const FIRST_RESOLVE_LIMIT_MS = 1_000;
/** Where metrics are served when gossip names no address of this node. */
const EVERYWHERE = "0.0.0.0" as Ip;

const READINESS_SENTENCES: Readonly<Record<Readiness, string>> = {
  ready: "ready",
  "reading-sources": "not ready: the sources were not read completely yet",
  "opening-sockets": "not ready: packet sockets are not open on every usable link yet",
  "joining-peers": "not ready: no peer has answered yet",
};

export interface Exits {
  readonly fail: (error: unknown) => never;
  readonly refuse: (problems: readonly string[]) => never;
}

export async function runSpeaker(options: SpeakerOptions, log: Log, exits: Exits): Promise<void> {
  const clock = new SystemClock();
  await takeSpeakerLock(options.nodeName);
  const reading = await readConfigFiles(options, (path) => readFile(path));
  if (!reading.ok) return exits.refuse(reading.problems);
  const speaker = new MainThread(options, log, clock, exits);
  await speaker.start(reading.config);
}

class MainThread {
  readonly #options: SpeakerOptions;
  readonly #log: Log;
  readonly #clock: SystemClock;
  readonly #exits: Exits;
  readonly #beats = createHeartbeats();
  readonly #wireWatch: HeartbeatWatch;
  readonly #leaderLog: LeaderLog;
  readonly #metrics: Metrics;
  #wire: WireClient | undefined;
  readonly #record: RunRecord;
  #http: HttpServer | undefined;
  #source: RunningSource | undefined;
  #keyFiles: { close(): void } | undefined;
  #cluster: Cluster | undefined;
  #snapshot: ClusterSnapshot | undefined;
  #problems: readonly string[] = [];
  #namedPeers: readonly Endpoint[] = [];
  /** Of the speakers' pods; empty: not known. */
  #podAddresses: readonly string[] = [];
  #gossipIp: Ip | undefined;
  #metricsListeners: MetricsListeners | undefined;
  #aliveMembers: readonly string[];
  #readiness: Readiness = "reading-sources";
  #isStopping = false;

  constructor(options: SpeakerOptions, log: Log, clock: SystemClock, exits: Exits) {
    this.#options = options;
    this.#log = log;
    this.#clock = clock;
    this.#exits = exits;
    this.#aliveMembers = [options.nodeName];
    this.#wireWatch = new HeartbeatWatch(this.#beats, "wire", clock.nowMs());
    this.#record = new RunRecord(options.cacheFolder, clock.wallMs());
    this.#leaderLog = new LeaderLog(log, clock, options.nodeName);
    this.#metrics = createMetrics({
      version: VERSION,
      packetDropReasons: PACKET_DROP_REASONS,
      gossipDropReasons: GOSSIP_DROP_REASONS,
      wireHeartbeatAgeSeconds: () => this.#wireWatch.ageMs(clock.nowMs()) / 1_000,
    });
  }

  async start(config: SpeakerConfig): Promise<void> {
    const { nodeName, gossip, http } = this.#options;
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => this.#stop());
    setInterval(() => beat(this.#beats, "main"), HEARTBEAT_INTERVAL_MS).unref();
    // Listening comes first: a port that is taken must be said before anything is led.
    this.#http = await openHttpServer(this.#faces(), http, this.#log);
    const bind = gossip === undefined ? undefined : await findBindEndpoint(gossip, this.#log);
    this.#gossipIp = bind?.ip;
    const wire = new WireClient(
      {
        speaker: {
          nodeName,
          electionCap: this.#options.electionCap,
          loadBalancerClass: this.#options.loadBalancerClass ?? "",
          ignoresExcludeLabel: this.#options.ignoresExcludeLabel,
          ignoresCordon: this.#options.ignoresCordon,
          excludedLinks: config.excludedLinks.map((pattern) => new RegExp(pattern)),
          pastTroubles: this.#record.pastTroubles(this.#clock.wallMs()),
          isFirstRun: this.#record.isFirstRun,
          detectsFast: this.#options.detectsFast,
          reportsServices: this.#options.source.kind === "kubernetes",
        },
        beats: this.#beats,
        ...(bind === undefined
          ? {}
          : { gossip: { bind, timing: config.timing, ...(config.keys === undefined ? {} : { keys: config.keys }) } }),
      },
      {
        note: (note) => this.#note(note),
        ended: (error) => this.#exits.fail(error),
      },
    );
    this.#wire = wire;
    const keyFile = gossip?.secretKeyFile;
    if (keyFile !== undefined) {
      this.#keyFiles = await watchKeyFiles(keyFile, this.#log, (keys) => wire.tell({ kind: "keys", keys }));
    }
    if (gossip !== undefined) await this.#followPeers(wire, gossip);
    const source = await this.#openSource(wire);
    this.#source = source;
    await source.start();
    this.#log.info("speaker started", { node: nodeName, version: VERSION, source: source.location });
  }

  async #openSource(wire: WireClient): Promise<RunningSource> {
    const { source, cacheFolder, nodeName } = this.#options;
    const listener = {
      changed: (snapshot: ClusterSnapshot | undefined, problems: readonly string[], freshness?: number): void =>
        this.#sourceChanged(wire, snapshot, problems, freshness),
    };
    const cache = cacheFolder === undefined ? {} : { cacheFolder };
    if (source.kind === "files") {
      return new FilesSource({ folder: source.folder, wallMs: () => this.#clock.wallMs(), ...cache }, listener);
    }
    const aliveMembers = (): readonly string[] => this.#aliveMembers;
    const context = {
      nodeName,
      clock: this.#clock,
      random: new SystemRandom(),
      log: this.#log,
      aliveMembers,
      ...cache,
    };
    const podsChanged = (addresses: readonly string[]): void => {
      this.#podAddresses = addresses;
      this.#tellPeers(wire);
    };
    const freshnessChanged = (freshness: number): void => wire.setFreshness(freshness);
    const cluster = await Cluster.open(source, context, { ...listener, podsChanged, freshnessChanged });
    this.#cluster = cluster;
    this.#metricsListeners = await openMetricsListeners(source, {
      nodeName,
      ip: this.#gossipIp ?? EVERYWHERE,
      metrics: () => this.#readMetrics(),
      authorizer: new KubernetesAuthorizer({ api: cluster.api, path: "/metrics", nowMs: () => this.#clock.nowMs() }),
      random: context.random,
      wallMs: () => this.#clock.wallMs(),
      log: this.#log,
    });
    return cluster;
  }

  /** Peers are told before the first snapshot, so that a starting node knows whether there is somebody to wait for. */
  async #followPeers(wire: WireClient, gossip: GossipOptions): Promise<void> {
    const first = this.#resolvePeers(wire, gossip);
    // A resolver that is away (it may stand behind one of our addresses) must not hold the start.
    await Promise.race([first, pause(FIRST_RESOLVE_LIMIT_MS)]);
    this.#tellPeers(wire);
  }

  /** One look-up at a time: a slow resolver must not gather waiting ones. */
  async #resolvePeers(wire: WireClient, gossip: GossipOptions): Promise<void> {
    this.#namedPeers = await resolvePeers(gossip.peers);
    this.#tellPeers(wire);
    setTimeout(() => void this.#resolvePeers(wire, gossip).catch(this.#exits.fail), RESOLVE_INTERVAL_MS).unref();
  }

  /** Those of --peers, and the speakers' pods; while no pod is known, every Node. */
  #tellPeers(wire: WireClient): void {
    const { gossip } = this.#options;
    if (gossip === undefined) return;
    const ofNodes = this.#snapshot === undefined ? [] : addressesOfNodes(this.#snapshot.nodes.values());
    const found = this.#podAddresses.length > 0 ? this.#podAddresses : ofNodes;
    const endpoints = [...this.#namedPeers, ...peersAt(found, gossip.port, this.#gossipFamily())];
    wire.tell({ kind: "peers", endpoints, named: gossip.peers.length });
  }

  #gossipFamily(): Family | undefined {
    return this.#gossipIp === undefined ? undefined : familyOf(this.#gossipIp);
  }

  #sourceChanged(
    wire: WireClient,
    snapshot: ClusterSnapshot | undefined,
    problems: readonly string[],
    freshness?: number,
  ): void {
    for (const problem of problems) {
      if (!this.#problems.includes(problem)) this.#log.warn("resource problem", { problem });
    }
    this.#problems = problems;
    // Nothing could be read yet, which is not the same as an empty folder: whatever stood goes on standing.
    if (snapshot === undefined) return;
    this.#snapshot = snapshot;
    this.#tellPeers(wire);
    wire.applySnapshot(snapshot, freshness);
  }

  #note(note: SpeakerNote): void {
    switch (note.kind) {
      case "leaders":
        return this.#leaderLog.report(note.changes);
      case "readiness":
        this.#readiness = note.readiness;
        return;
      case "detected":
        return this.#log.info("member held dead", { member: note.node, suspectedSeconds: note.seconds });
      case "took-over":
        return;
      case "services":
        return this.#cluster?.report(note.changes, note.isEnd);
      case "members":
        this.#aliveMembers = note.names;
        return;
      case "configuration":
        this.#cluster?.refuse(note.refusal);
        if (note.refusal === undefined) this.#log.info("configuration counts as read");
        else this.#log.warn("configuration refused", { refusal: note.refusal });
        return;
      case "refuted-death":
        this.#record.addRefutedDeath(this.#clock.wallMs());
        return this.#log.warn("this node was held dead, and is not");
      case "remembered":
        this.#record.remember(note.troubles, this.#clock.wallMs());
        return this.#log.warn("peers remember troubles of this node that it had no record of", {
          troubles: note.troubles.length,
        });
      case "gossip-key":
        return this.#log.info(KEY_SENTENCES[note.news]);
      case "name-conflict":
        return this.#log.error("two speakers use one node name", { member: note.node, otherAddress: note.other });
      case "left":
        this.#record.markLeft();
        return this.#end();
    }
  }

  #faces(): Parameters<typeof openHttpServer>[0] {
    const metrics = (): Promise<string> => this.#readMetrics();
    return {
      version: VERSION,
      readStatus: () => this.#readStatus(),
      readAddress: async (ip) => this.#wire?.readAddress(ip),
      health: () => {
        const ageMs = this.#wireWatch.ageMs(this.#clock.nowMs());
        const ok = ageMs < HEARTBEAT_LOST_MS;
        return { ok, sentence: ok ? "ok" : `the wire thread has stood still for ${Math.round(ageMs)} ms` };
      },
      readiness: () => ({
        ok: this.#readiness === "ready",
        sentences: [READINESS_SENTENCES[this.#readiness], ...(this.#cluster?.missing() ?? []), ...this.#problems],
      }),
      // With a cluster they are served to whoever may read them, and not to everybody on this host.
      ...(this.#options.source.kind === "files" ? { metrics } : {}),
      setStepDown: (isWanted) => this.#wire?.tell({ kind: "step-down", isWanted }),
    };
  }

  async #readMetrics(): Promise<string> {
    const [status, totals] = await Promise.all([this.#readStatus(), this.#startedWire().takeTotals()]);
    this.#metrics.applyStatus(status);
    this.#metrics.applyCounters(totals.counters);
    this.#metrics.observe(totals.timings);
    return inTurns(this.#metrics.textParts());
  }

  async #readStatus(): Promise<StatusDocument> {
    const status = await this.#startedWire().readStatus();
    const written = this.#cluster?.writtenBack();
    return {
      ...status,
      version: VERSION,
      sources: this.#source === undefined ? [] : [this.#source.status()],
      ...(written === undefined ? {} : { writtenBack: written }),
    };
  }

  #startedWire(): WireClient {
    if (this.#wire === undefined) throw new ArpeggioError("ERR_THREAD_SILENT", "the speaker is still starting");
    return this.#wire;
  }

  /** Step-down is posted first; the process ends when every address was handed over, or time is up. */
  #stop(): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    if (this.#wire === undefined) return this.#end();
    this.#wire.tell({ kind: "leave" });
    setTimeout(() => this.#end(), SHUTDOWN_LIMIT_MS);
  }

  #end(): void {
    // What does not close by itself, such as a folder on a file system that hangs, must not hold the end.
    setTimeout(() => process.exit(0), CLOSE_LIMIT_MS);
    this.#keyFiles?.close();
    const parts = [this.#source, this.#http, this.#metricsListeners, this.#wire];
    void Promise.allSettled(parts.map(async (part) => part?.close())).then(() => process.exit(0));
  }
}
