/** A member of ours on real sockets: machine, driver and transports as the speaker has them. */
import { bytesOfHex } from "../../src/base/bytes.ts";
import { createCodec } from "../../src/gossip/codec.ts";
import { GossipDriver } from "../../src/gossip/driver.ts";
import { Keyring } from "../../src/gossip/keyring.ts";
import type { Endpoint } from "../../src/gossip/message.ts";
import type { MemberChange, SwimNews } from "../../src/gossip/swim-event.ts";
import { TIMING_PRESETS, type Timing } from "../../src/gossip/timing.ts";
import type { Ip } from "../../src/net/ip.ts";
import { NODE_TURNS, openGossipTransport } from "../../src/sys/gossip-transport.ts";
import { SystemClock } from "../../src/sys/system-clock.ts";
import { SystemRandom } from "../../src/sys/system-random.ts";
import { EventList } from "./waiting.ts";

/** As test/interop/peer sets the Go library. */
export const TIMING: Timing = {
  ...TIMING_PRESETS.local,
  probeIntervalMs: 300,
  probeTimeoutMs: 150,
  gossipIntervalMs: 30,
  pushPullIntervalMs: 2_000,
  suspicionMult: 6,
  gossipToTheDeadMs: 3_000,
  tcpTimeoutMs: 5_000,
};

export interface NodeOptions {
  readonly name: string;
  readonly ip: Ip;
  readonly key?: string;
  /** In place of `key`: one whose keys change. */
  readonly keyring?: Keyring;
  readonly label?: string;
  readonly meta?: Uint8Array;
  readonly userState?: Uint8Array;
  readonly peers?: readonly Endpoint[];
  /** Leaders are watched closely, and others have memberlist's LAN timing. */
  readonly detectsFast?: boolean;
}

export class OurNode {
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly driver: GossipDriver;
  readonly news: EventList<SwimNews>;
  #isClosed = false;

  private constructor(name: string, endpoint: Endpoint, driver: GossipDriver, news: EventList<SwimNews>) {
    this.name = name;
    this.endpoint = endpoint;
    this.driver = driver;
    this.news = news;
  }

  static async start(options: NodeOptions): Promise<OurNode> {
    const { name, ip, key = "", keyring, label = "", meta, userState, peers = [], detectsFast = false } = options;
    const timing = detectsFast ? TIMING_PRESETS.lan : TIMING;
    const transport = await openGossipTransport({ ip, port: 0 });
    const random = new SystemRandom();
    const secret = bytesOfHex(key) ?? new Uint8Array(0);
    const keys = secret.length === 0 ? {} : { keyring: keyring ?? new Keyring(secret) };
    const news = new EventList<SwimNews>(name);
    const driver = new GossipDriver({
      name,
      endpoint: transport.local,
      timing,
      detectsFast,
      random,
      codec: createCodec({ ...keys, label, timing, random }),
      transport,
      clock: new SystemClock(),
      turns: NODE_TURNS,
      tell: (one) => news.push(one),
    });
    driver.start();
    if (meta !== undefined) driver.command({ kind: "set-meta", meta, isUrgent: false });
    if (userState !== undefined) driver.command({ kind: "set-user-state", bytes: userState });
    driver.command({ kind: "known-peers", endpoints: peers });
    driver.command({ kind: "open" });
    return new OurNode(name, transport.local, driver, news);
  }

  /** Waits until a member was seen to change so. */
  async sees(name: string, change: MemberChange): Promise<void> {
    await this.news.until(
      `${change} of ${name}`,
      (one) => one.kind === "member-changed" && one.change === change && one.member.name === name,
    );
  }

  /** Ends without a goodbye, as a process that crashes. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.driver.close();
  }
}
