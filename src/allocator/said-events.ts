/** What was said in events, so that each is said once per cause and not again at every look. */
import type { EventText } from "./event-texts.ts";

export class SaidEvents {
  /** Messages by reason, by subject: what stands at present. */
  readonly #said = new Map<string, ReadonlyMap<string, string>>();

  /**
   * Those that are news, given all that there is to say of the subject now. What is not among them any more may be said again.
   * `isKnown`: none is news, because a former process said them.
   */
  news(subject: string, texts: readonly EventText[], isKnown = false): readonly EventText[] {
    const before = this.#said.get(subject);
    const news = isKnown ? [] : texts.filter((text) => before?.get(keyOf(text)) !== text.message);
    if (texts.length === 0) this.#said.delete(subject);
    else this.#said.set(subject, new Map(texts.map((text) => [keyOf(text), text.message])));
    return news;
  }

  forget(subject: string): void {
    this.#said.delete(subject);
  }
}

/** There may be two annotations of which the same is to be said. */
function keyOf({ reason, message }: EventText): string {
  return reason === "deprecatedAnnotation" || reason === "conflictingAnnotations" ? `${reason} ${message}` : reason;
}
