/** Programs are loaded some of it a turn of the event loop: all of it at once takes longer than a turn of either thread may (DESIGN §5). */
import { setImmediate as nextTurn } from "node:timers/promises";

export type Part = () => Promise<unknown>;

/** One after the other, the parts that others import first; none in a turn with what calls this, or with what begins when all is loaded. */
export async function loadInTurns(parts: readonly Part[]): Promise<void> {
  // The turn that called ends with the first callback.
  await nextTurn();
  for (const load of parts) {
    await nextTurn();
    await load();
  }
  await nextTurn();
}
