/**
 * What a leader has to say unasked about its addresses (DESIGN D9): that it leads, to those who come after it in rank, and that it does
 * so no longer, to everybody who believes it. Pure: what begins and ends in, who is to hear what out.
 */
import { DueMap } from "../src/base/due-map.ts";
import type { Ip } from "../src/net/ip.ts";

/** Addresses that are spoken of in one turn: some milliseconds. */
const TOLD_AT_ONCE = 100;
/** When it is said that an address is led no longer, in ms: datagrams get lost, and nobody asks for it. */
const NO_OFFSETS_MS: readonly number[] = [0, 60, 180];

export interface LeadWordPorts {
  readonly isLeading: (ip: Ip) => boolean;
  /** Those who would take the address if it were orphaned. */
  readonly nextInRank: (ip: Ip) => readonly string[];
  readonly isOurs: (node: string) => boolean;
}

export interface LeadNews {
  /** Node → what it is to know that this node leads. */
  readonly begun: ReadonlyMap<string, readonly Ip[]>;
  /** What this node leads no longer, with all who are to know. */
  readonly ended: readonly { readonly ip: Ip; readonly to: readonly string[] }[];
}

interface Told {
  /** Those who come next, as they were when it was said last: whoever comes anew among them is told. */
  readonly next: readonly string[];
  /** And whoever was one of them once, has asked, or was claimed from. */
  readonly all: readonly string[];
}

interface Farewell {
  readonly to: readonly string[];
  readonly startMs: number;
  readonly said: number;
}

export class LeadWord {
  readonly #ports: LeadWordPorts;
  readonly #told = new Map<Ip, Told>();
  readonly #begun = new Set<Ip>();
  readonly #farewells = new DueMap<Ip, Farewell>(nextFarewellMs);

  constructor(ports: LeadWordPorts) {
    this.#ports = ports;
  }

  /** This node has begun to lead it. */
  begin(ip: Ip): void {
    this.#begun.add(ip);
  }

  /** Others may come next than before. */
  follow(ip: Ip): void {
    if (this.#told.has(ip)) this.#begun.add(ip);
  }

  /** `node` was told by our claim, whether it has asked, has yielded or has said nothing: it need not come next in our eyes to believe that we lead. */
  believed(ip: Ip, node: string): void {
    const { next, all } = this.#told.get(ip) ?? { next: [], all: [] };
    if (!all.includes(node)) this.#told.set(ip, { next, all: [...all, node] });
  }

  /** This node has ceased to lead it; `isKnown`: whoever believes that it leads hears so from another. */
  end(ip: Ip, isKnown: boolean, nowMs: number): void {
    this.#begun.delete(ip);
    const to = this.#told.get(ip)?.all ?? [];
    this.#told.delete(ip);
    if (isKnown || to.length === 0) return;
    this.#farewells.set(ip, { to, startMs: nowMs, said: 0 });
  }

  due(nowMs: number): LeadNews {
    return { begun: this.#takeBegun(), ended: this.#takeEnded(nowMs) };
  }

  /** Minus infinity: now. It may come too early, and then nothing is due. */
  deadlineMs(): number | undefined {
    return this.#begun.size > 0 ? Number.NEGATIVE_INFINITY : this.#farewells.nextDeadlineMs();
  }

  #takeBegun(): ReadonlyMap<string, readonly Ip[]> {
    const news = new Map<string, Ip[]>();
    let left = TOLD_AT_ONCE;
    for (const ip of this.#begun) {
      if (left-- <= 0) break;
      this.#begun.delete(ip);
      if (!this.#ports.isLeading(ip)) continue;
      this.#farewells.delete(ip);
      const { next: before, all } = this.#told.get(ip) ?? { next: [], all: [] };
      const next = this.#ports.nextInRank(ip);
      const earlier = all.filter((node) => !next.includes(node) && this.#ports.isOurs(node));
      this.#told.set(ip, { next, all: earlier.length === 0 ? next : [...next, ...earlier] });
      for (const node of next) {
        if (before.includes(node)) continue;
        const told = news.get(node);
        if (told === undefined) news.set(node, [ip]);
        else told.push(ip);
      }
    }
    return news;
  }

  #takeEnded(nowMs: number): LeadNews["ended"] {
    const ended: { readonly ip: Ip; readonly to: readonly string[] }[] = [];
    this.#farewells.advance(nowMs, (farewell, ip) => {
      if (ended.length >= TOLD_AT_ONCE) return farewell;
      ended.push({ ip, to: farewell.to });
      const said = farewell.said + 1;
      return said < NO_OFFSETS_MS.length ? { ...farewell, said } : undefined;
    });
    return ended;
  }
}

function nextFarewellMs({ startMs, said }: Farewell): number {
  return startMs + (NO_OFFSETS_MS[said] ?? 0);
}
