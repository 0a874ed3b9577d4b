/** The main thread's end of the wire thread: orders down, answers and notes up. */
import { Worker } from "node:worker_threads";
import type { AddressDocument } from "../api/address.ts";
import { ArpeggioError } from "../src/base/errors.ts";
import type { ClusterSnapshot } from "../src/desired/snapshot.ts";
import type { Ip } from "../src/net/ip.ts";
import { joinAddressParts } from "./address-order.ts";
import { SnapshotSender } from "./snapshot-sender.ts";
import type { SpeakerNote } from "./speaker-ports.ts";
import type { AddressStatus, FromWire, ToWire, WireSettings, WireStatus, WireTotals } from "./thread-messages.ts";

/** An answer that takes longer comes from a thread that hangs. */
const ANSWER_LIMIT_MS = 2_000;

interface Answer {
  readonly message: FromWire;
  readonly addresses: readonly (readonly AddressStatus[])[];
}

interface Waiting {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
  readonly timeout: NodeJS.Timeout;
  /** Those of a status that came already. */
  readonly addresses: (readonly AddressStatus[])[];
}

export interface WireListener {
  note(note: SpeakerNote): void;
  /** The thread ended, by an error or not: the process must end, too. */
  ended(error: Error): void;
}

export class WireClient {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 1;
  readonly #snapshots = new SnapshotSender({
    send: (message, freshness) =>
      this.tell({ kind: "snapshot", message, ...(freshness === undefined ? {} : { freshness }) }),
    tellFreshness: (freshness) => this.tell({ kind: "freshness", freshness }),
  });

  /** `wire.js` lies beside this module in `dist/` and in the flat bundle alike. */
  constructor(settings: WireSettings, listener: WireListener) {
    this.#worker = new Worker(new URL("./wire.js", import.meta.url), { workerData: settings });
    this.#worker.on("message", (message: FromWire) => {
      if (message.kind === "note") return listener.note(message.note);
      if (message.kind === "snapshot-taken") return this.#snapshots.taken();
      const waiting = this.#waiting.get(message.id);
      if (message.kind === "addresses") return void waiting?.addresses.push(message.addresses);
      this.#waiting.delete(message.id);
      clearTimeout(waiting?.timeout);
      waiting?.resolve({ message, addresses: waiting.addresses });
    });
    this.#worker.on("error", (error: Error) => listener.ended(error));
    this.#worker.on("exit", (code) => {
      listener.ended(new ArpeggioError("ERR_THREAD_ENDED", `the wire thread ended with exit code ${code}`));
    });
  }

  /** Sends what differs from the last snapshot, in messages small enough that neither thread stalls; and how new it is, if that has changed. */
  applySnapshot(snapshot: ClusterSnapshot, freshness?: number): void {
    this.#snapshots.apply(snapshot, freshness);
  }

  /** How new the snapshot is that was applied last. */
  setFreshness(freshness: number): void {
    this.#snapshots.setFreshness(freshness);
  }

  tell(message: ToWire): void {
    this.#worker.postMessage(message);
  }

  async readStatus(): Promise<WireStatus> {
    const { message: answer, addresses } = await this.#ask((id) => ({ kind: "ask", id, what: "status" }));
    if (answer.kind !== "status") throw misunderstood(answer);
    return { ...answer.status, addresses: joinAddressParts(addresses) };
  }

  async takeTotals(): Promise<WireTotals> {
    const { message: answer } = await this.#ask((id) => ({ kind: "ask", id, what: "totals" }));
    if (answer.kind !== "totals") throw misunderstood(answer);
    return answer.totals;
  }

  async readAddress(ip: Ip): Promise<AddressDocument | undefined> {
    const { message: answer } = await this.#ask((id) => ({ kind: "ask-address", id, ip }));
    if (answer.kind !== "address") throw misunderstood(answer);
    return answer.address;
  }

  async close(): Promise<void> {
    this.#worker.removeAllListeners("exit");
    await this.#worker.terminate();
  }

  #ask(question: (id: number) => ToWire): Promise<Answer> {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const timeout = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new ArpeggioError("ERR_THREAD_SILENT", `the wire thread has not answered for ${ANSWER_LIMIT_MS} ms`));
      }, ANSWER_LIMIT_MS);
      this.#waiting.set(id, { resolve, reject, timeout, addresses: [] });
      this.tell(question(id));
    });
  }
}

function misunderstood(answer: FromWire): ArpeggioError {
  return new ArpeggioError("ERR_INTERNAL_ARGUMENT", `the wire thread gave an answer of kind ${answer.kind}`);
}
