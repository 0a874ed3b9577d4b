/** The keyring of a node whose key files may change while it runs: the shell of `key-rotation.ts`, with one timer. */
import { bytesEqual } from "../base/bytes.ts";
import type { Clock, Timer } from "../base/clock.ts";
import {
  acceptedKeys,
  changeKeys,
  hearKey,
  type KeyFiles,
  type KeyReport,
  type KeyState,
  nextKeyTickMs,
  reportKeys,
  startKeys,
  tickKeys,
} from "./key-rotation.ts";
import { Keyring } from "./keyring.ts";

/** `accepted`: another key is understood from now on. `sending`: another one is sent with. */
export type KeyNews = "accepted" | "sending";

export class RotatingKeys {
  readonly keyring: Keyring;
  readonly #clock: Clock;
  readonly #tell: (news: KeyNews) => void;
  #state: KeyState;
  #timer: Timer | undefined;

  /** @throws ERR_INTERNAL_ARGUMENT for a length that AES does not have */
  constructor(files: KeyFiles, clock: Clock, tell: (news: KeyNews) => void) {
    this.#clock = clock;
    this.#tell = tell;
    this.#state = startKeys(files, clock.nowMs());
    const [primary = files.current, ...others] = acceptedKeys(this.#state);
    this.keyring = new Keyring(primary, others, (key) => this.#become(hearKey(this.#state, key)));
    this.#schedule();
  }

  report(): KeyReport {
    return reportKeys(this.#state);
  }

  /** The files were read again. */
  change(files: KeyFiles): void {
    this.#become(changeKeys(this.#state, files, this.#clock.nowMs()));
  }

  close(): void {
    this.#timer?.cancel();
  }

  #become(state: KeyState): void {
    if (state === this.#state) return;
    const hadSending = this.keyring.primary;
    const hadCount = this.keyring.keys.length;
    this.#state = state;
    const accepted = acceptedKeys(state);
    for (const key of accepted) this.keyring.add(key);
    if (this.keyring.keys.length > hadCount) this.#tell("accepted");
    this.keyring.use(state.sending);
    for (const key of this.keyring.keys)
      if (!accepted.some((other) => bytesEqual(other, key))) this.keyring.remove(key);
    if (!bytesEqual(hadSending, state.sending)) this.#tell("sending");
    this.#schedule();
  }

  #schedule(): void {
    this.#timer?.cancel();
    const atMs = nextKeyTickMs(this.#state);
    if (atMs === undefined) return;
    const nowMs = this.#clock.nowMs();
    this.#timer = this.#clock.schedule(atMs - nowMs, () => this.#tick());
  }

  #tick(): void {
    const state = tickKeys(this.#state, this.#clock.nowMs());
    if (state === this.#state) this.#schedule();
    else this.#become(state);
  }
}
