/** Programs are loaded some of it a turn of the event loop: all of it at once takes longer than a turn of either thread may (DESIGN §5). */
import { setImmediate as nextTurn } from "node:timers/promises";

export type Part = () => Promise<unknown>;

/** One after the other, the parts that others import first. */
export async function loadInTurns(parts: readonly Part[]): Promise<void> {
  for (const load of parts) {
    await nextTurn();
    await load();
  }
}
