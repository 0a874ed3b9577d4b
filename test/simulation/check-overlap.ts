/** Invariant 8, from outside: once nothing disturbs any more, two do not go on answering for one address. */
import type { Ip } from "../../src/net/ip.ts";
import type { Answerer, Findings, Witness } from "./witness.ts";

/** After a heal two answer together for less than this: the dead are pinged every 100 ms, and both sides then merge. */
const HEALED_MS = 1_000;

export class OverlapChecker implements Witness {
  readonly #connectedFromMs: () => number | undefined;
  readonly #findings: Findings;
  readonly #sinceMs = new Map<Ip, number>();

  /** `connectedFromMs`: undefined while a fault lasts. */
  constructor(connectedFromMs: () => number | undefined, findings: Findings) {
    this.#connectedFromMs = connectedFromMs;
    this.#findings = findings;
  }

  answered(atMs: number, ip: Ip, answerers: readonly Answerer[]): void {
    const names = new Set(answerers.map(({ node }) => node));
    const connectedFromMs = this.#connectedFromMs();
    if (names.size < 2 || connectedFromMs === undefined || atMs < connectedFromMs) {
      this.#sinceMs.delete(ip);
      return;
    }
    const sinceMs = Math.max(this.#sinceMs.get(ip) ?? atMs, connectedFromMs);
    this.#sinceMs.set(ip, sinceMs);
    this.#findings.count("8 both answer, and nothing disturbs");
    const lastedMs = atMs - sinceMs;
    if (lastedMs <= HEALED_MS) return;
    this.#findings.violated(
      8,
      atMs,
      `${[...names].join(" and ")} answer for ${ip} for ${lastedMs.toFixed(0)} ms with nothing to part them`,
    );
  }
}
