/** Invariant 12: where two could accuse, nobody is declared dead before two have, unless memberlist's own time was over. */
import type { Endpoint } from "../../src/gossip/message.ts";
import type { Machine } from "./machine.ts";
import { accusationsIn } from "./user-messages.ts";
import type { Findings, Witness } from "./witness.ts";

/** memberlist's shortest suspicion is 4 s in these worlds; a verdict so much later may be its own. */
const SLOW_VERDICT_MS = 3_800;
/** Silence that makes a watcher accuse, however it comes about. */
const WATCHED_MS = 1_000;

interface Case {
  readonly firstMs: number;
  readonly accusers: Set<string>;
  /** Who declared it dead. */
  readonly judges: Set<string>;
}

export class VerdictChecker implements Witness {
  readonly #machines: readonly Machine[];
  readonly #findings: Findings;
  /** By name and incarnation. */
  readonly #cases = new Map<string, Case>();
  /** Of the process before, which others may go on to suspect when another of its name has started. */
  readonly #before = new Map<string, Case>();

  readonly #areApart: (one: string, other: string) => boolean;

  /** `areApart`: two cannot hear each other, in one direction at least. */
  constructor(
    machines: readonly Machine[],
    findings: Findings,
    areApart: (one: string, other: string) => boolean = () => false,
  ) {
    this.#machines = machines;
    this.#areApart = areApart;
    this.#findings = findings;
  }

  lifecycle(_atMs: number, machine: Machine, what: string): void {
    if (what !== "started") return;
    const isOf = (key: string): boolean => key.startsWith(`${machine.name} `);
    for (const key of this.#before.keys()) if (isOf(key)) this.#before.delete(key);
    // A new process begins at incarnation 1 again.
    for (const [key, known] of this.#cases) {
      if (!isOf(key)) continue;
      this.#cases.delete(key);
      this.#before.set(key, known);
    }
  }

  datagram(atMs: number, sender: string, _to: Endpoint, bytes: Uint8Array): void {
    for (const { kind, node, incarnation, from } of accusationsIn(bytes)) {
      const key = `${node} ${incarnation}`;
      const known = this.#cases.get(key) ?? { firstMs: atMs, accusers: new Set<string>(), judges: new Set<string>() };
      this.#cases.set(key, known);
      if (kind === "suspect") {
        known.accusers.add(from);
        this.#findings.count("12 accusation");
        continue;
      }
      const before = this.#before.get(key);
      // Of the process before: one that stood still since then says it again when it wakes.
      if (from === node || before?.judges.has(from) === true) continue;
      // Somebody else has judged so before, of this process or of the one whose address it was.
      const isKnown = known.judges.size > 0 || (before !== undefined && before.judges.size > 0);
      known.judges.add(from);
      if (isKnown) continue;
      const isSameCase = before?.judges.size === 0;
      const firstMs = isSameCase ? before.firstMs : known.firstMs;
      // It was accused before its name came back from another address: the verdict is on where it was.
      const accusers = new Set([...known.accusers, ...(isSameCase ? before.accusers : [])]);
      this.#before.delete(key);
      if (atMs - firstMs >= SLOW_VERDICT_MS) continue;
      this.#findings.count("12 fast verdict");
      if (accusers.size >= 2 || !this.#couldTwoAccuse(atMs, sender, node)) continue;
      this.#findings.violated(
        12,
        atMs,
        `${from} declares ${node} dead at incarnation ${incarnation}, which ${[...accusers].join()} alone has accused`,
      );
    }
  }

  /** The sender knows somebody else who lives, whom it hears and is heard by, and who could have watched for long enough to accuse. */
  #couldTwoAccuse(atMs: number, sender: string, accused: string): boolean {
    const machine = this.#machines.find(({ name }) => name === sender);
    const others = machine?.view()?.members ?? [];
    return others.some(
      ({ name, state, meta }) =>
        name !== sender &&
        name !== accused &&
        meta !== "" &&
        (state === "alive" || state === "suspect") &&
        !this.#areApart(sender, name) &&
        this.#machines.some((other) => other.name === name && canWatch(other, atMs)),
    );
  }
}

/** Who leaves watches nobody any more, and who has just started has not done so for long enough. */
function canWatch({ isLeaving, startedMs }: Machine, atMs: number): boolean {
  return !isLeaving && startedMs !== undefined && atMs - startedMs >= WATCHED_MS;
}
