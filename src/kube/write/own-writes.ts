/**
 * What the API server answered to our own writes, until the watch shows it too: without it a second look before the watch's
 * event would write everything again. Pure, but for what it remembers.
 */
import type { ObjectIdentity } from "../watched.ts";

/** A watch that does not show within this what was written is asked about by a read; doubling from here. */
const CONFIRM_MS = { first: 10_000, most: 300_000 };

type OwnWrite<Value> =
  | { readonly kind: "written"; readonly value: Value; readonly confirmAtMs: number; readonly confirmMs: number }
  | { readonly kind: "gone"; readonly uid: string };

export class OwnWrites<Value extends ObjectIdentity> {
  readonly #writes = new Map<string, OwnWrite<Value>>();
  readonly #toRead = new Set<string>();

  get names(): Iterable<string> {
    return this.#writes.keys();
  }

  get isEmpty(): boolean {
    return this.#writes.size === 0 && this.#toRead.size === 0;
  }

  /** The server's answer to a write or a read. */
  written(value: Value, nowMs: number): void {
    const before = this.#writes.get(value.name);
    const wasRead = this.#toRead.delete(value.name);
    const confirmMs =
      wasRead && before?.kind === "written" ? Math.min(before.confirmMs * 2, CONFIRM_MS.most) : CONFIRM_MS.first;
    this.#writes.set(value.name, { kind: "written", value, confirmAtMs: nowMs + confirmMs, confirmMs });
  }

  /** Deleted, or found deleted; without `uid` nothing was known of it. */
  gone(name: string, uid: string | undefined): void {
    this.#toRead.delete(name);
    if (uid === undefined) this.#writes.delete(name);
    else this.#writes.set(name, { kind: "gone", uid });
  }

  /** What is known of it may be wrong. */
  mustRead(name: string): void {
    this.#toRead.add(name);
  }

  /** The name that is to be read before anything is written, if there is one. */
  toRead(nowMs: number): string | undefined {
    for (const [name, write] of this.#writes) {
      if (write.kind === "written" && write.confirmAtMs <= nowMs) this.#toRead.add(name);
    }
    const [name] = this.#toRead;
    return name;
  }

  /** When `toRead` has a name that it does not have now. */
  nextReadMs(): number | undefined {
    let nextMs: number | undefined;
    for (const write of this.#writes.values()) {
      if (write.kind === "written") nextMs = Math.min(nextMs ?? write.confirmAtMs, write.confirmAtMs);
    }
    return nextMs;
  }

  /** The newer of what the watch shows and what was written; forgets the latter once the watch has caught up. */
  newest(name: string, watched: Value | undefined): Value | undefined {
    const write = this.#writes.get(name);
    if (write === undefined) return watched;
    if (write.kind === "gone") {
      if (watched?.uid === write.uid) return undefined;
      this.#writes.delete(name);
      return watched;
    }
    if (watched === undefined || isOlder(watched, write.value)) return write.value;
    this.#writes.delete(name);
    this.#toRead.delete(name);
    return watched;
  }
}

/** Versions are decimal numbers of any length. */
function isOlder(one: ObjectIdentity, other: ObjectIdentity): boolean {
  const [left, right] = [one.resourceVersion, other.resourceVersion];
  return left.length === right.length ? left < right : left.length < right.length;
}
