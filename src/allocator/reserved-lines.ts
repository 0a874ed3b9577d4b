/** What is kept for the names of deleted Services, as it changes: the ConfigMap's key `reserved` follows from it. */
import type { Ip } from "../net/ip.ts";
import {
  formatReserved,
  type Pinned,
  parsePinned,
  parseReserved,
  Reservations,
  type Reserved,
  trimReserved,
} from "./reservations.ts";
import type { ServiceKey } from "./service.ts";

export class ReservedLines {
  #reservations: Reservations | undefined;
  #reserved: readonly Reserved[] = [];
  #pinned: readonly Pinned[] = [];
  /** As the ConfigMap has them, or was asked to have them. */
  #written = "";
  #isChanged = false;
  #problems: readonly string[] = [];

  /** A sentence for each line that is skipped. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /** Undefined until the ConfigMap was read. */
  get reservations(): Reservations | undefined {
    return this.#reservations;
  }

  /** When the first of them ends. */
  get dueMs(): number | undefined {
    return this.#reserved[0]?.untilMs;
  }

  /** What was read counts; false when it says nothing new. */
  read(reserved: string, pinned: string): boolean {
    const [kept, byHand] = [parseReserved(reserved), parsePinned(pinned)];
    const isFirst = this.#reservations === undefined;
    const isSame =
      formatReserved(kept.lines) === formatReserved(this.#reserved) &&
      pinnedText(byHand.lines) === pinnedText(this.#pinned);
    this.#problems = [...kept.problems, ...byHand.problems];
    this.#written = formatReserved(kept.lines);
    this.#isChanged &&= isSame;
    if (isSame && !isFirst) return false;
    this.#pinned = byHand.lines;
    this.#set(kept.lines);
    this.#isChanged = false;
    return true;
  }

  keep(key: ServiceKey, addresses: readonly Ip[], untilMs: number): void {
    const others = this.#reserved.filter((line) => line.key !== key);
    this.#set([...others, { key, addresses, untilMs }]);
  }

  /** Somebody has it now: it is kept no longer. */
  taken(ip: Ip): void {
    if (this.#reservations?.reservedSet.has(ip) !== true) return;
    this.#set(
      this.#reserved.flatMap((line) => {
        const addresses = line.addresses.filter((other) => other !== ip);
        return addresses.length === 0 ? [] : [{ ...line, addresses }];
      }),
    );
  }

  /** True when something ended. */
  expire(nowMs: number): boolean {
    if (this.dueMs === undefined || this.dueMs > nowMs) return false;
    this.#set(this.#reserved.filter(({ untilMs }) => untilMs > nowMs));
    return true;
  }

  /** The text to be written, if it is another than was read or asked for last. */
  toWrite(): string | undefined {
    if (!this.#isChanged) return undefined;
    this.#isChanged = false;
    const text = formatReserved(this.#reserved);
    if (text === this.#written) return undefined;
    this.#written = text;
    return text;
  }

  #set(reserved: readonly Reserved[]): void {
    this.#reserved = trimReserved(reserved);
    this.#reservations = new Reservations(this.#reserved, this.#pinned);
    this.#isChanged = true;
  }
}

function pinnedText(lines: readonly Pinned[]): string {
  return lines.map(({ key, addresses }) => `${key} ${addresses.join()}`).join("\n");
}
