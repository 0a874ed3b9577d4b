/** Long texts, made some milliseconds at a time: between two parts the event loop has a turn, so that nobody waits for a reader of thousands. */
import { setImmediate as nextTurn } from "node:timers/promises";

export async function inTurns(parts: Iterable<string> | AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const part of parts) {
    text += part;
    await nextTurn();
  }
  return text;
}
