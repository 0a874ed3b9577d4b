/** Part of invariant 10: while the same cut lasts, ten minutes in these worlds, no address moves more than three times. */
import type { Ip } from "../../src/net/ip.ts";
import type { Answerer, Findings, Witness } from "./witness.ts";

const MOST_MOVES = 3;

interface Stay {
  /** Who answered alone last. */
  readonly node: string;
  readonly moves: number;
}

export class CutMoveChecker implements Witness {
  readonly #findings: Findings;
  readonly #isCut: () => boolean;
  readonly #stays = new Map<Ip, Stay>();

  constructor(isCut: () => boolean, findings: Findings) {
    this.#isCut = isCut;
    this.#findings = findings;
  }

  answered(atMs: number, ip: Ip, answerers: readonly Answerer[]): void {
    const [node, ...others] = new Set(answerers.map((answerer) => answerer.node));
    if (node === undefined || others.length > 0) return;
    const last = this.#stays.get(ip);
    if (last?.node === node) return;
    const hasMoved = last !== undefined && this.#isCut();
    const moves = hasMoved ? last.moves + 1 : 0;
    this.#stays.set(ip, { node, moves });
    if (!hasMoved) return;
    this.#findings.count("10 moved while cut");
    if (moves > MOST_MOVES) this.#findings.violated(10, atMs, `${ip} moves ${moves} times while the same cut lasts`);
  }
}
