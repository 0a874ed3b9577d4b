/** Invariants 20 and 8: a quiet cluster is silent, and constant views make no announcement war. */
import type { Ip } from "../../src/net/ip.ts";
import { isUnsolicited, type NeighbourFrame } from "./frames.ts";
import type { Machine } from "./machine.ts";
import type { NetworkCard } from "./network-card.ts";
import { type Answerer, type Findings, type Witness } from "./witness.ts";

/** The last burst of a change is over by then (offsets up to 4.4 s). */
const SILENT_AFTER_MS = 6_000;
/** Announcements closer than this are repeats within one burst (1.1 s apart, D11). */
const ONE_BURST_MS = 1_500;
const WAR_WINDOW_MS = 10_000;

export interface SilenceRules {
  /** From when everybody must agree; undefined while a fault lasts. */
  readonly settledFromMs: () => number | undefined;
  /** Everything that speakers know of each other, as one comparable text. */
  readonly views: () => string;
  /** Whether a datagram carries a user message. */
  readonly carriesUserMessage: (bytes: Uint8Array) => boolean;
  /** Views differ for good, or two cannot hear each other: every claimant may announce, once. */
  readonly mayContest: () => boolean;
  /**
   * Whoever reaches too few for a lease stops answering long before any view says that they are apart, and announces itself again when
   * the partition has healed, as after any (DESIGN D11). That is no war, as long as nobody else has answered in between.
   */
  readonly needsLease: boolean;
}

export class SilenceChecker implements Witness {
  readonly #rules: SilenceRules;
  readonly #findings: Findings;
  #views = "";
  #constantSinceMs = 0;
  readonly #lastMs = new Map<string, number>();
  /** Bursts that began since views were looked at. */
  readonly #begun: { readonly ip: Ip; readonly by: string }[] = [];
  /** When nobody answered last. */
  readonly #silentMs = new Map<Ip, number>();
  /** Bursts that began while the views were as they are now. */
  #bursts = new Map<Ip, { readonly atMs: number; readonly by: string }[]>();

  constructor(rules: SilenceRules, findings: Findings) {
    this.#rules = rules;
    this.#findings = findings;
  }

  looked(atMs: number): void {
    const views = this.#rules.views();
    if (views !== this.#views) {
      this.#views = views;
      this.#constantSinceMs = atMs;
      this.#bursts.clear();
    }
    // Views are looked at first: what makes a node announce may be the very event that changed them.
    for (const { ip, by } of this.#begun.splice(0)) this.#countBurst(atMs, ip, by);
    if (this.#isSilentTime(atMs)) this.#findings.count("20 looked at silence");
  }

  sent(atMs: number, machine: Machine, card: NetworkCard, frame: NeighbourFrame): void {
    if (!isUnsolicited(frame)) return;
    const ip = frame.form === "advertisement" ? frame.targetIp : frame.senderIp;
    if (this.#isSilentTime(atMs)) {
      this.#findings.violated(20, atMs, `${machine.name} announces ${ip} though nothing has changed`);
    }
    const key = `${card.name} ${ip}`;
    const lastMs = this.#lastMs.get(key) ?? Number.NEGATIVE_INFINITY;
    this.#lastMs.set(key, atMs);
    if (atMs - lastMs > ONE_BURST_MS) this.#begun.push({ ip, by: card.name });
  }

  answered(atMs: number, ip: Ip, answerers: readonly Answerer[]): void {
    if (answerers.length === 0) this.#silentMs.set(ip, atMs);
  }

  datagram(atMs: number, from: string, _to: unknown, bytes: Uint8Array): void {
    if (this.#isSilentTime(atMs) && this.#rules.carriesUserMessage(bytes)) {
      this.#findings.violated(20, atMs, `${from} sends a user message though nothing has changed`);
    }
  }

  lifecycle(): void {
    // A process that starts or ends changes what views there are.
    this.#views = "";
  }

  #isSilentTime(atMs: number): boolean {
    const settledFromMs = this.#rules.settledFromMs();
    return settledFromMs !== undefined && atMs > settledFromMs + SILENT_AFTER_MS;
  }

  #countBurst(atMs: number, ip: Ip, by: string): void {
    const recent = (this.#bursts.get(ip) ?? []).filter((burst) => atMs - burst.atMs < WAR_WINDOW_MS);
    const last = recent.at(-1);
    const hasStopped = last !== undefined && (this.#silentMs.get(ip) ?? Number.NEGATIVE_INFINITY) > last.atMs;
    // Only what it has said itself: one that answered in between was another leader.
    if (this.#rules.needsLease && hasStopped && last.by === by) recent.pop();
    recent.push({ atMs, by });
    this.#bursts.set(ip, recent);
    this.#findings.count("8 burst");
    const cards = new Set(recent.map((burst) => burst.by));
    // One leader announces on every link it answers on: that is one burst.
    const machines = new Set([...cards].map((card) => card.split(".")[0]));
    if (recent.length > Math.max(1, cards.size) || (machines.size > 1 && !this.#rules.mayContest())) {
      const story = recent.map((burst) => `${burst.by} at ${burst.atMs.toFixed(0)}`).join(", ");
      this.#findings.violated(
        8,
        atMs,
        `announcement war for ${ip} with views constant since ${this.#constantSinceMs.toFixed(0)} ms: ${story}`,
      );
    }
  }
}
