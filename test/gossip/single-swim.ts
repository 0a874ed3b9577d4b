/** One swim machine without a network: what it is told goes in by hand, what it sends is read back. */
import { SeededRandom } from "../../src/base/random.ts";
import type { Alive, DatagramMessage, Endpoint, NodeRecord, PushPull } from "../../src/gossip/message.ts";
import { decodeDatagramMessage } from "../../src/gossip/message-codec.ts";
import { Swim } from "../../src/gossip/swim.ts";
import type { SwimEffect, SwimEvent } from "../../src/gossip/swim-event.ts";
import { TIMING_PRESETS, type Timing } from "../../src/gossip/timing.ts";
import { OWN_VERSIONS } from "../../src/gossip/verify-protocol.ts";
import type { Ip } from "../../src/net/ip.ts";

export const ME: Endpoint = { ip: "192.0.2.1" as Ip, port: 7946 };

export function endpointOf(number: number): Endpoint {
  return { ip: `192.0.2.${number}` as Ip, port: 7946 };
}

export function aliveOf(number: number, change: Partial<Alive> = {}): Alive {
  return {
    kind: "alive",
    node: `n${number}`,
    endpoint: endpointOf(number),
    incarnation: 1,
    meta: new Uint8Array(0),
    versions: OWN_VERSIONS,
    ...change,
  };
}

export function recordOf(number: number, change: Partial<NodeRecord> = {}): NodeRecord {
  return {
    name: `n${number}`,
    endpoint: endpointOf(number),
    meta: new Uint8Array(0),
    incarnation: 1,
    state: "alive",
    versions: OWN_VERSIONS,
    ...change,
  };
}

export function pushPullOf(...nodes: readonly NodeRecord[]): PushPull {
  return { kind: "push-pull", isJoin: true, nodes, userState: new Uint8Array(0) };
}

/** A datagram as its receiver would read it. */
export interface Sent {
  readonly to: Endpoint;
  readonly messages: readonly DatagramMessage[];
  readonly withCrc: boolean;
}

export class SingleSwim {
  readonly swim: Swim;
  nowMs = 10_000;
  effects: SwimEffect[] = [];

  constructor(seed = 1, timing: Partial<Timing> = {}, detectsFast = false) {
    const random = new SeededRandom(seed);
    this.swim = new Swim({
      name: "n1",
      endpoint: ME,
      timing: { ...TIMING_PRESETS.lan, ...timing },
      random,
      overheadBytes: 0,
      detectsFast,
    });
  }

  tell(event: SwimEvent): SwimEffect[] {
    const effects = this.swim.handle(event, this.nowMs);
    this.effects.push(...effects);
    return effects;
  }

  hear(number: number, ...messages: readonly DatagramMessage[]): SwimEffect[] {
    return this.tell({ kind: "datagram", from: endpointOf(number), messages });
  }

  /** Ticks at every deadline within this time. */
  run(durationMs: number): SwimEffect[] {
    const endMs = this.nowMs + durationMs;
    const before = this.effects.length;
    for (
      let next = this.swim.nextDeadlineMs();
      next !== undefined && next <= endMs;
      next = this.swim.nextDeadlineMs()
    ) {
      this.nowMs = Math.max(this.nowMs, next);
      this.tell({ kind: "tick" });
    }
    this.nowMs = endMs;
    return this.effects.slice(before);
  }

  /** Open, with these members met. */
  meet(...numbers: readonly number[]): this {
    this.tell({ kind: "open" });
    for (const number of numbers) this.hear(number, aliveOf(number));
    this.effects = [];
    return this;
  }
}

export function sentIn(effects: readonly SwimEffect[]): Sent[] {
  return effects.flatMap((effect) => {
    if (effect.kind !== "send-datagram") return [];
    const messages = effect.parts.map((part) => {
      const message = decodeDatagramMessage(part);
      if (!message.ok) throw new Error(`undecodable: ${message.reason}`);
      return message.value;
    });
    return [{ to: effect.to, messages, withCrc: effect.withCrc }];
  });
}

/** Every message of one kind that was sent, with whereto. */
export function messagesIn<Kind extends DatagramMessage["kind"]>(
  effects: readonly SwimEffect[],
  kind: Kind,
): { readonly to: Endpoint; readonly message: Extract<DatagramMessage, { kind: Kind }> }[] {
  return sentIn(effects).flatMap(({ to, messages }) =>
    messages.flatMap((message) => (isKind(message, kind) ? [{ to, message }] : [])),
  );
}

export function effectsOf<Kind extends SwimEffect["kind"]>(
  effects: readonly SwimEffect[],
  kind: Kind,
): Extract<SwimEffect, { kind: Kind }>[] {
  return effects.flatMap((effect) => (isKind(effect, kind) ? [effect] : []));
}

function isKind<Value extends { readonly kind: string }, Kind extends Value["kind"]>(
  value: Value,
  kind: Kind,
): value is Extract<Value, { kind: Kind }> {
  return value.kind === kind;
}
