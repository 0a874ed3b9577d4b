/** What `RunRecord` keeps in a file, by the wall clock: that of a process does not outlive it. */
import { type LastRun, troublesAtStart } from "../../speaker/run-record.ts";
import { type PastTrouble, pastTroublesOf, type SpeakerNote } from "../../speaker/speaker-ports.ts";
import { addTrouble } from "../../src/election/damping.ts";

export class RunMemory {
  #last: LastRun | undefined;

  begin(nowMs: number): readonly PastTrouble[] {
    const troubles = troublesAtStart(this.#last, nowMs);
    this.#last = { troubles, hasLeft: false };
    return pastTroublesOf(troubles, nowMs);
  }

  hear(note: SpeakerNote, nowMs: number): void {
    if (this.#last === undefined) return;
    const { troubles, hasLeft } = this.#last;
    if (note.kind === "refuted-death")
      this.#last = { troubles: addTrouble(troubles, { kind: note.kind, atMs: nowMs }), hasLeft };
    if (note.kind === "left") this.#last = { troubles, hasLeft: true };
  }
}
